//! `cargo xtask web`: builds the pages in `web/` into `web/dist`, from which the backend embeds them.
//!
//! The types of the API must fit `docs/openapi.json`, and the built files must fit their budgets in bytes.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: runs Node, from the folder that `scripts/prepare` names"
)]

mod budget;

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context as _;
use clap::Args;

/// The version of Node that `scripts/prepare web` installs.
const NODE: &str = "24.19.0";
/// The page from which every address of the application starts, below the root of the repository.
const PAGE: &str = "web/dist/app/index.html";

/// What to do with the pages.
#[derive(Args)]
pub(crate) struct Options {
    /// Write the types of the API to `web/src/data/schema.d.ts` instead of checking them
    #[arg(long)]
    types: bool,
    /// Run the tests of the pages too
    #[arg(long)]
    test: bool,
}

/// Builds the pages and returns a report of their sizes.
///
/// # Errors
/// If a check, the build or a test fails, or a budget is exceeded.
pub(crate) fn run(root: &Path, options: &Options) -> anyhow::Result<String> {
    let node = Node::prepared(root)?;
    let schema = [
        "openapi-typescript/bin/cli.js",
        "../docs/openapi.json",
        "--output",
        "src/data/schema.d.ts",
    ];
    if options.types {
        node.run("the types of the API", &schema)?;
    } else {
        let check = [&schema[..], &["--check"]].concat();
        node.run("the check of the API's types (`cargo xtask web --types` writes them)", &check)?;
    }
    node.run("the check of the sources", &["typescript/bin/tsc", "--noEmit"])?;
    node.run("the build", &["vite/bin/vite.js", "build", "--logLevel", "warn"])?;
    if options.test {
        node.run("the check of the build", &["../check_build.ts"])?;
        node.run("the tests", &["vitest/vitest.mjs", "run"])?;
        node.run("the check of the accessibility trees", &["../pictures/trees.ts"])?;
        node.run("the check of the dialogs by keyboard", &["../pictures/keyboard.ts"])?;
        node.run("the check of bad days", &["../pictures/bad_days.ts"])?;
        let out = root.join("target/screenshots");
        let out =
            out.to_str().context("the folder of the pictures has a name that is not UTF-8")?;
        node.run("the check of the pages in Chromium", &["../pictures/check.ts", out])?;
    }
    budget::check(&root.join("web/dist/app"))
}

/// What to take pictures of.
#[derive(Args)]
pub(crate) struct Pictures {
    /// Where the pictures go
    #[arg(long, value_name = "DIR", default_value = "target/screenshots")]
    out: PathBuf,
    /// Only the pages whose names contain this word
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
    /// How to look at them, separated by commas: light, dark, phone, narrow, large, forced
    #[arg(long, default_value = "light,dark,phone")]
    looks: String,
    /// With what in the account, separated by commas: empty, one, many, failing, broken, loading, hostile
    #[arg(long, default_value = "empty,one,many,failing,broken,loading,hostile")]
    worlds: String,
    /// Take the pictures of the documentation into docs/pages instead
    #[arg(long, conflicts_with_all = ["out", "only"])]
    docs: bool,
    /// Write what a screen reader finds in five tasks to web/pictures/trees instead of checking it
    #[arg(long, conflicts_with = "docs")]
    trees: bool,
}

/// Builds the pages, takes pictures of them with Debian's Chromium and a made-up backend, and checks each for violations of
/// accessibility, messages in the console and things that are wider than the screen.
///
/// # Errors
/// If the build fails, or a page has a fault.
pub(crate) fn pictures(root: &Path, pictures: &Pictures) -> anyhow::Result<()> {
    let node = Node::prepared(root)?;
    node.run("the build", &["vite/bin/vite.js", "build", "--logLevel", "warn"])?;
    let trees = "../pictures/trees.ts";
    if pictures.trees {
        return node.run("the accessibility trees", &[trees, "--write"]);
    }
    let out = if pictures.docs { root.join("docs/pages") } else { root.join(&pictures.out) };
    let out = out.to_str().context("the folder of the pictures has a name that is not UTF-8")?;
    let only = pictures.only.as_deref().unwrap_or_default();
    let (looks, worlds) = (pictures.looks.as_str(), pictures.worlds.as_str());
    let script = "../pictures/take.ts";
    let mut arguments = vec![script, out, "--only", only, "--looks", looks, "--worlds", worlds];
    if pictures.docs {
        arguments.push("--docs");
    } else {
        node.run("the check of the accessibility trees", &[trees])?;
    }
    node.run("the pictures", &arguments)
}

/// Fails if the pages are not built: a release without them is not shipped.
///
/// # Errors
/// If the pages are not built.
pub(crate) fn ensure_built(root: &Path) -> anyhow::Result<()> {
    let built = root.join(PAGE).is_file();
    anyhow::ensure!(
        built,
        "`{PAGE}` is missing: run `scripts/prepare web` and `cargo xtask web` first"
    );
    Ok(())
}

/// The prepared Node, and the packages of the pages.
struct Node {
    program: PathBuf,
    web: PathBuf,
}

impl Node {
    fn prepared(root: &Path) -> anyhow::Result<Self> {
        let cache = cache().context("neither `LINK_CACHE`, `XDG_CACHE_HOME` nor `HOME` is set")?;
        let program = cache.join(format!("node-{NODE}/bin/node"));
        let web = root.join("web");
        let prepared = program.is_file() && web.join("node_modules/.prepared").is_file();
        anyhow::ensure!(
            prepared,
            "Node or its packages are missing: run `scripts/prepare web` first"
        );
        Ok(Self { program, web })
    }

    /// Runs a program of a package. The first argument is its path in the folder of the packages.
    fn run(&self, what: &str, arguments: &[&str]) -> anyhow::Result<()> {
        let (script, rest) = arguments.split_first().context("a program has a path")?;
        let status = Command::new(&self.program)
            .arg(Path::new("node_modules").join(script))
            .args(rest)
            .current_dir(&self.web)
            .status()
            .with_context(|| format!("failed to start `{}`", self.program.display()))?;
        anyhow::ensure!(status.success(), "{what} failed");
        Ok(())
    }
}

/// Returns the folder in which `scripts/prepare` keeps what it fetches.
pub(crate) fn cache() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value: &OsString| !value.is_empty());
    if let Some(cache) = set("LINK_CACHE") {
        return Some(cache.into());
    }
    let base = set("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")))?;
    Some(base.join("link-dev"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_are_built_if_their_first_page_is_a_file() {
        let root = tempfile::tempdir().unwrap();
        let page = root.path().join(PAGE);
        std::fs::create_dir_all(page.parent().unwrap()).unwrap();
        let refused = ensure_built(root.path()).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("`{PAGE}` is missing")), "{refused}");
        std::fs::write(&page, "").unwrap();
        ensure_built(root.path()).unwrap();
    }
}
