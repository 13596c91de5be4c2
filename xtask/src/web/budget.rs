//! The sizes of the built pages against their budgets, in bytes as a browser receives them: compressed with Brotli.
//!
//! A page is the entry and one part that is loaded on demand, each with everything that it imports.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
};

use anyhow::Context as _;
use serde::Deserialize;

/// The most bytes of scripts and style sheets of the pages that people open first: the overview and the list of devices.
const FIRST_PAGE: u64 = 80_000;
/// The most bytes of scripts and style sheets of the workspace.
const WORKSPACE: u64 = 110_000;
/// The most bytes of scripts and style sheets of any page.
const ANY_PAGE: u64 = 130_000;
/// The most files that a browser needs before it draws anything, the page itself included.
const FIRST_FILES: usize = 4;
/// The parts of the first pages.
const FIRST_PARTS: [&str; 2] = ["src/pages/overview/page.tsx", "src/pages/devices/page.tsx"];
/// The part of the workspace.
const WORKSPACE_PART: &str = "src/pages/workspace/page.tsx";
/// The entry of the application.
const ENTRY: &str = "index.html";

/// What is for development alone: the page of all parts, and the pseudo-language.
const DEVELOPMENT: [&str; 3] = ["gallery", "/ui\"", "en-XA"];

/// What Vite says about its output, by the path of the source.
type Manifest = BTreeMap<String, Chunk>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    file: String,
    #[serde(default)]
    css: Vec<String>,
    #[serde(default)]
    imports: Vec<String>,
    #[serde(default)]
    dynamic_imports: Vec<String>,
}

/// Returns a report of the sizes of the pages in `folder`.
///
/// # Errors
/// If a file has no compressed copy, or a budget is exceeded.
pub(super) fn check(folder: &Path) -> anyhow::Result<String> {
    let path = folder.join(".vite/manifest.json");
    let manifest =
        std::fs::read(&path).with_context(|| format!("failed to read `{}`", path.display()))?;
    let manifest: Manifest = serde_json::from_slice(&manifest)
        .with_context(|| format!("failed to read `{}`", path.display()))?;
    let mut report = String::from("web: built; bytes of each page, compressed with Brotli:");
    refuse_development(folder, &manifest)?;
    let mut first = BTreeSet::new();
    add(&manifest, ENTRY, &mut first);
    let first = first.len() + 1;
    anyhow::ensure!(
        first <= FIRST_FILES,
        "a browser needs {first} files before it draws anything; at most {FIRST_FILES} are allowed"
    );
    let parts = parts(&manifest);
    anyhow::ensure!(!parts.is_empty(), "the entry of the build loads no page");
    for part in parts {
        let mut files = BTreeSet::new();
        add(&manifest, ENTRY, &mut files);
        add(&manifest, part, &mut files);
        let mut bytes = 0;
        for file in files {
            let compressed = folder.join(format!("{file}.br"));
            let metadata = std::fs::metadata(&compressed);
            bytes += metadata.with_context(|| format!("no `{}`", compressed.display()))?.len();
        }
        let budget = match part {
            WORKSPACE_PART => WORKSPACE,
            first if FIRST_PARTS.contains(&first) => FIRST_PAGE,
            _ => ANY_PAGE,
        };
        write!(report, "\n{bytes:>8} of {budget:>7}  {part}")?;
        anyhow::ensure!(bytes <= budget, "{report}\nthe page is larger than its budget");
    }
    write!(report, "\n{first:>8} of {FIRST_FILES:>7}  files before the first content")?;
    Ok(report)
}

/// Returns the parts that are loaded on demand, by the entry or by what it imports: the build may put the list of the pages
/// into a file of its own.
fn parts(manifest: &Manifest) -> BTreeSet<&str> {
    let mut files = BTreeSet::new();
    add(manifest, ENTRY, &mut files);
    let first = manifest.values().filter(|chunk| files.contains(chunk.file.as_str()));
    first.flat_map(|chunk| &chunk.dynamic_imports).map(String::as_str).collect()
}

/// Refuses a build with parts that are for development alone.
fn refuse_development(folder: &Path, manifest: &Manifest) -> anyhow::Result<()> {
    for Chunk { file, .. } in manifest.values() {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("failed to read `{}`", path.display()))?;
        for word in DEVELOPMENT {
            let found = text.contains(word);
            anyhow::ensure!(!found, "`{file}` has `{word}`, which is for development alone");
        }
    }
    Ok(())
}

/// Adds the files of a chunk and of everything that it imports.
fn add<'a>(manifest: &'a Manifest, name: &str, files: &mut BTreeSet<&'a str>) {
    let Some(chunk) = manifest.get(name) else { return };
    if !files.insert(&chunk.file) {
        return;
    }
    files.extend(chunk.css.iter().map(String::as_str));
    for import in &chunk.imports {
        add(manifest, import, files);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_larger_than_its_budget_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = r#"{
            "index.html": {"file": "a.js", "css": ["a.css"], "imports": ["_b.js"]},
            "_b.js": {"file": "b.js", "imports": ["index.html"], "dynamicImports": ["src/pages/devices/page.tsx"]},
            "src/pages/devices/page.tsx": {"file": "c.js", "imports": ["_b.js"]}
        }"#;
        std::fs::create_dir(folder.path().join(".vite")).unwrap();
        std::fs::write(folder.path().join(".vite/manifest.json"), manifest).unwrap();
        for name in ["a.js", "b.js", "c.js"] {
            std::fs::write(folder.path().join(name), "let a = 1;").unwrap();
        }
        for name in ["a.js", "a.css", "b.js"] {
            std::fs::write(folder.path().join(format!("{name}.br")), "12345").unwrap();
        }
        let missing = check(folder.path()).unwrap_err();
        assert!(format!("{missing:#}").contains("c.js.br"), "{missing:#}");
        std::fs::write(folder.path().join("c.js.br"), [0; 10]).unwrap();
        let fits = check(folder.path()).unwrap();
        assert!(fits.contains("25 of   80000") && fits.contains("4 of       4"), "{fits}");
        let scattered = manifest.replace(r#""css": ["a.css"]"#, r#""css": ["a.css", "b.css"]"#);
        std::fs::write(folder.path().join(".vite/manifest.json"), scattered).unwrap();
        let scattered = check(folder.path()).unwrap_err();
        assert!(format!("{scattered:#}").contains("5 files before"), "{scattered:#}");
        let aimless = manifest.replace("dynamicImports", "otherImports");
        std::fs::write(folder.path().join(".vite/manifest.json"), aimless).unwrap();
        let aimless = check(folder.path()).unwrap_err();
        assert!(format!("{aimless:#}").contains("loads no page"), "{aimless:#}");
        std::fs::write(folder.path().join(".vite/manifest.json"), manifest).unwrap();
        std::fs::write(folder.path().join("c.js.br"), vec![0; 80_000]).unwrap();
        let large = check(folder.path()).unwrap_err();
        assert!(format!("{large:#}").contains("larger than its budget"), "{large:#}");
        for word in DEVELOPMENT {
            std::fs::write(folder.path().join("c.js"), format!("let a = '{word}';")).unwrap();
            let refused = check(folder.path()).unwrap_err();
            assert!(format!("{refused:#}").contains("development alone"), "{refused:#}");
        }
    }
}
