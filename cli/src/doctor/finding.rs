//! A finding, and what several findings amount to.

use std::path::PathBuf;

use link_protocol::exit_code::ExitCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::cell::Cell;

/// The part of this machine that a finding is about.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Area {
    Installation,
    Path,
    Files,
    Configuration,
    Service,
    Agent,
    Backend,
    Clock,
    Proxy,
    Ports,
    Disk,
    Descriptors,
    Plugins,
    Engine,
    Models,
    Memory,
    Origin,
}

/// How bad a finding is, from the best to the worst.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    Ok,
    /// It was not checked, and `found` says why.
    Skipped,
    /// It works now, and will or may not work later or elsewhere.
    Warning,
    /// It does not work.
    Error,
}

/// The result of one check.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub(crate) struct Finding {
    pub(crate) area: Area,
    pub(crate) level: Level,
    /// What was found, as text for a person.
    pub(crate) found: String,
    /// What fixes it, as text for a person. Absent if there is nothing to fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cure: Option<String>,
    /// What `--fix` does about it. Absent if it does nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<Fix>,
    /// The exit code if this is the first error.
    #[serde(skip)]
    pub(crate) exit: ExitCode,
}

/// A change that is safe: it interrupts nothing that works, and doing it again changes nothing.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "action", content = "target", rename_all = "snake_case")]
pub(crate) enum Fix {
    StartAgent,
    /// The agent does not work, or works only in part.
    RestartAgent,
    /// Only this user may enter the folder from now on.
    MakePrivate(PathBuf),
    /// Put the folder of the commands on PATH in the start files of the shells.
    PutOnPath,
    /// Send the account's allowlist to the model with this id.
    Repair(String),
}

/// All findings.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Diagnosis {
    /// The level of the worst finding.
    pub(crate) worst: Level,
    pub(crate) findings: Vec<Finding>,
    /// What `--fix` did, as texts for a person. The findings are those after it.
    pub(crate) fixed: Vec<String>,
    /// With `--origin`: each request of a page to each served model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) matrix: Vec<Cell>,
}

impl Finding {
    pub(crate) fn ok(area: Area, found: impl Into<String>) -> Self {
        Self::new(area, Level::Ok, found)
    }

    pub(crate) fn skipped(area: Area, found: impl Into<String>) -> Self {
        Self::new(area, Level::Skipped, found)
    }

    pub(crate) fn warning(area: Area, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { cure: Some(cure.into()), ..Self::new(area, Level::Warning, found) }
    }

    pub(crate) fn error(area: Area, found: impl Into<String>, cure: impl Into<String>) -> Self {
        Self { cure: Some(cure.into()), ..Self::new(area, Level::Error, found) }
    }

    /// Sets what `--fix` does.
    pub(crate) fn fixed_by(self, fix: Fix) -> Self {
        Self { fix: Some(fix), ..self }
    }

    /// Sets the exit code.
    pub(crate) fn exits(self, exit: ExitCode) -> Self {
        Self { exit, ..self }
    }

    fn new(area: Area, level: Level, found: impl Into<String>) -> Self {
        let found = found.into();
        Self { area, level, found, cure: None, fix: None, exit: ExitCode::Failed }
    }
}

impl Diagnosis {
    pub(crate) fn new(findings: Vec<Finding>, matrix: Vec<Cell>) -> Self {
        let worst = findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok);
        Self { worst, findings, fixed: Vec::new(), matrix }
    }

    /// Returns the exit code of the first error. Without an error it is that of a healthy machine.
    pub(crate) fn exit(&self) -> ExitCode {
        let mut errors = self.findings.iter().filter(|finding| finding.level == Level::Error);
        errors.next().map_or(ExitCode::Success, |finding| finding.exit)
    }

    /// Returns the findings as text, the worst last, where a person at a terminal looks first.
    pub(crate) fn text(&self) -> String {
        let mut sorted: Vec<_> = self.findings.iter().collect();
        sorted.sort_by_key(|finding| finding.level);
        let mut lines: Vec<_> = self.fixed.iter().map(|done| format!("fixed    {done}")).collect();
        lines.extend(sorted.into_iter().map(line));
        lines.push(String::new());
        lines.push(self.summary());
        lines.join("\n")
    }

    fn summary(&self) -> String {
        let count = |level| self.findings.iter().filter(|finding| finding.level == level).count();
        let (errors, warnings) = (count(Level::Error), count(Level::Warning));
        if errors + warnings == 0 {
            return match count(Level::Skipped) {
                0 => "everything works".to_owned(),
                skipped => format!("everything that was checked works; {skipped} not checked"),
            };
        }
        let fixable = self.findings.iter().filter(|finding| finding.fix.is_some()).count();
        let by_fix = match fixable {
            0 => String::new(),
            1 if errors + warnings == 1 => "; `link doctor --fix` fixes it".to_owned(),
            1 => "; `link doctor --fix` fixes one of them".to_owned(),
            several => format!("; `link doctor --fix` fixes {several} of them"),
        };
        format!("{}, {}{by_fix}", counted(errors, "error"), counted(warnings, "warning"))
    }
}

impl Area {
    const fn word(self) -> &'static str {
        match self {
            Self::Installation => "installation",
            Self::Path => "path",
            Self::Files => "files",
            Self::Configuration => "configuration",
            Self::Service => "service",
            Self::Agent => "agent",
            Self::Backend => "backend",
            Self::Clock => "clock",
            Self::Proxy => "proxy",
            Self::Ports => "ports",
            Self::Disk => "disk",
            Self::Descriptors => "descriptors",
            Self::Plugins => "plugins",
            Self::Engine => "engine",
            Self::Models => "models",
            Self::Memory => "memory",
            Self::Origin => "origin",
        }
    }
}

fn line(finding: &Finding) -> String {
    let mark = match finding.level {
        Level::Ok => "ok",
        Level::Skipped => "skipped",
        Level::Warning => "warning",
        Level::Error => "ERROR",
    };
    let cure = finding.cure.as_ref().map(|cure| format!("\n         -> {cure}"));
    format!("{mark:<8} {}: {}{}", finding.area.word(), finding.found, cure.unwrap_or_default())
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
