//! The configuration file: read completely, with all faults reported together, before anything
//! starts.

use std::{fmt, path::Path};

use link_agent_core::components;
use link_platform::{fs, paths::Roots};
use link_protocol::config::{self, AgentConfig, Faults};

use crate::serving::plugins;

/// The JSON Schema of the configuration, generated from its types.
pub(crate) const SCHEMA: &str = include_str!("../../docs/agent.schema.json");

/// The configuration cannot be used.
#[derive(Debug)]
pub(crate) struct Unusable {
    path: String,
    faults: Faults,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot use `{}`:\n{}", self.path, self.faults)
    }
}

impl std::error::Error for Unusable {}

/// Reads the agent's configuration; returns the defaults if there is no file.
///
/// # Errors
/// [`Unusable`] with every fault, or with the reason why the file cannot be read. The file is never
/// changed.
pub(crate) fn load(roots: &Roots) -> anyhow::Result<AgentConfig> {
    let path = roots.agent_config();
    let text = match fs::read_plain(&path, config::SIZE_LIMIT) {
        Ok(text) => text,
        Err(error) if error.is_not_found() => return Ok(AgentConfig::default()),
        Err(error) => return Err(error.into()),
    };
    Ok(parse(&path, &text, &plugins::settings(roots))?)
}

fn parse(path: &Path, text: &str, plugins: &components::Plugins) -> Result<AgentConfig, Unusable> {
    let (config, mut faults) = config::read(text);
    components::check(&config, plugins, &mut faults);
    if faults.is_empty() {
        Ok(config)
    } else {
        Err(Unusable { path: path.display().to_string(), faults })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Holds: S2.3-2a, S2.3-2b
    #[test]
    fn a_file_of_an_earlier_schema_is_refused_and_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::below(dir.path());
        assert_eq!(load(&roots).unwrap(), AgentConfig::default());
        let text = r#"{"schema_version": "2.0", "pipelines": {}}"#;
        fs::create_private_dir(&roots.config).unwrap();
        fs::write_atomic(&roots.agent_config(), text.as_bytes()).unwrap();
        let error = load(&roots).unwrap_err().to_string();
        assert!(error.contains("agent.json") && error.contains("found `2.0`"), "{error}");
        assert_eq!(fs::read_to_string(&roots.agent_config()).unwrap(), text);
    }

    #[test]
    fn faults_of_form_and_of_meaning_are_told_together() {
        let text = r#"{"schema_version": "2.1", "local_api": {"port": 70000},
            "pipelines": [{"id": "a", "source": "nothing", "sink": "reports"}]}"#;
        let plugins = components::Plugins::new();
        let error = parse(Path::new("agent.json"), text, &plugins).unwrap_err().to_string();
        assert!(
            error.contains("local_api.port") && error.contains("pipelines[0].source"),
            "{error}"
        );
    }
}
