//! Versions with the label of their channel, as a person reads them (specification, section 9).

use link_installer::{layout::Layout, receipt::Receipt};
use link_platform::paths::Roots;
use semver::Version;

/// Returns `version` with the label of the channel that it was installed from.
pub(crate) fn label(roots: &Roots, version: &Version) -> String {
    let receipt = Receipt::read(&Layout::new(roots.clone()).receipt());
    let channel = receipt.map(|receipt| receipt.channel(&version.to_string()));
    channel.unwrap_or_default().beside(version)
}

/// Returns the version of this program, with the label if the program is part of the installation in `roots`. A program that
/// was built in a checkout has no channel.
pub(crate) fn of_this_program(roots: &Roots) -> String {
    let own: Version = env!("CARGO_PKG_VERSION").parse().expect("the package's version is one");
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let is_installed = program.is_ok_and(|program| {
        roots.data.canonicalize().is_ok_and(|folder| program.starts_with(folder))
    });
    if is_installed { label(roots, &own) } else { own.to_string() }
}
