//! Which crate may depend on which: the diagram of ARCHITECTURE.md as a table.
//!
//! Imports only point downwards, no program imports another, and pure crates depend on no crate that does IO. Test
//! dependencies (`dev-dependencies`) and spikes in their own workspace are not checked.

use anyhow::Context as _;
use toml::{Table, Value};

use crate::tidy::{Finding, TextFile};

/// The crates that a crate may depend on.
struct Crate {
    folder: &'static str,
    /// Crates of this workspace; `None` means any.
    workspace: Option<&'static [&'static str]>,
    /// External crates; `None` means any.
    others: Option<&'static [&'static str]>,
}

const CRATES: &[Crate] = &[
    Crate {
        folder: "protocol",
        workspace: Some(&[]),
        others: Some(&[
            "base64",
            "jiff",
            "ring",
            "schemars",
            "semver",
            "serde",
            "serde_json",
            "serde_path_to_error",
            "sha2",
            "thiserror",
            "toml",
            "utoipa",
            "uuid",
        ]),
    },
    Crate { folder: "platform", workspace: Some(&[]), others: None },
    Crate {
        folder: "sqlite",
        workspace: Some(&[]),
        others: Some(&["rusqlite", "sha2", "thiserror"]),
    },
    Crate { folder: "client", workspace: Some(&["link-protocol", "link-platform"]), others: None },
    Crate {
        folder: "installer",
        workspace: Some(&["link-protocol", "link-platform", "link-client"]),
        others: None,
    },
    Crate {
        folder: "agent/core",
        workspace: Some(&["link-protocol"]),
        others: Some(&["jiff", "semver", "serde", "serde_json", "thiserror"]),
    },
    Crate {
        folder: "agent",
        workspace: Some(&[
            "link-protocol",
            "link-platform",
            "link-client",
            "link-installer",
            "link-agent-core",
            "link-sqlite",
        ]),
        others: None,
    },
    Crate {
        folder: "backend",
        workspace: Some(&["link-protocol", "link-platform", "link-sqlite"]),
        others: None,
    },
    Crate {
        folder: "cli",
        workspace: Some(&["link-protocol", "link-platform", "link-client", "link-installer"]),
        others: None,
    },
    Crate {
        folder: "load",
        workspace: Some(&["link-protocol", "link-platform", "link-client"]),
        others: None,
    },
    // A classifier is a program of its own; the agent starts it and depends on none of it.
    Crate { folder: "engines/classifier", workspace: Some(&["link-platform"]), others: None },
    Crate {
        folder: "engines/image_classifier",
        workspace: Some(&["link-plugin-classifier"]),
        others: None,
    },
    Crate {
        folder: "engines/audio_classifier",
        workspace: Some(&["link-plugin-classifier"]),
        others: None,
    },
    Crate { folder: "tests", workspace: None, others: None },
    Crate { folder: "xtask", workspace: None, others: None },
];

/// Checks the manifests of all crates, including the workspace's own.
pub(crate) fn check(manifests: &[TextFile]) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut shared = Table::new();
    let mut parsed = Vec::new();
    for manifest in manifests {
        let table: Table = manifest
            .text
            .parse()
            .with_context(|| format!("failed to parse `{}`", manifest.path))?;
        if let Some(dependencies) =
            table.get("workspace").and_then(|workspace| workspace.get("dependencies"))
            && manifest.path == "Cargo.toml"
        {
            shared = dependencies.as_table().cloned().unwrap_or_default();
        }
        parsed.push((manifest, table));
    }
    let is_ours = |table: &Table| table.contains_key("package") && !table.contains_key("workspace");
    for (manifest, table) in parsed.iter().filter(|(_, table)| is_ours(table)) {
        findings.extend(check_crate(manifest, table, &shared));
    }
    Ok(findings)
}

fn check_crate(manifest: &TextFile, table: &Table, shared: &Table) -> Vec<Finding> {
    let finding = |key: &str, rule, message| Finding {
        path: manifest.path.clone(),
        line: line_of(&manifest.text, key),
        rule,
        message,
    };
    let folder = manifest.path.trim_end_matches("Cargo.toml").trim_end_matches('/');
    let Some(rules) = CRATES.iter().find(|rules| is_in(folder, rules.folder)) else {
        let message =
            format!("`{folder}` is not in the table of crates in xtask/src/tidy/edges.rs");
        return vec![finding("[package]", "edges", message)];
    };

    let mut findings = Vec::new();
    if table.contains_key("target") && folder != "platform" {
        let message = "only `platform` may distinguish operating systems".to_owned();
        findings.push(finding("[target", "system-cfg", message));
    }
    for (key, package) in dependencies(table, shared) {
        let ours = shared.get(&package).is_some_and(|value| value.get("path").is_some());
        let (allowed, kind) =
            if ours { (rules.workspace, "edges") } else { (rules.others, "pure-crate") };
        if allowed.is_some_and(|allowed| !allowed.contains(&package.as_str())) {
            let message = format!("`{folder}` may not depend on `{package}`; see ARCHITECTURE.md");
            findings.push(finding(&key, kind, message));
        }
    }
    findings
}

