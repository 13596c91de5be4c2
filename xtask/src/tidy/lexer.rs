//! Splits Rust text into code and comments, so that no rule matches a word inside a string.
//!
//! Both halves keep all lines in place: spaces replace the text of the other half, and the contents
//! of string and character literals.

use crate::tidy::TextFile;

/// A Rust source, split into code and comments.
pub(crate) struct RustFile {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) code: String,
    pub(crate) comments: String,
}

impl From<TextFile> for RustFile {
    fn from(file: TextFile) -> Self {
        let mut splitter = Splitter::new(&file.text);
        splitter.run();
        let Splitter { code, comments, .. } = splitter;
        Self { path: file.path, text: file.text, code, comments }
    }
}

impl RustFile {
    /// Returns whether the whole file is test code.
    pub(crate) fn is_test(&self) -> bool {
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || self.path.ends_with("/tests.rs")
    }

    /// Returns the number of lines before the inline `mod tests`.
    pub(crate) fn product_lines(&self) -> usize {
        let lines: Vec<&str> = self.code.lines().collect();
        let starts_tests = |index: usize| {
            lines[index].trim_end() == "#[cfg(test)]"
                && lines[index + 1..]
                    .iter()
                    .find(|line| !line.trim().is_empty() && !line.starts_with('#'))
                    .is_some_and(|line| line.starts_with("mod ") && line.contains('{'))
        };
        (0..lines.len()).find(|&index| starts_tests(index)).unwrap_or(lines.len())
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

struct Splitter {
    rest: Vec<char>,
    at: usize,
    code: String,
    comments: String,
}

impl Splitter {
    fn new(text: &str) -> Self {
        Self { rest: text.chars().collect(), at: 0, code: String::new(), comments: String::new() }
    }

    fn run(&mut self) {
        while let Some(&character) = self.rest.get(self.at) {
            match character {
                '/' if self.sees("//") => self.line_comment(),
                '/' if self.sees("/*") => self.block_comment(),
                '"' => self.string(),
                '\'' => self.quote(),
                'r' if !self.inside_word() => self.raw_string_or_word(),
                _ => self.take(1, Kind::Code),
            }
        }
    }

    fn sees(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(offset, c)| self.rest.get(self.at + offset) == Some(&c))
    }

    /// Returns whether the current character continues a word. The prefix of a byte or C string
    /// starts a new word.
    fn inside_word(&self) -> bool {
        let before = |offset: usize| self.at.checked_sub(offset).map(|index| self.rest[index]);
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        is_word(before(1)) && (is_word(before(2)) || !matches!(before(1), Some('b' | 'c')))
    }

    fn take(&mut self, count: usize, kind: Kind) {
        for _ in 0..count {
            let Some(&character) = self.rest.get(self.at) else { return };
            self.at += 1;
            let shown = |wanted| if kind == wanted || character == '\n' { character } else { ' ' };
            self.code.push(shown(Kind::Code));
            self.comments.push(shown(Kind::Comment));
        }
    }

    fn line_comment(&mut self) {
        while self.rest.get(self.at).is_some_and(|&c| c != '\n') {
            self.take(1, Kind::Comment);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.rest.len() {
            if self.sees("/*") {
                depth += 1;
                self.take(2, Kind::Comment);
            } else if self.sees("*/") {
                depth -= 1;
                self.take(2, Kind::Comment);
                if depth == 0 {
                    return;
                }
            } else {
                self.take(1, Kind::Comment);
            }
        }
    }

    fn string(&mut self) {
        self.take(1, Kind::Literal);
        while let Some(&character) = self.rest.get(self.at) {
            match character {
                '\\' => self.take(2, Kind::Literal),
                '"' => return self.take(1, Kind::Literal),
                _ => self.take(1, Kind::Literal),
            }
        }
    }

    /// Skips a character literal or a lifetime.
    fn quote(&mut self) {
        if self.rest.get(self.at + 1) == Some(&'\\') {
            self.take(3, Kind::Literal);
            while self.rest.get(self.at).is_some_and(|&c| c != '\'') {
                self.take(1, Kind::Literal);
            }
            self.take(1, Kind::Literal);
        } else if self.rest.get(self.at + 2) == Some(&'\'') {
            self.take(3, Kind::Literal);
        } else {
            self.take(1, Kind::Code);
        }
    }

    fn raw_string_or_word(&mut self) {
        let hashes = self.rest[self.at + 1..].iter().take_while(|&&c| c == '#').count();
        if self.rest.get(self.at + 1 + hashes) != Some(&'"') {
            return self.take(1, Kind::Code);
        }
        self.take(hashes + 2, Kind::Literal);
        let end = format!("\"{}", "#".repeat(hashes));
        while self.at < self.rest.len() && !self.sees(&end) {
            self.take(1, Kind::Literal);
        }
        self.take(hashes + 1, Kind::Literal);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a file in the form that the rules check.
    pub(crate) fn rust(path: &str, text: &str) -> RustFile {
        RustFile::from(TextFile { path: path.to_owned(), text: text.to_owned() })
    }

    #[test]
    fn keeps_code_and_comments_apart() {
        let file = rust("a.rs", "let a = 1; // one\n/* two /* three */ */ let b;\n");
        assert_eq!(file.code, "let a = 1;       \n                      let b;\n");
        assert_eq!(file.comments, "           // one\n/* two /* three */ */       \n");
    }

    #[test]
    fn blanks_every_kind_of_literal() {
        for literal in [
            r#""std::fs""#,
            r#""a \" std::fs // x""#,
            r##"r"std::fs""##,
            r###"r#"a " std::fs"#"###,
            r###"br#"std::fs"#"###,
            r"'\''",
            r"'\u{1F600}'",
            "'\"'",
        ] {
            let file = rust("a.rs", &format!("let a = {literal}; // end"));
            assert!(file.code.starts_with("let a = "), "{literal}");
            assert!(file.code.trim_end().ends_with(';'), "{literal}: {}", file.code);
            assert!(!file.code.contains("std"), "{literal}: {}", file.code);
            assert_eq!(file.comments.trim(), "// end", "{literal}");
        }
    }

    #[test]
    fn lifetimes_and_raw_words_are_code() {
        let text = "fn a<'a>(r#fn: &'a str, bar: r2) {}";
        assert_eq!(rust("a.rs", text).code, text);
    }

    #[test]
    fn only_an_inline_test_module_ends_the_product() {
        let inline = "fn a() {}\n#[cfg(test)]\nmod tests {\n}\n";
        let apart = "#[cfg(test)]\nmod tests;\nfn a() {}\n";
        assert_eq!(rust("a.rs", inline).product_lines(), 1);
        assert_eq!(rust("a.rs", apart).product_lines(), 3);
    }
}
