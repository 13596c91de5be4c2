//! Checks and signs the catalogue of models, which a person writes as a list, for publication.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: the date of an issue is that of its making"
)]

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;
use link_platform::fs;
use link_protocol::{
    catalogue::{CATALOGUE_FILE, Catalogue},
    signed_document::Issue,
};

use crate::release_key;

/// `cargo xtask catalogue`.
#[derive(clap::Args, Debug)]
pub(crate) struct Options {
    /// JSON file with `models`, each with name, summary, licence, `file_name`, url, sha256, `size_bytes` and facts
    list: PathBuf,
    /// Release key that signs the catalogue
    #[arg(long, value_name = "FILE")]
    sign_with: PathBuf,
    /// Serial number, higher than that of any earlier catalogue [default: the Unix time]
    #[arg(long, value_name = "N")]
    serial: Option<u64>,
    /// Release folder to write the catalogue to
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
}

/// Checks and signs the list, writes the catalogue, and returns its path as text.
pub(crate) fn run(options: &Options) -> anyhow::Result<String> {
    issue_at(options, Timestamp::now())
}

fn issue_at(options: &Options, now: Timestamp) -> anyhow::Result<String> {
    let text = fs::read_to_string(&options.list)?;
    let catalogue: Catalogue = serde_json::from_str(&text)
        .with_context(|| format!("failed to read `{}`", options.list.display()))?;
    let count = catalogue.models.len();
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let issue = Issue::new(options.serial.unwrap_or(seconds), now, catalogue);
    let key = release_key::read(&options.sign_with)?.key;
    let signed = issue.seal(&key).context("the list cannot be published")?;
    let path = write(&options.out, &serde_json::to_vec(&signed).context("failed to write JSON")?)?;
    Ok(format!("{}: {count} models, number {}", path.display(), issue.serial))
}

fn write(folder: &Path, file: &[u8]) -> anyhow::Result<PathBuf> {
    let path = folder.join(CATALOGUE_FILE);
    fs::write_atomic(&path, file)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_checked_and_signed_as_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let [list, key] = ["list.json", "key"].map(|name| folder.path().join(name));
        release_key::run(&key, None).unwrap();
        let model = |url: &str| {
            serde_json::json!({ "models": [{
                "name": "a", "summary": "", "licence": "MIT", "file_name": "a.gguf", "url": url,
                "sha256": "0".repeat(64), "size_bytes": 1,
                "facts": { "architecture": "llama", "parameters": 1, "memory_bytes": 1 },
            }]})
            .to_string()
        };
        let out = folder.path().to_owned();
        let options = Options { list: list.clone(), sign_with: key.clone(), serial: None, out };
        let now = Timestamp::from_second(1_790_000_000).unwrap();
        std::fs::write(&list, model("http://models.example/a.gguf")).unwrap();
        let refused = format!("{:#}", issue_at(&options, now).unwrap_err());
        assert!(refused.contains("not https"), "{refused}");
        std::fs::write(&list, model("https://models.example/a.gguf")).unwrap();
        issue_at(&options, now).unwrap();
        let file = std::fs::read(folder.path().join(CATALOGUE_FILE)).unwrap();
        let keys = [release_key::read(&key).unwrap().key.verifying().clone()];
        let read = Issue::<Catalogue>::read(&file, &keys, None).unwrap();
        assert_eq!((read.serial, read.document.models.len()), (1_790_000_000, 1));
    }
}
