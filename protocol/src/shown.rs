//! Makes text from another machine safe to show: without characters that control a terminal or
//! change the reading direction of neighbouring text.

/// Returns `text` with a mark in place of each control or direction character. Line breaks are
/// kept.
#[must_use]
pub fn lines(text: &str) -> String {
    text.chars().map(|char| if char == '\n' { char } else { harmless(char) }).collect()
}

/// Returns `text` as [`lines`] does, on one line.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.chars().map(harmless).collect()
}

/// Returns an equivalent JSON document with escapes in place of such characters.
#[must_use]
pub fn json(document: &str) -> String {
    let escaped = |char: char| match char {
        '\n' => char.to_string(),
        _ if harmless(char) == char => char.to_string(),
        _ => format!("\\u{:04x}", u32::from(char)),
    };
    document.chars().map(escaped).collect()
}

fn harmless(char: char) -> char {
    match char {
        '\n' | '\r' | '\t' => ' ',
        _ if char.is_control() || steers_direction(char) => char::REPLACEMENT_CHARACTER,
        _ => char,
    }
}

/// Returns whether a character changes the reading direction of the text around it.
const fn steers_direction(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        let text = "\u{1b}[2Ja\u{9b}1mb\u{7}\u{7f}\r\n\tc\u{202e}d é 漢";
        assert_eq!(lines(text), "\u{fffd}[2Ja\u{fffd}1mb\u{fffd}\u{fffd} \n c\u{fffd}d é 漢");
        assert_eq!(one_line(text), lines(text).replace('\n', " "));
        let document = serde_json::to_string_pretty(&[text]).unwrap();
        let safe = json(&document);
        assert_eq!(lines(&safe), safe);
        assert_eq!(serde_json::from_str::<[String; 1]>(&safe).unwrap(), [text]);
    }
}
