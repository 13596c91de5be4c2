//! Shows a text that is longer than the screen in a pager.

#![expect(clippy::disallowed_methods, reason = "IO shell: starts the pager of the person's choice")]

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

/// Shows `text` in the pager of LINK_PAGER or PAGER, or by default in `less`. Returns false if there is no pager, or if
/// the variable is empty or `cat`.
pub(super) fn show(text: &str) -> bool {
    let chosen = ["LINK_PAGER", "PAGER"].iter().find_map(|name| std::env::var(name).ok());
    let chosen = chosen.unwrap_or_else(|| "less".to_owned());
    let mut words = chosen.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat") else { return false };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Keep the colours, and leave the text on the screen afterwards.
        command.env("LESS", "FRX");
    }
    let Ok(mut pager) = command.spawn() else { return false };
    if let Some(mut input) = pager.stdin.take() {
        // This fails if the person closes the pager before the end.
        let _seen_enough = input.write_all(text.as_bytes());
    }
    pager.wait().is_ok()
}
