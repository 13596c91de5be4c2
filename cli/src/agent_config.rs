//! Finds faults in the agent's configuration (`agent.json`) before the agent is started.
//!
//! The agent refuses a configuration with these faults. Checked here, they are reported at once and
//! not after a timeout.

use link_platform::fs;
use link_protocol::{
    config::{self, Fault},
    exit_code::ExitCode,
    registration::TransportType,
};

use crate::{context::Context, error::CliError, error_code::ErrorCode};

/// Checks the agent's configuration, if there is one.
///
/// # Errors
/// The path of the file, and each fault with its line.
pub(crate) fn check(context: &Context) -> Result<(), CliError> {
    match faults(context) {
        None => Ok(()),
        Some(faults) => Err(CliError::new(ExitCode::NotRunning, ErrorCode::Configuration, faults)
            .hint("correct the file, then run `link restart`")),
    }
}

/// Returns the faults of the agent's configuration as text. None if there are none.
pub(crate) fn faults(context: &Context) -> Option<String> {
    let path = context.roots.agent_config();
    let text = fs::read_plain(&path, config::SIZE_LIMIT).ok()?;
    let (_, faults) = config::read(&text);
    let faults: Vec<_> = faults.iter().map(|fault| in_words(&text, fault)).collect();
    let what = if faults.len() == 1 { "a fault" } else { "faults" };
    let list = faults.join("\n  ");
    (!faults.is_empty()).then(|| format!("`{}` has {what}:\n  {list}", path.display()))
}

/// Returns whether the configuration asks for zenoh, and for HTTP while the router does not answer.
pub(crate) fn may_fall_back(context: &Context) -> bool {
    let text = fs::read_plain(&context.roots.agent_config(), config::SIZE_LIMIT);
    let transport = text.ok().and_then(|text| config::read(&text).0.transport);
    transport.is_some_and(|one| one.r#type == TransportType::Zenoh && one.fallback)
}

fn in_words(text: &str, fault: &Fault) -> String {
    let Fault { key, expected, found } = fault;
    let line = line_of(text, key).map(|line| format!("line {line}, ")).unwrap_or_default();
    format!("{line}{key}: expected {expected}, found {found}")
}

/// Returns the line that contains the last part of `key`. None if several lines could be meant.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let last = key.rsplit('.').next()?.split('[').next()?;
    let quoted = format!("\"{last}\"");
    let mut lines = text.lines().enumerate().filter(|(_, line)| line.contains(&quoted));
    match (lines.next(), lines.next()) {
        (Some((index, _)), None) => Some(index + 1),
        (Some(_), Some(_)) | (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_its_line_where_only_one_can_be_meant() {
        let text = "{\n  \"local_api\": {\n    \"port\": 70000\n  }\n}";
        assert_eq!(line_of(text, "local_api.port"), Some(3));
        assert_eq!(line_of("\"port\"\n\"port\"", "local_api.port"), None);
        assert_eq!(line_of(text, "line 3, column 1"), None);
    }
}
