//! What `cargo xtask dist` says about the folder that it has written.

use std::path::Path;

use crate::dist::{File, Packed, statements::Statements};

/// Returns the report on the `files` in `out`. `trusts` says whether the programs in them trust the key that signed them.
pub(super) fn of(
    out: &Path,
    files: &[File],
    archives: &[Packed],
    statements: Option<&Statements>,
    trusts: bool,
) -> String {
    let mut report = format!("dist: {}", out.display());
    for file in files {
        report.push_str(&format!("\n  {} ({} bytes)", file.name, file.contents.len()));
    }
    for archive in archives {
        let unpacked: usize = archive.files.iter().map(|file| file.contents.len()).sum();
        let count = archive.files.len();
        report.push_str(&format!("\nin {}: {count} files, {unpacked} bytes", archive.name));
    }
    let Some(statements) = statements else {
        report.push_str(
            "\nNOT SIGNED: every build that trusts a release key refuses this release, and these programs trust no key but \
             those of LINK_RELEASE_KEYS; sign it with --sign-with FILE",
        );
        return report;
    };
    let key = statements.key.key.verifying();
    report.push_str(&format!("\nsigned with {} (key {})", key.public_key, key.kid));
    if !trusts {
        report.push_str(&format!(
            "\nbuilt for development: these programs trust a key only if they are started with LINK_DEV_RELEASE_KEYS={}",
            key.public_key
        ));
    }
    report
}
