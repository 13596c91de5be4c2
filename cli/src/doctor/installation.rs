//! The installed files, the command on PATH, the folders and the configuration of the agent.

use std::path::PathBuf;

use link_protocol::exit_code::ExitCode;

use super::{Area, Finding, Fix};

const RESTORE: &str = "run the command that installed Link again; it restores the files and keeps this device and its models";

/// What was seen of the installation.
#[derive(Clone, Debug)]
pub(crate) struct Installation {
    pub(crate) receipt: Receipt,
    pub(crate) command: Command,
    /// Whether a start file of a shell would be edited to put the command on PATH.
    pub(crate) path_can_be_edited: bool,
    /// Folders with secrets that other users of this machine may enter.
    pub(crate) open_to_others: Vec<PathBuf>,
    /// Folders that this user cannot write, each with the reason.
    pub(crate) unwritable: Vec<(PathBuf, String)>,
    /// The faults of `agent.json`.
    pub(crate) configuration: Option<String>,
}

/// The list of what the installer has placed.
#[derive(Clone, Debug)]
pub(crate) enum Receipt {
    Absent(PathBuf),
    Unreadable(String),
    /// The version in use, and its files that are missing or changed.
    Version {
        version: String,
        damaged: Vec<PathBuf>,
    },
}

/// What a new login shell runs as `link`.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    Ours,
    Other {
        found: PathBuf,
        ours: PathBuf,
    },
    Nothing {
        ours: PathBuf,
    },
    /// Why nobody was asked.
    NotAsked(String),
}

pub(crate) fn findings(facts: &Installation) -> Vec<Finding> {
    let mut findings = vec![installed(&facts.receipt), command(facts)];
    findings.extend(facts.open_to_others.iter().map(|folder| {
        let found = format!("other users of this machine may enter `{}`", folder.display());
        Finding::error(Area::Files, found, format!("chmod 700 {}", shell_word(folder)))
            .fixed_by(Fix::MakePrivate(folder.clone()))
            .exits(ExitCode::CannotWrite)
    }));
    findings.extend(facts.unwritable.iter().map(|(folder, why)| {
        let found = format!("Link cannot write to `{}`: {why}", folder.display());
        let cure = format!(
            "sudo chown -R \"$(id -un)\" {}; if the disk is full or read-only, correct that first",
            shell_word(folder)
        );
        Finding::error(Area::Files, found, cure).exits(ExitCode::CannotWrite)
    }));
    if facts.open_to_others.is_empty() && facts.unwritable.is_empty() {
        findings.push(Finding::ok(Area::Files, "the folders are private and can be written"));
    }
    findings.push(match &facts.configuration {
        None => Finding::ok(Area::Configuration, "`agent.json` has no faults"),
        Some(faults) => {
            Finding::error(Area::Configuration, faults, "correct the file, then run `link restart`")
                .exits(ExitCode::NotRunning)
        }
    });
    findings
}

fn installed(receipt: &Receipt) -> Finding {
    match receipt {
        Receipt::Absent(path) => Finding::skipped(
            Area::Installation,
            format!("there is no receipt `{}`, so the files cannot be compared", path.display()),
        ),
        Receipt::Unreadable(why) => Finding::error(
            Area::Installation,
            format!("the receipt of the installation is unusable: {why}"),
            RESTORE,
        )
        .exits(ExitCode::RepairIncomplete),
        Receipt::Version { version, damaged } if damaged.is_empty() => {
            Finding::ok(Area::Installation, format!("version {version}, every file is intact"))
        }
        Receipt::Version { version, damaged } => {
            let list: Vec<_> = damaged.iter().map(|path| format!("`{}`", path.display())).collect();
            let found =
                format!("files of version {version} are missing or changed: {}", list.join(", "));
            Finding::error(Area::Installation, found, RESTORE).exits(ExitCode::RepairIncomplete)
        }
    }
}

fn command(facts: &Installation) -> Finding {
    let (found, cure) = match &facts.command {
        Command::Ours => return Finding::ok(Area::Path, "a new login shell finds `link`"),
        Command::NotAsked(why) => return Finding::skipped(Area::Path, why),
        Command::Nothing { ours } => (
            "a new login shell does not find `link`".to_owned(),
            format!("type {} there, or put its folder on PATH", ours.display()),
        ),
        Command::Other { found, ours } => (
            format!("a new login shell runs {} as `link`", found.display()),
            format!("type {} there", ours.with_file_name("linkctl").display()),
        ),
    };
    let finding = Finding::warning(Area::Path, found, cure);
    if facts.path_can_be_edited { finding.fixed_by(Fix::PutOnPath) } else { finding }
}

/// Quotes a path for a shell where that is needed.
fn shell_word(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
