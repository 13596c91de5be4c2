//! Reads the files to check: every Rust source and manifest of the repository, in a fixed order.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads the repository")]

use std::path::Path;

use anyhow::Context as _;

/// A text and its path, with `/` as separator on every system.
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Reads every `.rs` file and `Cargo.toml` under `root`, except build output and hidden folders.
pub(crate) fn read(root: &Path) -> anyhow::Result<Vec<TextFile>> {
    let mut found = Vec::new();
    walk(root, "", &mut found)?;
    found.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(found)
}

fn walk(root: &Path, folder: &str, found: &mut Vec<TextFile>) -> anyhow::Result<()> {
    let absolute = root.join(folder);
    let entries = std::fs::read_dir(&absolute)
        .with_context(|| format!("failed to list `{}`", absolute.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("failed to list `{}`", absolute.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if entry.path().is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" {
                walk(root, &path, found)?;
            }
        } else if name.ends_with(".rs") || name == "Cargo.toml" {
            let text = std::fs::read_to_string(entry.path())
                .with_context(|| format!("failed to read `{path}`"))?;
            found.push(TextFile { path, text });
        }
    }
    Ok(())
}
