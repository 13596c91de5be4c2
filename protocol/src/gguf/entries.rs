//! Reads the entries of a GGUF file one after another: its head, its pairs, the items of a list of texts, its tensors.
//! Content without use is skipped by its length.

use serde::{Deserialize, Serialize};

use crate::{
    backend_api::model::ModelFacts,
    gguf::{
        CONTEXT, ENTRIES_LIMIT, HEADER_LIMIT, ITEMS_LIMIT, NAME_LIMIT, NotAModel, begins_otherwise,
        kinds,
    },
    task::Task,
};

/// The length of the head, in bytes: magic, version, and the numbers of tensors and pairs.
pub(super) const HEAD: usize = 24;
/// The longest text value that is kept, in bytes.
const TEXT_KEPT: u64 = 128;
/// The most texts, and the most numbers, that are kept. A model has about ten that are used.
const PAIRS_KEPT: usize = 256;
/// The longest name of a pair that is kept, in bytes.
const NAME_KEPT: usize = 128;
/// The names of the pairs that are used.
const NAMES: [&str; 4] =
    ["general.alignment", "general.architecture", "general.file_type", "split.count"];
/// The ends of the names of used pairs that begin with the architecture.
const NAMES_OF_ARCHITECTURE: [&str; 7] = [
    ".attention.head_count",
    ".attention.head_count_kv",
    ".attention.key_length",
    ".block_count",
    ".context_length",
    ".embedding_length",
    ".pooling_type",
];
/// The default alignment of tensors, in bytes.
const ALIGNMENT: u64 = 32;
/// The most dimensions of a tensor.
const DIMENSIONS: u32 = 4;

/// The architectures of llama.cpp that only encode texts.
const ENCODERS: [&str; 9] = [
    "bert",
    "eurobert",
    "gemma-embedding",
    "jina-bert-v2",
    "jina-bert-v3",
    "modern-bert",
    "neo-bert",
    "nomic-bert",
    "nomic-bert-moe",
];

/// The facts from the entries so far, and the kind of the next entry.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct Entries {
    next: Next,
    pairs: u64,
    tensors: u64,
    texts: Vec<(String, String)>,
    numbers: Vec<(String, u64)>,
    /// The end of the last tensor, in bytes from the beginning of the tensors.
    end: u64,
    parameters: u64,
    weights: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
enum Next {
    #[default]
    Head,
    Pair,
    /// The number of remaining texts of a list.
    Items(u64),
    Tensor,
    Nothing,
}

/// The length of an entry, and the number of bytes to skip after it.
type Taken = (usize, u64);

impl Entries {
    pub(super) const fn are_complete(&self) -> bool {
        matches!(self.next, Next::Nothing)
    }

    /// Reads the entry at the beginning of `bytes`. `None` if the entry is incomplete.
    pub(super) fn next(&mut self, bytes: &[u8]) -> Result<Option<Taken>, NotAModel> {
        let mut reader = Reader { bytes, at: 0 };
        let skipped = match self.next {
            Next::Head => self.head(&mut reader)?,
            Next::Pair => self.pair(&mut reader)?,
            Next::Items(left) => {
                let length = reader.number();
                if length.is_some() {
                    self.next = if left > 1 { Next::Items(left - 1) } else { self.after_pair() };
                }
                length.map(bounded).transpose()?
            }
            Next::Tensor => self.tensor(&mut reader)?,
            Next::Nothing => None,
        };
        Ok(skipped.map(|skipped| (reader.at, skipped)))
    }

