//! Escapes text for an XML element. [`super::launchd`] and [`super::task`] use it. Pure.

/// Escapes `text`. None if it contains a character that XML 1.0 cannot hold.
///
/// Line breaks and tabs become character references, because a parser may change literal ones.
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

    /// Random text, with many characters that have a meaning in XML.
    pub(in crate::decide::service) fn any_text() -> impl Strategy<Value = String> {
        let special = proptest::sample::select(
            "&<>\"'%;]! \t\r\n\u{0}\u{7}\u{ffff}".chars().collect::<Vec<_>>(),
        );
        let letter =
            prop_oneof![6 => proptest::char::range(' ', '~'), 3 => special, 3 => any::<char>()];
        proptest::collection::vec(letter, 0..24).prop_map(String::from_iter)
    }

    /// Returns whether XML 1.0 allows every character of `text`, by its grammar.
    pub(in crate::decide::service) fn can_stand(text: &str) -> bool {
        text.chars().all(|letter| {
            matches!(u32::from(letter),
                0x9 | 0xA | 0xD | 0x20..=0xD7FF | 0xE000..=0xFFFD | 0x10000..=0x10_FFFF)
        })
    }
}
