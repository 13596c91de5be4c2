//! Text that another machine wrote, made fit to be shown: it can neither steer a terminal nor
//! change the order in which its neighbours are read.

/// Returns `text` with a mark in the place of each character that could steer what shows it; line
/// breaks stay.
#[must_use]
pub fn lines(text: &str) -> String {
    text.chars().map(|char| if char == '\n' { char } else { harmless(char) }).collect()
}

/// Returns `text` as [`lines`] does, on one line.
#[must_use]
pub fn one_line(text: &str) -> String {
    text.chars().map(harmless).collect()
}

/// Returns a JSON document with escapes in the place of such characters, so that it says the same.
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

/// Returns whether a character orders those around it from right to left, or ends that.
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
