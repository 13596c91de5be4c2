//! The text of the systemd unit, escaped by systemd's rules. Pure.

use std::path::{Path, PathBuf};

/// The values of the unit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unit {
    /// The guard's path.
    pub program: PathBuf,
    /// Environment of the guard. Never a secret: every user can read the file.
    pub environment: Vec<(String, String)>,
}

impl Unit {
    /// Adds the variables of the previous unit in `had`, except those that have new values. The variable of a proxy has an
    /// upper-case and a lower-case name, and Link's programs read the upper-case name first. So a new value under one name
    /// also removes the old value under the other.
    #[must_use]
    pub fn keeping(mut self, had: &[(String, String)]) -> Self {
        let mut kept = had.to_vec();
        kept.retain(|(known, _)| {
            let is_other_form = |(name, _): &(String, String)| {
                name != known && name.to_lowercase() == known.to_lowercase()
            };
            !self.environment.iter().any(is_other_form)
        });
        for (name, value) in self.environment {
            match kept.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => kept.push((name, value)),
            }
        }
        self.environment = kept;
        self
    }

    /// Returns the text. None if a path or a value cannot be written in a unit.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let program = quoted(self.program.to_str()?)?;
        let mut environment = String::new();
        for (name, value) in &self.environment {
            let assignment = quoted(&format!("{name}={value}"))?;
            environment.push_str(&format!("Environment={assignment}\n"));
        }
        Some(format!(
            "# Made by the Link installer. Edited, it is kept; a drop-in is the better place:\n\
             #   systemctl --user edit link\n\
             [Unit]\n\
             Description=Link agent\n\
             StartLimitIntervalSec=0\n\
             \n\
             [Service]\n\
             Type=notify\n\
             ExecStart={program}\n\
             {environment}\
             UnsetEnvironment=LINK_REGISTRATION_KEY LINK_FLEET_KEY LINK_ACCESS_TOKEN\n\
             Restart=always\n\
             RestartSec=2\n\
             WatchdogSec=60\n\
             TimeoutStartSec=60\n\
             TimeoutStopSec=30\n\
             KillMode=mixed\n\
             UMask=0077\n\
             \n\
             [Install]\n\
             WantedBy=default.target\n"
        ))
    }
}

/// Returns whether `text` is a unit that starts `program`.
#[must_use]
pub fn starts(text: &str, program: &Path) -> bool {
    let program = program.to_str().and_then(quoted);
    program.is_some_and(|program| {
        let line = format!("ExecStart={program}");
        text.lines().any(|found| found.trim() == line)
    })
}

/// Quotes a word. Within quotes a space is literal, but a percent sign must be doubled. A dollar sign is literal in the
/// path of a program and in an assignment.
pub(super) fn quoted(word: &str) -> Option<String> {
    if word.contains(|letter: char| letter.is_control()) {
        return None;
    }
    let word = word.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%");
    Some(format!("\"{word}\""))
}

/// Returns the lines in which `found` differs from `wanted`: `-` marks a line of `found`, `+` a line of `wanted`.
#[must_use]
pub fn difference(found: &str, wanted: &str) -> String {
    let (found, wanted): (Vec<_>, Vec<_>) = (found.lines().collect(), wanted.lines().collect());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = found.iter().zip(&wanted).take_while(same).count();
    let rest = found[head..].iter().rev().zip(wanted[head..].iter().rev());
    let tail = rest.take_while(same).count();
    let there = found[head..found.len() - tail].iter().map(|line| format!("- {line}"));
    let ours = wanted[head..wanted.len() - tail].iter().map(|line| format!("+ {line}"));
    there.chain(ours).collect::<Vec<_>>().join("\n")
}
