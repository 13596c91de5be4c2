//! The library of ONNX Runtime: a file that is named, or one beside the program.
#![expect(clippy::disallowed_methods, reason = "IO shell: looks for the library")]

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use ort::environment::Environment;

/// Loads the library of ONNX Runtime, `named` or beside the program.
///
/// # Errors
/// If there is none, or it cannot be loaded.
pub(crate) fn load(named: Option<&Path>) -> anyhow::Result<Environment> {
    let library = match named {
        Some(named) => named.to_owned(),
        None => beside_the_program()?,
    };
    ort::init_from(&library)
        .with_context(|| format!("failed to load ONNX Runtime from `{}`", library.display()))?
        .with_telemetry(false)
        .build()
        .context("failed to start ONNX Runtime")
}

fn beside_the_program() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    let folder = program.parent().context("this program stands in no folder")?;
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("failed to read the folder `{}`", folder.display()))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    match newest(names) {
        Some(name) => Ok(folder.join(name)),
        None => bail!(
            "there is no libonnxruntime.so in `{}`: put it there, or name it with --runtime FILE",
            folder.display()
        ),
    }
}

/// Returns the name without a version if there is one, otherwise that of the newest version.
fn newest(names: impl Iterator<Item = String>) -> Option<String> {
    let version = |name: &str| -> Option<Vec<u64>> {
        let rest = name.strip_prefix("libonnxruntime.so")?;
        let Some(numbers) = rest.strip_prefix('.') else {
            return rest.is_empty().then(|| vec![u64::MAX]);
        };
        numbers.split('.').map(|number| number.parse().ok()).collect()
    };
    let versions = names.filter_map(|name| Some((version(&name)?, name)));
    versions.max().map(|(_version, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_library_is_found() {
        for (names, wanted) in [
            (
                &["libonnxruntime.so.1.9.0", "libonnxruntime.so.1.31.1"][..],
                "libonnxruntime.so.1.31.1",
            ),
            (&["libonnxruntime.so.1.31.1", "libonnxruntime.so"], "libonnxruntime.so"),
            (&["libonnxruntime_providers_shared.so", "libonnxruntime.so.1"], "libonnxruntime.so.1"),
        ] {
            let found = newest(names.iter().map(|&name| name.to_owned()));
            assert_eq!(found.as_deref(), Some(wanted));
        }
        let others = ["libonnxruntime.so.1.x", "libonnxruntime.sonnet", "libc.so.6"];
        assert_eq!(newest(others.iter().map(|&name| name.to_owned())), None);
    }
}
