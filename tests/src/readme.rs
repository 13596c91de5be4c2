//! The code blocks of README.md and of the guides: commands, and their promised output.

use std::path::{Path, PathBuf};

/// A fenced block.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Block {
    /// The heading of the block's section.
    pub section: String,
    /// `sh`, `text`, `json` or another word after the fence.
    pub language: String,
    pub text: String,
}

/// Returns the root folder of the repository.
///
/// # Panics
/// Never: this package is inside that folder.
#[must_use]
pub fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns the blocks of the README, in order.
///
/// # Panics
/// Panics if the README cannot be read.
#[must_use]
pub fn blocks() -> Vec<Block> {
    blocks_of("README.md")
}

/// Returns the blocks of a Markdown file of the repository, in order.
///
/// # Panics
/// Panics if the file cannot be read.
#[must_use]
pub fn blocks_of(file: &str) -> Vec<Block> {
    parse(&std::fs::read_to_string(checkout().join(file)).unwrap())
}

fn parse(markdown: &str) -> Vec<Block> {
    let (mut blocks, mut section, mut open) = (Vec::new(), String::new(), None::<Block>);
    for line in markdown.lines() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => {
                let (section, language) = (section.clone(), language.trim().to_owned());
                open = Some(Block { section, language, text: String::new() });
            }
            (None, Some(block)) => block.text.extend([line, "\n"]),
            (None, None) => {
                if let Some(heading) = line.strip_prefix("## ") {
                    heading.clone_into(&mut section);
                }
            }
        }
    }
    blocks
}

/// Returns the words of each simple command of a `sh` block. Splits at pipes, separators and substitutions, drops comments
/// and the assignments before a program, and removes quotes.
#[must_use]
pub fn commands(block: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let (mut word, mut is_word, mut quote) = (String::new(), false, None::<char>);
    let end = |word: &mut String, is_word: &mut bool, commands: &mut Vec<Vec<String>>| {
        if std::mem::take(is_word) {
            commands.last_mut().unwrap().push(std::mem::take(word));
        }
    };
    let mut characters = block.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                is_word = true;
            }
            ('\\', None) if characters.peek() == Some(&'\n') => {
                characters.next();
            }
            ('#', None) if !is_word => while characters.next_if(|&c| c != '\n').is_some() {},
            ('$', None) if characters.next_if_eq(&'(').is_some() => {
                word.clear();
                is_word = false;
                commands.push(Vec::new());
            }
            ('|' | ';' | '&' | '\n' | ')', None) => {
                end(&mut word, &mut is_word, &mut commands);
                commands.push(Vec::new());
            }
            (' ', None) => end(&mut word, &mut is_word, &mut commands),
            (c, None) => {
                word.push(c);
                is_word = true;
            }
        }
    }
    end(&mut word, &mut is_word, &mut commands);
    let is_assignment = |word: &String| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let words = commands.into_iter().map(|words| {
        let skipped = words.iter().take_while(|word| is_assignment(word)).count();
        words[skipped..].to_vec()
    });
    words.filter(|words| !words.is_empty()).collect()
}

/// Returns whether `printed` contains the lines of `expected` in order. `…` matches any text.
#[must_use]
pub fn shows(printed: &str, expected: &str) -> bool {
    let mut lines = printed.lines();
    expected.lines().all(|wanted| lines.any(|line| is_like(line.trim_end(), wanted.trim_end())))
}

fn is_like(line: &str, wanted: &str) -> bool {
    let Some((begin, rest)) = wanted.split_once('…') else { return line == wanted };
    let Some(mut left) = line.strip_prefix(begin) else { return false };
    let mut parts: Vec<_> = rest.split('…').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_section_its_language_and_its_text() {
        let blocks = parse("# A\n## B\n```sh\none\n```\ntext\n```text\ntwo\n```\n");
        let block = |language: &str, text: &str| Block {
            section: "B".to_owned(),
            language: language.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(blocks, [block("sh", "one\n"), block("text", "two\n")]);
    }

    #[test]
    fn commands_are_found_between_comments_pipes_and_assignments() {
        let words = |text| {
            let commands = commands(text);
            commands.iter().map(|words| words.join("_")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words("# all\nlink up  # one\n"), "link_up");
        assert_eq!(words("curl -f a | B=1 C= sh -s\n"), "curl_-f_a sh_-s");
        assert_eq!(words("key=$(link key create | jq -r .key)\n"), "link_key_create jq_-r_.key");
        assert_eq!(words("link run m \"Why # not?\" \\\n  --x\n"), "link_run_m_Why # not?_--x");
        assert_eq!(words("a --select 'b=c,d<1'\n"), "a_--select_b=c,d<1");
    }

    #[test]
    fn what_is_printed_is_compared_line_by_line() {
        assert!(shows("a\nport 80 is free\nb\n", "port … is free\nb\n"));
        assert!(!shows("b\na\n", "a\nb\n"));
        assert!(!shows("port 80 is taken\n", "port … is free\n"));
    }
}
