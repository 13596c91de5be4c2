//! The model files that a plugin takes, told by their first bytes.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{InvalidPlugin, LIST_LIMIT, ensure, is_id};

/// The largest offset of magic bytes.
const OFFSET_LIMIT: u64 = 64 * 1024;
/// The most magic bytes of one entry.
const BYTES_LIMIT: usize = 32;

/// The model files that a plugin takes.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelFiles {
    /// The format in words, such as `GGUF`.
    pub format: String,
    /// The metadata in the file that says what a model is for.
    #[serde(default)]
    pub metadata: Option<Metadata>,
    /// The extensions of the files, without a dot.
    pub extensions: Vec<String>,
    /// The bytes that a file has at an offset, of which one entry must fit. Empty if nothing is checked.
    #[serde(default)]
    pub magic: Vec<Magic>,
}

/// Bytes at an offset of a model file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Magic {
    /// Where the bytes stand. Default: at the beginning.
    #[serde(default)]
    pub offset: u64,
    /// ASCII text, or the bytes as pairs of hexadecimal digits after `hex:`.
    pub bytes: String,
}

/// A kind of metadata in model files.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metadata {
    /// The pairs of a GGUF file.
    Gguf,
}

impl ModelFiles {
    pub(super) fn check(&self) -> Result<(), InvalidPlugin> {
        ensure(super::is_line(&self.format), "model.format", "one line of text")?;
        let are_words = self.extensions.iter().all(|extension| is_id(extension));
        let fits = are_words && self.extensions.len() <= LIST_LIMIT;
        ensure(fits, "model.extensions", "extensions of a to z and 0 to 9, without a dot")?;
        let fits = |magic: &Magic| magic.read().is_some() && magic.offset <= OFFSET_LIMIT;
        let fit = self.magic.len() <= LIST_LIMIT && self.magic.iter().all(fits);
        ensure(fit, "model.magic", "1 to 32 bytes at an offset of at most 65536")
    }

    /// Returns the number of bytes at the beginning of a file that [`ModelFiles::fits`] looks at.
    #[must_use]
    pub fn head_len(&self) -> u64 {
        let end = |magic: &Magic| magic.offset + magic.read().map_or(0, |bytes| bytes.len() as u64);
        self.magic.iter().map(end).max().unwrap_or(0)
    }

    /// Returns whether a file that begins with `head` can be a model of this plugin.
    #[must_use]
    pub fn fits(&self, head: &[u8]) -> bool {
        let fits = |magic: &Magic| {
            let offset = usize::try_from(magic.offset).unwrap_or(usize::MAX);
            let found = head.get(offset..).zip(magic.read());
            found.is_some_and(|(found, bytes)| found.starts_with(&bytes))
        };
        self.magic.is_empty() || self.magic.iter().any(fits)
    }
}

impl Magic {
    /// Returns the bytes, or `None` if the text does not describe 1 to 32 bytes.
    fn read(&self) -> Option<Vec<u8>> {
        let bytes = match self.bytes.strip_prefix("hex:") {
            Some(digits) => {
                let pairs = digits.as_bytes().chunks(2);
                let byte = |pair: &[u8]| {
                    let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
                    u8::from_str_radix(pair, 16).ok()
                };
                pairs.map(byte).collect::<Option<Vec<u8>>>()?
            }
            None => self.bytes.is_ascii().then(|| self.bytes.clone().into_bytes())?,
        };
        (1..=BYTES_LIMIT).contains(&bytes.len()).then_some(bytes)
    }
}
