//! The line that loads the completions from a profile of PowerShell.

use std::fmt::Write as _;

/// Returns the line that runs the completions in `folder`, if they are there.
///
/// The line is plain ASCII: Windows PowerShell 5.1 reads a profile without a byte order mark in the code page of the
/// machine.
pub(super) fn load(folder: &str) -> String {
    let folder = quoted(folder);
    format!(
        "Get-ChildItem -LiteralPath {folder} -Filter '_link*.ps1' -ErrorAction SilentlyContinue | \
         ForEach-Object {{ . $_.FullName }}"
    )
}

/// Returns an expression whose value is `text`.
pub(super) fn quoted(text: &str) -> String {
    let mut expression = String::from("('");
    for unit in text.encode_utf16() {
        match u8::try_from(unit).map(char::from) {
            Ok('\'') => expression.push_str("''"),
            Ok(plain @ ' '..='~') => expression.push(plain),
            Ok(_) | Err(_) => {
                let _infallible = write!(expression, "' + [char]0x{unit:x} + '");
            }
        }
    }
    expression.push_str("')");
    expression
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_expression_of_plain_characters() {
        assert_eq!(quoted(r"C:\Ada\link"), r"('C:\Ada\link')");
        assert_eq!(quoted("O'Neil $HOME `x` \"y\""), "('O''Neil $HOME `x` \"y\"')");
        // PowerShell takes this character for a quote, too.
        assert_eq!(quoted("a\u{2019}b"), "('a' + [char]0x2019 + 'b')");
        assert_eq!(
            quoted("J\u{fc}r\u{1f600}"),
            "('J' + [char]0xfc + 'r' + [char]0xd83d + '' + [char]0xde00 + '')"
        );
        assert_eq!(quoted("a\nb"), "('a' + [char]0xa + 'b')");
    }
}
