//! The `link` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    link_client::install_crypto();
    link_cli::run()
}
