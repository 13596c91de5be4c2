//! Text within an XML element, escaped: for [`super::launchd`] and [`super::task`], which the support of
//! macOS and Windows will use. Pure.

/// Escapes `text`; none when it has a character that XML 1.0 cannot hold.
///
/// Line breaks and tabs are written as numbers: a parser may change those that stand for themselves.
pub(super) fn escaped(text: &str) -> Option<String> {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\t' | '\n' | '\r' => escaped.push_str(&format!("&#{};", u32::from(letter))),
            '\0'..='\u{1f}' => return None,
            '\u{fffe}' | '\u{ffff}' => return None,
            _ => escaped.push(letter),
        }
    }
    Some(escaped)
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    /// Any text, rich in what XML has a meaning for.
    pub(in crate::decide::service) fn any_text() -> impl Strategy<Value = String> {
        let special = proptest::sample::select(
            "&<>\"'%;]! \t\r\n\u{0}\u{7}\u{ffff}".chars().collect::<Vec<_>>(),
        );
        let letter =
            prop_oneof![6 => proptest::char::range(' ', '~'), 3 => special, 3 => any::<char>()];
        proptest::collection::vec(letter, 0..24).prop_map(String::from_iter)
    }

    /// Tells whether XML 1.0 has every character of `text`, by the words of its grammar.
    pub(in crate::decide::service) fn can_stand(text: &str) -> bool {
        text.chars().all(|letter| {
            matches!(u32::from(letter),
                0x9 | 0xA | 0xD | 0x20..=0xD7FF | 0xE000..=0xFFFD | 0x10000..=0x10_FFFF)
        })
    }
}
