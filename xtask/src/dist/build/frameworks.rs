//! Stand-ins for the libraries of macOS, which only Apple's own kit contains: a text file for each, with the symbols
//! that the crates of this build declare.
//!
//! The linker needs no more than the names: the program loads the real libraries. A symbol is assigned to a library by
//! Apple's prefixes. A wrong assignment is noticed only on a Mac, when a program starts.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads sources and writes stand-ins")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use syn::visit::{self, Visit};

use crate::dist::{crates::Metadata, target::Target};

/// A library, where macOS has it, and the prefixes of its symbols.
struct Library {
    file: &'static str,
    install_name: &'static str,
    prefixes: &'static [&'static str],
}

const LIBRARIES: &[Library] = &[
    Library {
        file: "CoreFoundation.framework/CoreFoundation.tbd",
        install_name: "/System/Library/Frameworks/CoreFoundation.framework/Versions/A/CoreFoundation",
        prefixes: &["CF", "kCF", "__CF"],
    },
    Library {
        file: "Security.framework/Security.tbd",
        install_name: "/System/Library/Frameworks/Security.framework/Versions/A/Security",
        prefixes: &["Sec", "kSec", "SSL", "CMS"],
    },
    Library {
        file: "SystemConfiguration.framework/SystemConfiguration.tbd",
        install_name: "/System/Library/Frameworks/SystemConfiguration.framework/Versions/A/SystemConfiguration",
        prefixes: &["SC", "kSC"],
    },
    Library {
        file: "IOKit.framework/IOKit.tbd",
        install_name: "/System/Library/Frameworks/IOKit.framework/Versions/A/IOKit",
        prefixes: &["IO", "kIO"],
    },
    Library {
        file: "libobjc.tbd",
        install_name: "/usr/lib/libobjc.A.dylib",
        prefixes: &["objc_", "sel_", "class_", "object_"],
    },
];

/// Writes the stand-ins for the crates of `target` into `folder`, and returns it.
pub(super) fn write(root: &Path, target: Target, folder: &Path) -> anyhow::Result<PathBuf> {
    let folder = folder.join(target.triple());
    let metadata = Metadata::of(root, target)?;
    let mut symbols = BTreeSet::new();
    for package in &metadata.packages {
        let sources =
            package.manifest_path.parent().context("a manifest has a folder")?.join("src");
        collect(&sources, &mut symbols)?;
    }
    for (library, symbols) in LIBRARIES.iter().zip(assigned(&symbols)) {
        let path = folder.join(library.file);
        let parent = path.parent().context("a stand-in has a folder")?;
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, text(library.install_name, &symbols)))
            .with_context(|| format!("failed to write `{}`", path.display()))?;
    }
    Ok(folder)
}

/// Adds the foreign functions and variables that the Rust files below `folder` declare.
fn collect(folder: &Path, symbols: &mut BTreeSet<String>) -> anyhow::Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.with_context(|| format!("failed to read `{}`", folder.display()))?.path();
        if path.is_dir() {
            collect(&path, symbols)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = std::fs::read_to_string(&path).unwrap_or_default();
            symbols.extend(declared(&source));
        }
    }
    Ok(())
}

/// Returns the foreign symbols that a source file declares. None if it declares none or is not Rust, such as a template.
fn declared(source: &str) -> BTreeSet<String> {
    struct Foreign(BTreeSet<String>);
    impl<'a> Visit<'a> for Foreign {
        fn visit_foreign_item_fn(&mut self, item: &'a syn::ForeignItemFn) {
            self.0.insert(linked(&item.attrs, &item.sig.ident));
            visit::visit_foreign_item_fn(self, item);
        }

        fn visit_foreign_item_static(&mut self, item: &'a syn::ForeignItemStatic) {
            self.0.insert(linked(&item.attrs, &item.ident));
        }
    }
    let mut found = Foreign(BTreeSet::new());
    if source.contains("extern")
        && let Ok(file) = syn::parse_file(source)
    {
        found.visit_file(&file);
    }
    found.0
}

/// Returns the name by which an item is linked.
fn linked(attributes: &[syn::Attribute], ident: &syn::Ident) -> String {
    let named = attributes.iter().find_map(|attribute| {
        let pair = attribute.meta.require_name_value().ok()?;
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }) = &pair.value else {
            return None;
        };
        pair.path.is_ident("link_name").then(|| name.value())
    });
    named.unwrap_or_else(|| ident.to_string())
}

/// Returns the symbols of each library.
fn assigned(symbols: &BTreeSet<String>) -> Vec<BTreeSet<&str>> {
    let mut assigned = BTreeMap::new();
    for symbol in symbols {
        let is_of =
            |library: &Library| library.prefixes.iter().any(|start| symbol.starts_with(start));
        if let Some(at) = LIBRARIES.iter().position(is_of) {
            assigned.entry(at).or_insert_with(BTreeSet::new).insert(symbol.as_str());
        }
    }
    (0..LIBRARIES.len()).map(|at| assigned.remove(&at).unwrap_or_default()).collect()
}

/// Returns the text of a stand-in, in Apple's format.
fn text(install_name: &str, symbols: &BTreeSet<&str>) -> String {
    let targets = "[ x86_64-macos, arm64-macos ]";
    let symbols: Vec<String> = symbols.iter().map(|symbol| format!("_{symbol}")).collect();
    format!(
        "--- !tapi-tbd\ntbd-version: 4\ntargets: {targets}\ninstall-name: '{install_name}'\ncurrent-version: 1\n\
         compatibility-version: 1\nexports:\n  - targets: {targets}\n    symbols: [ {} ]\n...\n",
        symbols.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_found_wherever_it_is_declared_and_belongs_to_the_library_of_its_prefix() {
        let source = r#"
            #[link(name = "CoreFoundation", kind = "framework")]
            unsafe extern "C" { pub fn CFRelease(object: *const u8); pub static kCFNull: u8; }
            fn wrapped() { extern "C-unwind" { #[link_name = "IOObjectRelease"] fn release(object: u32); } }
            extern "C" { fn malloc(size: usize); }
        "#;
        let symbols = declared(source);
        let [core, _, _, kit, _] = &assigned(&symbols)[..] else { panic!("another library") };
        assert_eq!(core.iter().copied().collect::<Vec<_>>(), ["CFRelease", "kCFNull"]);
        assert_eq!(kit.iter().copied().collect::<Vec<_>>(), ["IOObjectRelease"]);
        assert!(declared("extern crate {{ template }}").is_empty());
        assert!(text("/usr/lib/x", core).contains("symbols: [ _CFRelease, _kCFNull ]\n"));
    }
}
