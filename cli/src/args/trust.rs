//! The arguments of `link engine trust` and `link plugin trust`.

use std::path::PathBuf;

use clap::Args;

/// Which keys to trust.
#[derive(Args, Clone, Debug)]
pub struct TrustArguments {
    /// Public key, or a file with public keys
    #[arg(value_name = "KEY|FILE", required_unless_present_any = ["list", "remove"])]
    pub key: Option<PathBuf>,
    /// List the keys that were added on this machine
    #[arg(long, conflicts_with = "key")]
    pub list: bool,
    /// Key to stop trusting
    #[arg(long, value_name = "KEY", conflicts_with_all = ["key", "list"])]
    pub remove: Option<String>,
}
