//! The entries of PATH on Windows. Pure: text in, text out.
//!
//! Semicolons separate the entries. An entry may be in double quotes and may then contain semicolons. Names of folders
//! differ neither by case nor by a last backslash, and `/` separates like `\`.

/// The length that no value of the environment may exceed, in UTF-16 code units.
const LIMIT: usize = 32_766;

/// Returns the entries without the empty ones, as they stand there.
pub fn of(text: &str) -> impl Iterator<Item = &str> {
    split(text).into_iter().map(|(entry, _)| entry).filter(|entry| !bare(entry).is_empty())
}

/// Returns `text` with `folder` as its first entry. Returns the text as it is if it has the entry already, at any place.
/// None if the folder cannot be an entry, or the value would become too long.
#[must_use]
pub fn add(text: &str, folder: &str) -> Option<String> {
    if folder.contains([';', '"', '%', '\n', '\r']) || folder.is_empty() {
        return None;
    }
    if of(text).any(|entry| is_same(entry, folder)) {
        return Some(text.to_owned());
    }
    let text = if text.is_empty() { folder.to_owned() } else { format!("{folder};{text}") };
    (text.encode_utf16().count() <= LIMIT).then_some(text)
}

/// Returns `text` without the entries that name `folder`. Every other entry stays byte for byte.
#[must_use]
pub fn remove(text: &str, folder: &str) -> String {
    let mut kept = String::new();
    let mut is_last_removed = false;
    for (entry, separator) in split(text) {
        is_last_removed = is_same(entry, folder);
        if !is_last_removed {
            kept.push_str(entry);
            kept.push_str(separator);
        }
    }
    // The separator before the last entry belongs to that entry.
    if is_last_removed && kept.ends_with(';') {
        kept.pop();
    }
    kept
}

/// Replaces each `%NAME%` in `entry` with the value of that name. Keeps a name without a value.
#[must_use]
pub fn expanded(entry: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut rest = bare(entry).to_owned();
    let mut expanded = String::new();
    while let Some(begin) = rest.find('%') {
        let Some(length) = rest[begin + 1..].find('%') else { break };
        let end = begin + 1 + length;
        let Some(found) = value(&rest[begin + 1..end]) else {
            expanded.push_str(&rest[..end]);
            rest = rest[end..].to_owned();
            continue;
        };
        expanded.push_str(&rest[..begin]);
        expanded.push_str(&found);
        rest = rest[end + 1..].to_owned();
    }
    expanded + &rest
}

fn is_same(entry: &str, folder: &str) -> bool {
    let plain = |text: &str| bare(text).replace('/', "\\").trim_end_matches('\\').to_lowercase();
    plain(entry) == plain(folder)
}

fn bare(entry: &str) -> &str {
    entry.trim().trim_matches('"')
}

/// Returns each entry with the separator after it, which the last one has not.
fn split(text: &str) -> Vec<(&str, &str)> {
    let (mut parts, mut start, mut quoted) = (Vec::new(), 0, false);
    for (at, char) in text.char_indices() {
        match char {
            '"' => quoted = !quoted,
            ';' if !quoted => {
                parts.push((&text[start..at], ";"));
                start = at + 1;
            }
            _ => {}
        }
    }
    if start < text.len() {
        parts.push((&text[start..], ""));
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BIN: &str = r"C:\Users\Ada\.local\bin";

    #[test]
    fn the_folder_comes_first_and_once() {
        assert_eq!(add("", BIN).as_deref(), Some(BIN));
        let old = r"%USERPROFILE%\bin;C:\Tools";
        let added = add(old, BIN).unwrap();
        assert_eq!(added, format!("{BIN};{old}"));
        assert_eq!(add(&added, BIN).as_ref(), Some(&added));
        for there in
            [r"c:\users\ada\.LOCAL\bin\", "C:/Users/Ada/.local/bin", r#""C:\Users\Ada\.local\bin""#]
        {
            let text = format!("C:\\a;{there};C:\\b");
            assert_eq!(add(&text, BIN), Some(text), "{there}");
        }
    }

    #[test]
    fn what_cannot_be_an_entry_is_refused() {
        for folder in ["", r"C:\a;b", r"C:\%a%", "C:\\a\nb", "C:\\a\"b"] {
            assert_eq!(add("", folder), None, "{folder:?}");
        }
        assert_eq!(add(&"a".repeat(LIMIT), BIN), None);
        // Windows itself takes more than the 2,047 characters that its old dialog and `setx` take.
        assert!(add(&"a".repeat(4000), BIN).is_some());
    }

    #[test]
    fn a_removal_takes_nothing_else() {
        for (text, left) in [
            (BIN.to_owned(), ""),
            (format!("{BIN};C:\\a"), "C:\\a"),
            (format!("C:\\a;{BIN}"), "C:\\a"),
            (format!("C:\\a;{BIN};C:\\b;"), "C:\\a;C:\\b;"),
            (format!("\"C:\\a;{BIN}\";C:\\b"), "\"C:\\a;C:\\Users\\Ada\\.local\\bin\";C:\\b"),
            (format!("{BIN}\\more;C:\\a"), "C:\\Users\\Ada\\.local\\bin\\more;C:\\a"),
        ] {
            assert_eq!(remove(&text, BIN), left, "{text}");
        }
    }

    #[test]
    fn names_are_expanded_when_a_program_is_searched() {
        let value = |name: &str| (name == "SystemRoot").then(|| r"C:\Windows".to_owned());
        assert_eq!(expanded(r"%SystemRoot%\system32", value), r"C:\Windows\system32");
        assert_eq!(expanded(r#""%Nothing%\a%SystemRoot%""#, value), r"%Nothing%\aC:\Windows");
        assert_eq!(expanded("100%", value), "100%");
    }

    proptest! {
        #[test]
        fn taking_the_folder_out_gives_the_value_back(text in r#"([a;"\\% ]|C:){0,30}"#) {
            let added = add(&text, BIN).unwrap();
            prop_assert_eq!(add(&added, BIN), Some(added.clone()));
            prop_assert_eq!(remove(&added, BIN), text);
        }
    }
}
