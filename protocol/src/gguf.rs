//! Reads the metadata of a model file (GGUF, versions 2 and 3), and recognizes files that are not models.
//!
//! The caller passes the file piece by piece from its beginning. Everything after the descriptions of the tensors is
//! ignored. No number in the file is trusted: each is checked against a limit below. At most one incomplete entry and the
//! few pairs that are used are kept in memory, and no input causes a panic.

mod entries;
mod kinds;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};

use crate::{backend_api::model::ModelFacts, gguf::entries::Entries};

/// The most pairs, and the most tensors, of a file.
const ENTRIES_LIMIT: u64 = 1 << 16;
/// The most items of a list in a pair. A large vocabulary has a quarter of a million.
const ITEMS_LIMIT: u64 = 1 << 24;
/// The longest name of a pair or a tensor, in bytes.
const NAME_LIMIT: u64 = 1 << 16;
/// The most bytes up to the end of the descriptions. A large vocabulary takes a tenth of that.
const HEADER_LIMIT: u64 = 1 << 28;
/// The context, in tokens, for which the memory is estimated: an agent's default for an engine.
const CONTEXT: u64 = 4096;

/// The reason why a file is not a model that an engine can load.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum NotAModel {
    Short {
        size_bytes: u64,
    },
    /// The file begins like a file of another kind.
    Other(Beginning),
    Version(u32),
    /// The file ends before the end of its last tensor, or within its descriptions.
    Truncated {
        size_bytes: u64,
        needed: Option<u64>,
    },
    /// The file is one part of a split model.
    Part {
        parts: u64,
    },
    /// The metadata makes no sense.
    Garbled(#[serde(deserialize_with = "garbled")] Words),
}

/// An explanation, which is never text from the file.
type Words = &'static str;

/// The apparent kind of a file that is not a model, judged by its beginning.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Beginning {
    WebPage,
    /// The pointer text that a Git LFS repository contains instead of the file.
    LfsPointer,
    Archive,
    Safetensors,
    /// A format that GGUF replaced.
    OldFormat,
    Unknown,
}

/// An inspection of a model file while the file arrives. It can be stored between two pieces.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Inspection {
    entries: Entries,
    /// The bytes of an incomplete entry.
    rest: Vec<u8>,
    /// The number of bytes to skip next.
    skipped: u64,
    /// The number of bytes read or skipped so far.
    seen: u64,
    fault: Option<NotAModel>,
}

impl Inspection {
    /// Reads the next bytes. Returns whether the inspection needs more.
    pub fn push(&mut self, mut bytes: &[u8]) -> bool {
        while self.wants_more() && !bytes.is_empty() {
            let skipped = self.skipped.min(bytes.len() as u64);
            let at = usize::try_from(skipped).unwrap_or(bytes.len());
            self.skipped -= skipped;
            self.seen += skipped;
            bytes = &bytes[at..];
            // Read a piece in parts, to keep little of it in memory.
            let (now, later) = bytes.split_at(bytes.len().min(64 * 1024));
            self.rest.extend_from_slice(now);
            bytes = later;
            self.look();
        }
        self.wants_more()
    }

    /// Returns the facts about the whole file, which has `size_bytes`.
    ///
    /// # Errors
    /// [`NotAModel`] if no engine can load the file.
    pub fn finish(self, size_bytes: u64) -> Result<ModelFacts, NotAModel> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if !self.entries.are_complete() {
            return Err(match self.seen {
                0 if !self.rest.starts_with(b"GGUF") => begins_otherwise(&self.rest, size_bytes),
                _ => NotAModel::Truncated { size_bytes, needed: None },
            });
        }
        self.entries.facts(self.seen, size_bytes)
    }

    const fn wants_more(&self) -> bool {
        self.fault.is_none() && !self.entries.are_complete()
    }

    /// Consumes every complete entry in the buffer.
    fn look(&mut self) {
        let mut at = 0;
        while self.skipped == 0 && self.wants_more() {
            match self.entries.next(&self.rest[at..]) {
                Ok(Some((taken, skipped))) => {
                    at += taken;
                    self.seen += taken as u64;
                    let there = (self.rest.len() - at) as u64;
                    let now = usize::try_from(skipped.min(there)).unwrap_or(0);
                    at += now;
                    self.seen += now as u64;
                    self.skipped = skipped - now as u64;
                    if self.seen.saturating_add(self.skipped) > HEADER_LIMIT {
                        self.fault = Some(NotAModel::Garbled("its descriptions have no end"));
                    }
                }
                Ok(None) => break,
                Err(fault) => self.fault = Some(fault),
            }
        }
        self.rest.drain(..at);
    }
}

