//! Finds the paths that Rust code names, and expands `use` trees: `use std::{fs, io::Read}` names
//! `std::fs` and `std::io::Read`.

/// A path such as `std::fs::read`, and its line.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct NamedPath {
    pub(crate) line: usize,
    pub(crate) segments: Vec<String>,
}

/// Returns every path in `code`, which must not contain comments or literals.
pub(crate) fn named_paths(code: &str) -> Vec<NamedPath> {
    let mut reader = Reader { tokens: tokens(code), at: 0, found: Vec::new() };
    while reader.at < reader.tokens.len() {
        reader.step();
    }
    reader.found
}

struct Token {
    line: usize,
    text: String,
}

impl Token {
    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    }
}

fn tokens(code: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for (index, text) in code.lines().enumerate() {
        let line = index + 1;
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push(Token { line, text: rest[..length].to_owned() });
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    found: Vec<NamedPath>,
}

impl Reader {
    fn step(&mut self) {
        let token = &self.tokens[self.at];
        if token.text == "use" {
            self.at += 1;
            self.tree(&[]);
        } else if token.is_word() {
            self.expression();
        } else {
            self.at += 1;
        }
    }

    fn text(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| token.text.as_str())
    }

    /// Reads `word::word::word` outside a `use`.
    fn expression(&mut self) {
        let line = self.tokens[self.at].line;
        let mut segments = vec![self.text().to_owned()];
        self.at += 1;
        while self.text() == "::" && self.tokens.get(self.at + 1).is_some_and(Token::is_word) {
            segments.push(self.tokens[self.at + 1].text.clone());
            self.at += 2;
        }
        self.found.push(NamedPath { line, segments });
    }

    /// Reads one branch of a `use` tree, up to the comma, brace or semicolon that ends it.
    fn tree(&mut self, prefix: &[String]) {
        let mut segments = prefix.to_vec();
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        while self.at < self.tokens.len() {
            match self.text() {
                "::" => self.at += 1,
                "{" => return self.branches(&segments),
                "as" => self.at += 2,
                "," | "}" | ";" => break,
                _ => {
                    segments.push(self.text().to_owned());
                    self.at += 1;
                }
            }
        }
        self.found.push(NamedPath { line, segments });
    }

    fn branches(&mut self, prefix: &[String]) {
        self.at += 1;
        while self.at < self.tokens.len() && self.text() != "}" {
            if self.text() == "," {
                self.at += 1;
            } else if self.text() == ";" {
                return;
            } else {
                self.tree(prefix);
            }
        }
        self.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_names(code: &str, expected: &[&str]) {
        let named: Vec<String> =
            named_paths(code).iter().map(|path| path.segments.join("::")).collect();
        for path in expected {
            assert!(named.contains(&(*path).to_owned()), "{path} is not in {named:?}");
        }
    }

    #[test]
    fn writes_use_trees_out() {
        assert_names(
            "use std::{\n  fs::{self, File as F},\n  io,\n};\nuse ::tokio::time::*;",
            &["std::fs::self", "std::fs::File", "std::io", "tokio::time::*"],
        );
    }

    #[test]
    fn finds_paths_in_expressions_and_attributes() {
        assert_names(
            "#[tokio::test]\nfn a() -> std::fs::File { jiff::Timestamp::now() }",
            &["tokio::test", "std::fs::File", "jiff::Timestamp::now"],
        );
    }

    #[test]
    fn an_unfinished_tree_ends_the_file() {
        for code in ["use", "use std::{", "use std::{fs,", "use a as", "use {{"] {
            named_paths(code);
        }
    }

    #[test]
    fn a_path_knows_its_line() {
        let paths = named_paths("use std::{\n  fs,\n};\n");
        assert_eq!(paths[0].line, 2);
    }
}
