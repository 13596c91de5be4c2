//! `link up`, `link down` and `link open`.

use clap::Args;
use link_protocol::port::Port;

/// `link up`.
#[derive(Args, Clone, Copy, Debug)]
pub struct Up {
    /// Port of the backend [default: its last port, or the first free port from 8000]
    #[arg(long, value_name = "N")]
    pub port: Option<Port>,
}

/// `link down`.
#[derive(Args, Clone, Copy, Debug)]
pub struct Down {
    /// Also delete the backend's data and this device's registration and models
    #[arg(long)]
    pub purge: bool,
    /// Do not ask for confirmation
    #[arg(long, short, requires = "purge")]
    pub yes: bool,
}

/// `link open`.
#[derive(Args, Clone, Copy, Debug)]
pub struct Open {
    /// Print the address instead of opening a browser; it works once, within 30 seconds
    #[arg(long)]
    pub print: bool,
}

pub(super) const UP_EXAMPLES: &str = "\
Examples:
  link up
  link up --port 8100
  link up && link run ./smollm.gguf \"Why is the sky blue?\"

Starts your own backend, which only this machine can reach, creates your account, registers this device
and starts the agent; skips the steps that are done already. There is no password: a file that only you
can read proves who you are. `link account password` sets a password.";

pub(super) const DOWN_EXAMPLES: &str = "\
Examples:
  link down
  link down --purge
  link down --purge --yes

`link up` restarts what `link down` stopped, with all its data; with systemd, so does the next boot.
`--purge` keeps the programs of the device; `link uninstall` deletes them.";

pub(super) const OPEN_EXAMPLES: &str = "\
Examples:
  link open
  link open --print

A code in the address logs the browser in. The code works once, within 30 seconds. If no browser can be
opened, the address is printed.";
