//! Versions with the label of their channel, as a person reads them (specification, section 9).

use link_installer::{
    layout::{Layout, RECEIPT},
    receipt::Receipt,
};
use link_platform::paths::Roots;
use semver::Version;

/// The folders above a program of an installation: its version, all versions, and the one with the receipt.
const DEPTH: usize = 3;

/// Returns `version` with the label of the channel that it was installed from.
pub(crate) fn label(roots: &Roots, version: &Version) -> String {
    let receipt = Receipt::read(&Layout::new(roots.clone()).receipt());
    let channel = receipt.map(|receipt| receipt.channel(&version.to_string()));
    channel.unwrap_or_default().beside(version)
}

/// Returns the version of this program, with the label if the program is part of an installation, whose receipt stands above
/// it. A program that was built in a checkout has no channel, nor has a copy in the folder of commands.
pub(crate) fn of_this_program() -> String {
    let own: Version = env!("CARGO_PKG_VERSION").parse().expect("the package's version is one");
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let folders = program.iter().flat_map(|program| program.ancestors().skip(1).take(DEPTH));
    let receipt = folders.filter_map(|folder| Receipt::read(&folder.join(RECEIPT))).next();
    let channel = receipt.map(|receipt| receipt.channel(&own.to_string()));
    channel.unwrap_or_default().beside(&own)
}
