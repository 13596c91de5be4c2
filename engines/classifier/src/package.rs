//! The file of a model: a network in ONNX, or an archive of a folder with `model.onnx`, `model.json` and, if the labels
//! do not stand in `model.json`, `labels.txt`.
//!
//! An archive is read in memory, entry by entry, and nothing is unpacked. Only regular files and folders are accepted:
//! no links, no extension headers, no name that leaves the folder. A size that a header claims reserves no memory.

use std::io::{self, Read};

use crate::limits::{ARCHIVE_ENTRIES, MODEL_BYTES, SIDE_FILE_BYTES};

/// The parts of a model.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Package {
    /// The network, in ONNX.
    pub network: Vec<u8>,
    /// `model.json`. A bare network has it in its own metadata.
    pub settings: Option<Vec<u8>>,
    /// `labels.txt`.
    pub labels: Option<Vec<u8>>,
}

/// A file that is no model of a classifier.
#[derive(Debug, thiserror::Error)]
pub enum InvalidPackage {
    #[error("failed to read the file of the model")]
    Read(#[source] io::Error),
    #[error("the file is empty")]
    Empty,
    #[error("the file is a language model (GGUF): deploy it with the plugin language_model")]
    LanguageModel,
    #[error("the archive is compressed: use a plain tar archive")]
    Compressed,
    #[error("the archive is damaged")]
    Damaged(#[source] io::Error),
    #[error("the archive is truncated in `{0}`")]
    Truncated(String),
    #[error("the archive has more than {ARCHIVE_ENTRIES} entries")]
    TooManyEntries,
    #[error(
        "`{0}` is not a regular file: make the archive with `tar --format=ustar`, without links"
    )]
    Kind(String),
    #[error("the name `{0}` leaves the folder of the model or is not plain text")]
    Name(String),
    #[error("`{name}` stands in the archive twice")]
    Twice { name: String },
    #[error("`{name}` has {size} bytes, more than {limit}")]
    TooLarge { name: String, size: u64, limit: u64 },
    #[error("the archive has no `{0}`")]
    Missing(&'static str),
}

/// Reads a model from `source`: an archive if the bytes say so, otherwise a bare network.
///
/// # Errors
/// If the file is of another kind, damaged, or exceeds a bound.
pub fn read(mut source: impl Read) -> Result<Package, InvalidPackage> {
    let mut head = Vec::new();
    source.by_ref().take(512).read_to_end(&mut head).map_err(InvalidPackage::Read)?;
    if head.is_empty() {
        return Err(InvalidPackage::Empty);
    }
    if head.starts_with(b"GGUF") {
        return Err(InvalidPackage::LanguageModel);
    }
    if [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh", b"PK\x03\x04"]
        .iter()
        .any(|magic| head.starts_with(magic))
    {
        return Err(InvalidPackage::Compressed);
    }
    let is_archive = head.get(257..262) == Some(b"ustar") || head.iter().all(|byte| *byte == 0);
    let source = io::Cursor::new(head).chain(source);
    if is_archive {
        return read_archive(source);
    }
    let mut network = Vec::new();
    source.take(MODEL_BYTES + 1).read_to_end(&mut network).map_err(InvalidPackage::Read)?;
    bounded("model.onnx", network.len() as u64, MODEL_BYTES)?;
    Ok(Package { network, ..Package::default() })
}

/// Reads the archive of a model from `source`.
///
/// # Errors
/// If the archive is damaged, exceeds a bound, or has an entry that no model has.
pub fn read_archive(source: impl Read) -> Result<Package, InvalidPackage> {
    let mut package = Package::default();
    let mut folder: Option<String> = None;
    let mut names: Vec<String> = Vec::new();
    let mut archive = tar::Archive::new(source);
    // Raw: an extension header is an entry like any other, and is refused as no regular file.
    let entries = archive.entries().map_err(InvalidPackage::Damaged)?.raw(true);
    for (number, entry) in entries.enumerate() {
        let mut entry = entry.map_err(InvalidPackage::Damaged)?;
        if number == ARCHIVE_ENTRIES {
            return Err(InvalidPackage::TooManyEntries);
        }
        let path = entry.path_bytes().into_owned();
        let shown = || shorten(&path);
        let kind = entry.header().entry_type();
        let Some(parts) = plain_parts(&path) else { return Err(InvalidPackage::Name(shown())) };
        if kind.is_dir() && entry.size() == 0 {
            continue;
        }
        if !kind.is_file() {
            return Err(InvalidPackage::Kind(shown()));
        }
        let (inside, name) = match parts.as_slice() {
            [name] => (String::new(), *name),
            [inside, name] => ((*inside).to_owned(), *name),
            [] | [_, _, _, ..] => return Err(InvalidPackage::Name(shown())),
        };
        if *folder.get_or_insert_with(|| inside.clone()) != inside {
            return Err(InvalidPackage::Name(shown()));
        }
        if names.iter().any(|known| known == name) {
            return Err(InvalidPackage::Twice { name: name.to_owned() });
        }
        names.push(name.to_owned());
        let limit = if name == "model.onnx" { MODEL_BYTES } else { SIDE_FILE_BYTES };
        bounded(name, entry.size(), limit)?;
        let size = entry.size();
        let content = content(&mut entry, size, name)?;
        match name {
            "model.onnx" => package.network = content,
            "model.json" => package.settings = Some(content),
            "labels.txt" => package.labels = Some(content),
            // A licence or a text about the model may stand beside it.
            _ => {}
        }
    }
    for name in ["model.onnx", "model.json"] {
        if !names.iter().any(|known| known == name) {
            return Err(InvalidPackage::Missing(name));
        }
    }
    Ok(package)
}

fn content(entry: &mut impl Read, size: u64, name: &str) -> Result<Vec<u8>, InvalidPackage> {
    let mut content = Vec::new();
    entry.take(size).read_to_end(&mut content).map_err(InvalidPackage::Damaged)?;
    if content.len() as u64 == size {
        Ok(content)
    } else {
        Err(InvalidPackage::Truncated(name.to_owned()))
    }
}

fn bounded(name: &str, size: u64, limit: u64) -> Result<(), InvalidPackage> {
    if size > limit {
        return Err(InvalidPackage::TooLarge { name: name.to_owned(), size, limit });
    }
    Ok(())
}

/// Returns the parts of a relative path without `.`; nothing if the path is absolute, has `..`, or is not plain text.
fn plain_parts(path: &[u8]) -> Option<Vec<&str>> {
    let text = std::str::from_utf8(path).ok()?;
    if text.is_empty() || text.starts_with('/') || text.contains(['\\', ':']) {
        return None;
    }
    if text.chars().any(char::is_control) {
        return None;
    }
    let parts: Vec<&str> =
        text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    (!parts.contains(&"..")).then_some(parts)
}

/// Returns a name that is fit for a message: no control characters, no great length.
fn shorten(path: &[u8]) -> String {
    let text = String::from_utf8_lossy(path);
    text.chars().take(100).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests;