    fn head(&mut self, reader: &mut Reader<'_>) -> Result<Option<u64>, NotAModel> {
        if reader.bytes.len() >= 4 && !reader.bytes.starts_with(b"GGUF") {
            let is_told = reader.bytes.len() >= HEAD;
            return if is_told { Err(begins_otherwise(reader.bytes, u64::MAX)) } else { Ok(None) };
        }
        let (Some(_magic), Some(version), Some(tensors), Some(pairs)) =
            (reader.small(), reader.small(), reader.number(), reader.number())
        else {
            return Ok(None);
        };
        if !matches!(version, 2 | 3) {
            return Err(NotAModel::Version(version));
        }
        if tensors == 0 {
            return Err(NotAModel::Garbled("it has no tensors"));
        }
        if tensors > ENTRIES_LIMIT || pairs > ENTRIES_LIMIT {
            return Err(NotAModel::Garbled("it announces more entries than any model has"));
        }
        (self.tensors, self.pairs) = (tensors, pairs);
        self.next = if pairs > 0 { Next::Pair } else { Next::Tensor };
        Ok(Some(0))
    }

    fn pair(&mut self, reader: &mut Reader<'_>) -> Result<Option<u64>, NotAModel> {
        let (Some(name), Some(kind)) = (reader.name()?, reader.small()) else { return Ok(None) };
        let skipped = if kind == kinds::TEXT {
            let Some(length) = reader.number() else { return Ok(None) };
            if length > TEXT_KEPT {
                bounded(length)?
            } else {
                let Some(text) = reader.take(length) else { return Ok(None) };
                if let Some(name) = used(name).filter(|_| self.texts.len() < PAIRS_KEPT) {
                    self.texts.push((name, String::from_utf8_lossy(text).into_owned()));
                }
                0
            }
        } else if kind == kinds::LIST {
            let (Some(of), Some(items)) = (reader.small(), reader.number()) else {
                return Ok(None);
            };
            if items > ITEMS_LIMIT {
                return Err(NotAModel::Garbled("a list in it is longer than that of any model"));
            }
            if of == kinds::TEXT && items > 0 {
                self.next = Next::Items(items);
                return Ok(Some(0));
            }
            let size = if of == kinds::TEXT { Some(0) } else { kinds::value(of) };
            size.ok_or(UNKNOWN_KIND)?.saturating_mul(items)
        } else {
            let size = kinds::value(kind).ok_or(UNKNOWN_KIND)?;
            let Some(value) = reader.take(size) else { return Ok(None) };
            if matches!(kind, 0..=5 | 10 | 11)
                && let Some(name) = used(name).filter(|_| self.numbers.len() < PAIRS_KEPT)
            {
                let number = value.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
                self.numbers.push((name, number));
            }
            0
        };
        self.next = self.after_pair();
        Ok(Some(skipped))
    }

    /// Counts down a finished pair, and returns the kind of the next entry.
    const fn after_pair(&mut self) -> Next {
        self.pairs -= 1;
        if self.pairs > 0 { Next::Pair } else { Next::Tensor }
    }

    fn tensor(&mut self, reader: &mut Reader<'_>) -> Result<Option<u64>, NotAModel> {
        let (Some(_name), Some(dimensions)) = (reader.name()?, reader.small()) else {
            return Ok(None);
        };
        if dimensions > DIMENSIONS {
            return Err(NotAModel::Garbled("a tensor has too many dimensions"));
        }
        let mut count = 1_u64;
        for _ in 0..dimensions {
            let Some(length) = reader.number() else { return Ok(None) };
            count = count.checked_mul(length).ok_or(TOO_LARGE)?;
        }
        let (Some(kind), Some(offset)) = (reader.small(), reader.number()) else { return Ok(None) };
        // The size of a tensor of an unknown, newer kind is not known.
        let size = match kinds::block(kind) {
            Some((numbers, bytes)) => {
                count.div_ceil(numbers).checked_mul(bytes).ok_or(TOO_LARGE)?
            }
            None => 0,
        };
        self.end = self.end.max(offset.checked_add(size).ok_or(TOO_LARGE)?);
        self.parameters = self.parameters.saturating_add(count);
        self.weights = self.weights.saturating_add(size);
        self.tensors -= 1;
        if self.tensors == 0 {
            self.next = Next::Nothing;
        }
        Ok(Some(0))
    }