/// Restores a stored fault with a generic explanation, because the original one is not stored.
fn garbled<'de, D: Deserializer<'de>>(stored: D) -> Result<Words, D::Error> {
    IgnoredAny::deserialize(stored).map(|_words| "what it says of itself makes no sense")
}

/// Returns the apparent kind of a file that does not begin like a model.
fn begins_otherwise(beginning: &[u8], size_bytes: u64) -> NotAModel {
    let starts = |text: &[u8]| beginning.starts_with(text);
    let trimmed = beginning.trim_ascii_start();
    NotAModel::Other(if starts(b"version https://git-lfs") {
        Beginning::LfsPointer
    } else if trimmed.starts_with(b"<") {
        Beginning::WebPage
    } else if starts(b"PK\x03\x04") || starts(b"\x1f\x8b") || starts(b"7z\xbc\xaf") {
        Beginning::Archive
    } else if [b"lmgg", b"tjgg", b"fmgg", b"algg"].iter().any(|magic| starts(*magic)) {
        Beginning::OldFormat
    } else if beginning.get(8) == Some(&b'{') {
        Beginning::Safetensors
    } else if size_bytes < entries::HEAD as u64 {
        return NotAModel::Short { size_bytes };
    } else {
        Beginning::Unknown
    })
}

impl NotAModel {
    /// Returns advice on what to do.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Short { .. } | Self::Truncated { .. } => {
                "download the file again, and compare its size"
            }
            Self::Other(Beginning::WebPage) => {
                "take the address of the file itself and not of a page about it"
            }
            Self::Other(Beginning::LfsPointer) => "fetch the file itself with `git lfs pull`",
            Self::Other(Beginning::Archive) => "unpack it and add the .gguf file in it",
            Self::Other(Beginning::Safetensors | Beginning::OldFormat | Beginning::Unknown) => {
                "use the model's .gguf file, or convert it with llama.cpp's `convert_hf_to_gguf.py`"
            }
            Self::Version(_) => "take a newer file of the model, or convert it again",
            Self::Part { .. } => "join its files with `llama-gguf-split --merge`",
            Self::Garbled(_) => "download the file again; if it stays so, take another one",
        }
    }
}

impl fmt::Display for NotAModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { size_bytes: 1 } => f.write_str("the file is not a model: it has 1 byte"),
            Self::Short { size_bytes } => {
                write!(f, "the file is not a model: it has {size_bytes} bytes")
            }
            Self::Other(beginning) => write!(f, "the file is no GGUF model: {beginning}"),
            Self::Version(version) => {
                write!(f, "the file is GGUF of version {version}, and versions 2 and 3 are served")
            }
            Self::Truncated { size_bytes, needed: Some(needed) } => {
                write!(f, "the model ends early: it has {size_bytes} of {needed} bytes")
            }
            Self::Truncated { size_bytes, needed: None } => {
                write!(f, "the model ends within its descriptions, after {size_bytes} bytes")
            }
            Self::Part { parts } => write!(f, "the file is one of the {parts} files of its model"),
            Self::Garbled(what) => write!(f, "the model is damaged: {what}"),
        }
    }
}

impl std::error::Error for NotAModel {}

impl fmt::Display for Beginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WebPage => "it begins like a web page",
            Self::LfsPointer => "it is a pointer of Git LFS to the file",
            Self::Archive => "it begins like an archive",
            Self::Safetensors => "it begins like a file of safetensors",
            Self::OldFormat => "it is of a format from before GGUF",
            Self::Unknown => "it does not begin like one",
        })
    }
}

#[cfg(test)]
mod tests;