fn is_in(folder: &str, pattern: &str) -> bool {
    match pattern.strip_suffix("/*") {
        Some(parent) => folder.rsplit_once('/').is_some_and(|(above, _)| above == parent),
        None => folder == pattern,
    }
}

/// Returns the key and the package of every dependency of a crate, on any operating system.
fn dependencies(table: &Table, shared: &Table) -> Vec<(String, String)> {
    let targets = table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let holders = targets.filter_map(Value::as_table).chain([table]);
    holders
        .flat_map(|holder| ["dependencies", "build-dependencies"].map(|name| holder.get(name)))
        .flatten()
        .filter_map(Value::as_table)
        .flat_map(Table::iter)
        .map(|(key, value)| (key.clone(), package(key, value, shared)))
        .collect()
}

/// Returns the name of the package behind a key, which may be an alias.
fn package(key: &str, value: &Value, shared: &Table) -> String {
    let alias = value.get("package").or_else(|| shared.get(key)?.get("package"));
    alias.and_then(Value::as_str).unwrap_or(key).to_owned()
}

fn line_of(text: &str, key: &str) -> usize {
    let is_key =
        |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
    text.lines()
        .position(|line| line.strip_prefix(key).is_some_and(is_key))
        .map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str = "[workspace.dependencies]\n\
        link-protocol = { path = \"protocol\" }\n\
        link-agent = { path = \"agent\" }\n\
        link-backend = { path = \"backend\" }\n\
        hidden = { package = \"tokio\", version = \"1\" }\n\
        tokio = \"1\"\nserde = \"1\"\n";

    fn findings(path: &str, manifest: &str) -> Vec<String> {
        let file =
            |path: &str, text: &str| TextFile { path: path.to_owned(), text: text.to_owned() };
        let manifest = format!("[package]\nname = \"x\"\n{manifest}");
        let found = check(&[file("Cargo.toml", WORKSPACE), file(path, &manifest)]).unwrap();
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_edge_of_the_picture_is_fine() {
        let manifest = "[dependencies]\nlink-protocol.workspace = true\ntokio.workspace = true\n";
        assert_eq!(findings("backend/Cargo.toml", manifest), [""; 0]);
        assert_eq!(findings("load/Cargo.toml", manifest), [""; 0]);
    }

    #[test]
    fn a_program_does_not_import_another() {
        let found = findings(
            "cli/Cargo.toml",
            "[dependencies]\nserde.workspace = true\nlink-agent.workspace = true\n",
        );
        assert_eq!(
            found,
            ["cli/Cargo.toml:5: edges: `cli` may not depend on `link-agent`; see ARCHITECTURE.md"]
        );
    }

    #[test]
    fn an_edge_for_one_system_or_for_building_counts_too() {
        for table in ["[build-dependencies]", "[target.'cfg(unix)'.dependencies]"] {
            let found =
                findings("platform/Cargo.toml", &format!("{table}\nlink-agent.workspace = true\n"));
            assert_eq!(found.len(), 1, "{found:?}");
        }
    }

    #[test]
    fn a_dependency_for_tests_does_not_count() {
        assert_eq!(
            findings("protocol/Cargo.toml", "[dev-dependencies]\ntokio.workspace = true\n"),
            [""; 0]
        );
    }

    #[test]
    fn a_pure_crate_takes_listed_crates_only_whatever_their_alias() {
        assert_eq!(
            findings("protocol/Cargo.toml", "[dependencies]\nserde.workspace = true\n"),
            [""; 0]
        );
        for dependency in [
            "tokio.workspace = true",
            "hidden.workspace = true",
            "a = { package = \"tokio\", version = \"1\" }",
        ] {
            let found = findings("protocol/Cargo.toml", &format!("[dependencies]\n{dependency}\n"));
            assert_eq!(
                found,
                [
                    "protocol/Cargo.toml:4: pure-crate: `protocol` may not depend on `tokio`; see ARCHITECTURE.md"
                ]
            );
        }
    }

    #[test]
    fn a_crate_outside_the_picture_is_refused() {
        assert_eq!(findings("extra/Cargo.toml", "").len(), 1);
        assert_eq!(findings("engines/a/b/Cargo.toml", "").len(), 1);
        assert_eq!(
            findings("spikes/a/Cargo.toml", "[workspace]\n[dependencies]\ntokio = \"1\"\n"),
            [""; 0]
        );
    }

    #[test]
    fn only_platform_has_dependencies_for_one_system() {
        let manifest = "[target.'cfg(unix)'.dependencies]\nserde.workspace = true\n";
        assert_eq!(findings("platform/Cargo.toml", manifest), [""; 0]);
        assert_eq!(findings("agent/Cargo.toml", manifest).len(), 1);
    }
}