    /// Returns the facts about the file, whose descriptions have `described` bytes.
    pub(super) fn facts(&self, described: u64, size_bytes: u64) -> Result<ModelFacts, NotAModel> {
        let alignment = self.number("general.alignment").unwrap_or(ALIGNMENT);
        if alignment == 0 || alignment > HEADER_LIMIT {
            return Err(NotAModel::Garbled("its tensors cannot be aligned as it says"));
        }
        let begin = described.checked_next_multiple_of(alignment).ok_or(TOO_LARGE)?;
        let needed = begin.checked_add(self.end).ok_or(TOO_LARGE)?;
        if let Some(parts) = self.number("split.count").filter(|parts| *parts > 1) {
            return Err(NotAModel::Part { parts });
        }
        if size_bytes < needed {
            return Err(NotAModel::Truncated { size_bytes, needed: Some(needed) });
        }
        let architecture = self.text("general.architecture").filter(|name| is_plain(name));
        let architecture = architecture.ok_or(NotAModel::Garbled("it names no architecture"))?;
        let of_architecture = |what: &str| self.number(&format!("{architecture}.{what}"));
        let file_type = self.number("general.file_type");
        Ok(ModelFacts {
            architecture: architecture.to_owned(),
            quantization: file_type.and_then(kinds::quantization).map(str::to_owned),
            parameters: self.parameters,
            context_length: of_architecture("context_length"),
            task: Some(task(architecture, of_architecture("pooling_type"))),
            memory_bytes: self.weights.saturating_add(cache(&of_architecture)),
        })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.texts.iter().find(|(key, _)| key == name).map(|(_, text)| text.as_str())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.numbers.iter().find(|(key, _)| key == name).map(|(_, number)| *number)
    }
}

/// Returns the name of a pair if the pair is used. Everything else is dropped, so that no file decides how much is kept.
fn used(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok().filter(|name| name.len() <= NAME_KEPT)?;
    let is_used =
        NAMES.contains(&name) || NAMES_OF_ARCHITECTURE.iter().any(|end| name.ends_with(end));
    is_used.then(|| name.to_owned())
}

/// Returns the size in bytes of a context's cache of 16-bit numbers, or 0 if the metadata does not suffice.
fn cache(of_architecture: &impl Fn(&str) -> Option<u64>) -> u64 {
    let context = of_architecture("context_length").unwrap_or(CONTEXT).min(CONTEXT);
    let (Some(layers), Some(width), Some(heads)) = (
        of_architecture("block_count"),
        of_architecture("embedding_length"),
        of_architecture("attention.head_count").filter(|heads| *heads > 0),
    ) else {
        return 0;
    };
    let of_head = of_architecture("attention.key_length").unwrap_or(width / heads);
    let kept = of_architecture("attention.head_count_kv").unwrap_or(heads);
    [2, 2, layers, kept, of_head, context].into_iter().fold(1, u64::saturating_mul)
}

/// Returns what a model is for: how it pools its tokens decides, or else whether its architecture is an encoder.
fn task(architecture: &str, pooling: Option<u64>) -> Task {
    match pooling {
        Some(1..=3) => Task::Embeddings,
        Some(4) => Task::Rerank,
        _ if ENCODERS.contains(&architecture) => Task::Embeddings,
        _ => Task::Chat,
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Rejects a length beyond that of any entry.
const fn bounded(length: u64) -> Result<u64, NotAModel> {
    if length > HEADER_LIMIT {
        Err(NotAModel::Garbled("a text in it has no end"))
    } else {
        Ok(length)
    }
}

const UNKNOWN_KIND: NotAModel = NotAModel::Garbled("a pair is of a kind that does not exist");
const TOO_LARGE: NotAModel = NotAModel::Garbled("a tensor is larger than any file");

/// Reads little-endian numbers until the bytes end.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: u64) -> Option<&'a [u8]> {
        let end = self.at.checked_add(usize::try_from(length).ok()?)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn small(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn name(&mut self) -> Result<Option<&'a [u8]>, NotAModel> {
        let Some(length) = self.number() else { return Ok(None) };
        if length > NAME_LIMIT {
            return Err(NotAModel::Garbled("a name in it has no end"));
        }
        Ok(self.take(length))
    }
}
