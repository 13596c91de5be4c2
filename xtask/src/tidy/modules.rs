//! Which module may import which inside a crate: two modules must not import each other, not even through others.
//!
//! This continues the diagram of ARCHITECTURE.md inside each crate: sibling modules form layers and import only
//! downwards. The list of known findings contains the imports of existing cycles.

mod graph;
pub(crate) mod tree;

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::{
    Finding, TextFile,
    known::Known,
    lexer::RustFile,
    modules::{
        graph::{Arrow, Cause, Graph},
        tree::Tree,
    },
};

/// The maximum number of imported names that a finding lists.
const NAMES: usize = 4;

/// The imports inside one crate.
pub(crate) struct Crate {
    /// The path of the crate's root file.
    root: String,
    graph: Graph,
}

/// Reads the crates of `manifests`.
pub(crate) fn read(manifests: &[TextFile], sources: &[RustFile]) -> Vec<Crate> {
    let files: BTreeMap<_, _> = sources.iter().map(|file| (file.path.as_str(), file)).collect();
    let folders = manifests.iter().filter_map(|manifest| manifest.path.strip_suffix("Cargo.toml"));
    let folders = folders.filter(|folder| !folder.starts_with("spikes/"));
    let is_root = |folder: &str, path: &str| {
        path.strip_prefix(folder).is_some_and(|path| {
            let in_bin = path.strip_prefix("src/bin/").is_some_and(|name| !name.contains('/'));
            path == "src/lib.rs" || path == "src/main.rs" || in_bin
        })
    };
    folders
        .flat_map(|folder| files.keys().filter(move |path| is_root(folder, path)))
        .map(|root| Crate { root: (*root).to_owned(), graph: Graph::of(&Tree::read(root, &files)) })
        .collect()
}

/// Returns the imports that form a cycle or lead upwards, except the `known` ones.
pub(crate) fn check(crates: &[Crate], known: &mut Known<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Crate { root, graph } in crates {
        for (arrow, back) in graph.knotted() {
            if !known.take(&line_of(root, arrow)) {
                findings.push(finding(arrow, &graph.arrows[arrow], &back));
            }
        }
    }
    findings
}

/// Returns the line that represents `arrow` in the list of known findings.
fn line_of(root: &str, arrow: &Arrow) -> String {
    format!("{root}: {} -> {}", named(&arrow.from), named(&arrow.to))
}

fn named(module: &[String]) -> String {
    if module.is_empty() { "crate".to_owned() } else { module.join("::") }
}

fn finding(arrow: &Arrow, cause: &Cause, back: &[Vec<String>]) -> Finding {
    let (from, to) = (named(&arrow.from), named(&arrow.to));
    let names: Vec<_> = cause.names.iter().take(NAMES).map(|name| format!("`{name}`")).collect();
    let names = names.join(", ") + if cause.names.len() > NAMES { ", …" } else { "" };
    let message = if arrow.is_upward() {
        format!(
            "`{from}` imports {names} from `{to}`, which stands above its parent: move it down to where it is needed, \
             or pass it as an argument"
        )
    } else {
        let way: Vec<_> = back.iter().map(|module| named(module)).collect();
        format!(
            "`{from}` imports {names} from `{to}`, which imports `{from}` again ({}): move what both need into a module \
             below both, or pass it as an argument",
            way.join(" → ")
        )
    };
    Finding { path: cause.file.clone(), line: cause.line, rule: "modules", message }
}

/// Returns a line for each crate, with the number of imports and cycles.
pub(crate) fn summary(crates: &[Crate]) -> String {
    let lines = crates.iter().filter(|inside| !inside.graph.arrows.is_empty()).map(|inside| {
        let circles = inside.graph.circles();
        let upward = inside.graph.arrows.keys().filter(|arrow| arrow.is_upward()).count();
        let sizes: Vec<_> = circles.iter().map(|circle| circle.len().to_string()).collect();
        let circles = match sizes.as_slice() {
            [] => "no circle".to_owned(),
            [size] => format!("a circle of {size}"),
            sizes => format!("circles of {}", sizes.join(", ")),
        };
        let arrows = inside.graph.arrows.len();
        format!("modules: {}: {arrows} arrows, {upward} upward, {circles}\n", inside.root)
    });
    lines.collect()
}

/// Returns the import graphs, with their cycles, of the crates whose root begins with `folder`.
pub(crate) fn graphs(crates: &[Crate], folder: &str) -> String {
    let crates = crates.iter().filter(|inside| inside.root.starts_with(folder));
    let texts = crates.map(|Crate { root, graph }| {
        let knotted: BTreeSet<_> =
            graph.knotted().into_keys().map(|arrow| line_of(root, arrow) + "\n").collect();
        format!("{root}\n{}{}", graph.to_text(), knotted.into_iter().collect::<String>())
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
