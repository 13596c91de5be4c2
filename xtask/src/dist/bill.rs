//! The bill of materials of an archive (CycloneDX 1.5, JSON): every crate that is compiled into its programs.
//!
//! The list is that of `Cargo.lock` for the target, without crates that only build or test. It contains neither the
//! time nor the place of the build nor a random number, so a commit always has the same bill.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads `Cargo.lock`")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::Context as _;
use link_installer::layout::Product;
use semver::Version;
use serde_json::{Value, json};

use crate::dist::{
    File, Packed,
    crates::{Metadata, Package},
};

/// The SHA-256 of each crate of the registry, by name and version.
type Checksums = BTreeMap<(String, String), String>;

/// Returns the bill of an archive, named after it.
pub(super) fn of(root: &Path, archive: &Packed, version: &Version) -> anyhow::Result<File> {
    let metadata = Metadata::of(root, archive.target)?;
    let name = archive.name.trim_end_matches(".tar.gz");
    let bill = bill(&metadata, archive.product, name, version, &checksums(root)?)?;
    let contents = serde_json::to_vec_pretty(&bill).context("failed to write JSON")?;
    Ok(File::data(&format!("{name}.cdx.json"), contents))
}

/// The crates whose programs an archive contains.
const fn crates(product: Product) -> &'static [&'static str] {
    match product {
        Product::Agent => &["link-cli", "link-agent", "link-installer"],
        Product::Backend => &["link-cli", "link-backend"],
    }
}

fn bill(
    metadata: &Metadata,
    product: Product,
    name: &str,
    version: &Version,
    checksums: &Checksums,
) -> anyhow::Result<Value> {
    let wanted = crates(product);
    let is_root = |package: &&Package| {
        wanted.contains(&package.name.as_str()) && metadata.workspace_members.contains(&package.id)
    };
    let roots: Vec<&Package> = metadata.packages.iter().filter(is_root).collect();
    anyhow::ensure!(
        roots.len() == wanted.len(),
        "the workspace does not have the crates {wanted:?}"
    );
    let reached = reached(metadata, &roots)?;
    let components = reached.values().map(|(package, _)| component(package, checksums));
    let uses = reached.values().map(|(package, needs)| dependency(&package.url(), needs));
    let own = dependency(name, &roots.into_iter().collect());
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application", "bom-ref": name, "name": "link", "version": version.to_string(),
        }},
        "components": components.collect::<Vec<_>>(),
        "dependencies": std::iter::once(own).chain(uses).collect::<Vec<_>>(),
    }))
}

/// Returns the packages that are compiled into the programs of `roots` by package URL, each with those that it uses.
fn reached<'a>(
    metadata: &'a Metadata,
    roots: &[&'a Package],
) -> anyhow::Result<BTreeMap<String, (&'a Package, BTreeSet<&'a Package>)>> {
    let packages: BTreeMap<&str, &Package> =
        metadata.packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let nodes = &metadata.resolve.nodes;
    let nodes: BTreeMap<&str, _> = nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let mut reached = BTreeMap::new();
    let mut waiting = roots.to_vec();
    while let Some(package) = waiting.pop() {
        if reached.contains_key(&package.url()) {
            continue;
        }
        let node = nodes.get(package.id.as_str()).context("Cargo did not resolve a package")?;
        let compiled_in = node.deps.iter().filter(|dependency| dependency.is_compiled_in());
        let needs: BTreeSet<&Package> = compiled_in
            .filter_map(|dependency| packages.get(dependency.pkg.as_str()).copied())
            .collect();
        waiting.extend(&needs);
        reached.insert(package.url(), (package, needs));
    }
    Ok(reached)
}

fn component(package: &Package, checksums: &Checksums) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": package.url(),
        "name": package.name,
        "version": package.version,
        "purl": package.url(),
    });
    if let Some(sha256) = checksums.get(&(package.name.clone(), package.version.clone())) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sha256 }]);
    }
    if let Some(license) = &package.license {
        // The older form of Cargo is no expression of SPDX.
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    component
}

fn dependency(of: &str, needs: &BTreeSet<&Package>) -> Value {
    let needs: BTreeSet<String> = needs.iter().map(|package| package.url()).collect();
    json!({ "ref": of, "dependsOn": needs })
}

