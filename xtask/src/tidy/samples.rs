//! Doc lines drawn at random, for a person who judges how readable the repository is.
//!
//! A seed always draws the same lines from the same sources. No line is drawn twice. Tests are left
//! out, because their names describe them.

use std::collections::BTreeSet;

use crate::tidy::lexer::RustFile;

/// The number of lines in a draw, as in the first review of this repository.
const SIZE: usize = 105;

/// Returns the drawn lines, each with its file and line number.
pub(crate) fn draw(sources: &[RustFile], seed: u64) -> String {
    let lines: Vec<String> = sources.iter().filter(|file| !file.is_test()).flat_map(docs).collect();
    let mut random = Random(seed);
    let mut drawn = BTreeSet::new();
    while drawn.len() < SIZE.min(lines.len()) {
        drawn.insert(random.below(lines.len()));
    }
    drawn.into_iter().map(|place| format!("{}\n", lines[place])).collect()
}

fn docs(file: &RustFile) -> impl Iterator<Item = String> {
    file.text.lines().enumerate().take(file.product_lines()).filter_map(|(index, line)| {
        let line = line.trim_start();
        let words = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"))?;
        let is_sentence = words.chars().any(char::is_alphabetic) && !words.starts_with(" # ");
        is_sentence.then(|| format!("{}:{}:{words}", file.path, index + 1))
    })
}

/// The random number generator SplitMix64: small, and the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        usize::try_from(mixed % bound).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::TextFile;

    #[test]
    fn a_seed_draws_the_same_lines_and_another_seed_others() {
        let sources = [file("a/src/lib.rs", 400), file("b/src/lib.rs", 400)];
        let one = draw(&sources, 1);
        assert_eq!(one, draw(&sources, 1));
        assert_ne!(one, draw(&sources, 2));
        let lines: BTreeSet<&str> = one.lines().collect();
        assert_eq!(lines.len(), SIZE, "each line once");
        assert!(lines.iter().all(|line| line.contains("/src/lib.rs:")), "{one}");
        assert!(lines.iter().any(|line| line.starts_with("b/")), "{one}");
    }

    #[test]
    fn only_sentences_of_the_product_are_drawn() {
        let text = "//! A head.\n//!\n/// A line.\n///\n/// # Errors\nfn it() {}\n// A why.\n\
            #[cfg(test)]\nmod tests {\n    /// A helper.\n}\n";
        let product = RustFile::from(TextFile { path: "a/src/b.rs".into(), text: text.into() });
        let test = RustFile::from(TextFile { path: "a/tests/b.rs".into(), text: text.into() });
        assert_eq!(draw(&[product, test], 7), "a/src/b.rs:1: A head.\na/src/b.rs:3: A line.\n");
    }

    fn file(path: &str, lines: usize) -> RustFile {
        let text = (0..lines).map(|line| format!("/// Line {line}.\n")).collect();
        RustFile::from(TextFile { path: path.to_owned(), text })
    }
}
