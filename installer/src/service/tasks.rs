//! The task scheduler of Windows: registers, runs, disables and deletes the task of this user.
//!
//! Every question is a call of `schtasks`. Only its exit codes and the XML of a task are read: its texts are in the
//! language of the system.

use std::{
    io,
    path::{Path, PathBuf},
};

use link_platform::{
    fs,
    process::{self, Answer, Call},
    user_manager,
};

use super::PATIENCE;
use crate::{decide::service::task, layout::Layout};

/// Returns the path of the text that was given to the scheduler.
pub(super) fn path(layout: &Layout) -> PathBuf {
    layout.roots().data.join("service").join("task.xml")
}

/// Returns whether the scheduler answers.
pub(super) fn answers() -> bool {
    user_manager::user_id().is_some() && schtasks(&["/Query"]).is_ok_and(|answer| answer.success)
}

/// Returns whether the scheduler has the task.
pub(super) fn is_registered() -> bool {
    ask("/Query", &[]).is_ok()
}

/// Returns whether the scheduler may start the task.
pub(super) fn is_enabled() -> bool {
    let asked = ask("/Query", &["/XML"]);
    asked.is_ok_and(|answer| task::is_enabled(&answer.stdout))
}

/// Registers the task of the file at `path`, or replaces it.
pub(super) fn register(path: &Path) -> io::Result<()> {
    let path = path.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    ask("/Create", &["/XML", path, "/F"]).map(drop)
}

/// Writes the text as the scheduler reads it: UTF-16 with a byte order mark.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
    let bytes: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
    fs::write_atomic(path, &bytes).map_err(io::Error::other)
}

/// Reads a text that [`write`] has written.
pub(super) fn read(bytes: &[u8]) -> Option<String> {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let units: Vec<u16> = units.skip_while(|unit| *unit == 0xFEFF).collect();
    String::from_utf16(&units).ok()
}

/// Lets the scheduler start the task, now and at each logon.
pub(super) fn start() -> io::Result<()> {
    ask("/Change", &["/ENABLE"])?;
    ask("/Run", &[]).map(drop)
}

/// Keeps the scheduler from starting the task again. The caller ends the guard.
pub(super) fn disable() -> io::Result<()> {
    ask("/Change", &["/DISABLE"]).map(drop)
}

/// Deletes the task. A task that is not registered counts as deleted.
pub(super) fn delete() -> io::Result<()> {
    if !is_registered() {
        return Ok(());
    }
    ask("/Delete", &["/F"]).map(drop)
}

fn ask(verb: &str, more: &[&str]) -> io::Result<Answer> {
    let user = user_manager::user_id().ok_or_else(|| io::Error::other("the user is unknown"))?;
    let name = format!("{}-{user}", task::NAME);
    let answer = schtasks(&[&[verb, "/TN", &name], more].concat())?;
    if answer.success { Ok(answer) } else { Err(io::Error::other(answer.stderr)) }
}

fn schtasks(words: &[&str]) -> io::Result<Answer> {
    let args = words.iter().map(Into::into).collect();
    let program = process::of_the_system("schtasks");
    process::call(&Call { program, args, env: None, limit: PATIENCE })
}