fn checksums(root: &Path) -> anyhow::Result<Checksums> {
    #[derive(serde::Deserialize)]
    struct Lock {
        package: Vec<Locked>,
    }
    #[derive(serde::Deserialize)]
    struct Locked {
        name: String,
        version: String,
        checksum: Option<String>,
    }
    let path = root.join("Cargo.lock");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("failed to read `{}`", path.display()))?;
    let lock: Lock =
        toml::from_str(&text).with_context(|| format!("failed to read `{}`", path.display()))?;
    let known = lock.package.into_iter().filter_map(|locked| {
        locked.checksum.map(|checksum| ((locked.name, locked.version), checksum))
    });
    Ok(known.collect())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;
    use crate::dist::target::Target;

    #[test]
    fn a_bill_is_the_same_each_time_and_lists_what_the_programs_contain() {
        let text = |product| {
            let name = "link-1.4.0-x86_64-unknown-linux-gnu.tar.gz".to_owned();
            let packed = Packed { target: Target::LinuxX86, product, name, files: Vec::new() };
            let file = of(crate::repository(), &packed, &Version::new(1, 4, 0)).unwrap();
            assert_eq!(file.name, "link-1.4.0-x86_64-unknown-linux-gnu.cdx.json");
            file.contents
        };
        let [device, backend] = [Product::Agent, Product::Backend].map(text);
        assert_eq!(device, text(Product::Agent));
        let names = |contents: &[u8]| -> BTreeSet<String> {
            let bill: Value = serde_json::from_slice(contents).unwrap();
            let components = bill["components"].as_array().unwrap();
            let named = components.iter().map(|component| component["name"].as_str().unwrap());
            named.map(str::to_owned).collect()
        };
        let (device, backend) = (names(&device), names(&backend));
        for name in ["link-agent", "rusqlite", "libsqlite3-sys", "rustls", "ring", "zenoh"] {
            assert!(device.contains(name), "{name}");
        }
        assert!(backend.contains("sqlx") && !device.contains("sqlx"));
        for name in ["cc", "proptest", "xtask", "windows-sys", "link-tests"] {
            assert!(!device.contains(name), "{name}");
        }
    }

    /// Needs `scripts/prepare validator bills`.
    #[test]
    fn a_bill_fits_the_schema_of_cyclonedx() {
        let folder = tempfile::tempdir().unwrap();
        let mut check = std::process::Command::new(crate::repository().join("scripts/check-bills"));
        for target in Target::value_variants() {
            for (name, product) in [("device", Product::Agent), ("backend", Product::Backend)] {
                let name = format!("link-1.4.0-{}-{name}.tar.gz", target.triple());
                let packed = Packed { target: *target, product, name, files: Vec::new() };
                let file = of(crate::repository(), &packed, &Version::new(1, 4, 0)).unwrap();
                let path = folder.path().join(&file.name);
                std::fs::write(&path, file.contents).unwrap();
                check.arg(path);
            }
        }
        let ran = check.output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }

    #[test]
    fn each_reference_of_a_bill_names_one_component_of_it() {
        let name = "link-1.4.0.tar.gz".to_owned();
        let (target, product) = (Target::LinuxX86, Product::Agent);
        let packed = Packed { target, product, name, files: Vec::new() };
        let file = of(crate::repository(), &packed, &Version::new(1, 4, 0)).unwrap();
        let bill: Value = serde_json::from_slice(&file.contents).unwrap();
        let components = bill["components"].as_array().unwrap();
        let known: BTreeSet<_> =
            components.iter().map(|component| component["bom-ref"].as_str()).collect();
        assert_eq!(known.len(), components.len());
        for dependency in bill["dependencies"].as_array().unwrap() {
            for needed in dependency["dependsOn"].as_array().unwrap() {
                assert!(known.contains(&needed.as_str()), "{needed}");
            }
        }
        let serde = components.iter().find(|component| component["name"] == "serde").unwrap();
        assert_eq!(serde["hashes"][0]["content"].as_str().unwrap().len(), 64);
        assert_eq!(serde["licenses"][0]["expression"], "MIT OR Apache-2.0");
    }
}
