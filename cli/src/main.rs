//! The `link` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = link_platform::contain::take_over() {
        return code;
    }
    link_platform::names::keep_to_what_is_built_in();
    link_client::install_crypto();
    link_cli::run()
}
