//! Plugins: a project file and an adapter, which a stranger may have written.
//!
//! The two files stand in one input, with a line `---` between them.

use std::convert::Infallible;

use link_protocol::plugin::{InvalidPlugin, Manifest, Values};

/// Stands in for every value of a launch.
const CANARY: &str = "canary-7391";

/// The outcome of a plugin that is not usable.
enum Refused {
    Plugin(InvalidPlugin),
}

impl From<InvalidPlugin> for Refused {
    fn from(invalid: InvalidPlugin) -> Self {
        Self::Plugin(invalid)
    }
}

impl From<Infallible> for Refused {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Checks `data`, and says what it was read as.
#[must_use]
pub fn check(data: &[u8]) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(data) else { return Vec::new() };
    let (project, adapter) = text.split_once("\n---\n").unwrap_or((text, ""));
    match Manifest::read(project, |_file| Ok::<_, Refused>(adapter.to_owned())) {
        Ok(manifest) => {
            assert_consistent(&manifest);
            vec!["Usable".to_owned()]
        }
        Err(Refused::Plugin(invalid)) => {
            let kind = match invalid {
                InvalidPlugin::Syntax { .. } => "Syntax",
                InvalidPlugin::UnknownSchema(_) => "UnknownSchema",
                InvalidPlugin::NoEntryPoint | InvalidPlugin::ForeignEntryPoint { .. } => {
                    "EntryPoint"
                }
                InvalidPlugin::OutsideFolder(_) => "OutsideFolder",
                InvalidPlugin::Fault { .. } => "Fault",
                InvalidPlugin::Argument { .. } => "Argument",
                InvalidPlugin::Setting { .. } => "Setting",
            };
            vec![kind.to_owned()]
        }
    }
}

/// No client reaches the paths of the agent, and a launch fills every placeholder without expanding it again.
fn assert_consistent(manifest: &Manifest) {
    let adapter = &manifest.adapter;
    let own = [Some(&adapter.health.path), adapter.health.proof_path.as_ref()];
    for served in &adapter.serve {
        for path in [&*served.path, served.target()] {
            let leaves = path.split('/').any(|part| matches!(part, "." | ".."));
            assert!(path.starts_with('/') && !leaves, "{path}");
            assert!(!own.into_iter().flatten().any(|own| own == path), "{path}");
        }
    }
    let settings = manifest.settle(|_name| None).expect("defaults fit");
    let mut values = Values { settings, ..Values::default() };
    for name in ["model", "secret_file", "folder", "socket"] {
        values.paths.insert(name, CANARY.into());
    }
    for name in ["alias", "port", "base_path"] {
        values.texts.insert(name, CANARY.to_owned());
    }
    let arguments = adapter.launch.arguments(&values);
    assert!(arguments.iter().any(|word| word.to_string_lossy().contains(CANARY)), "the model");
    // A placeholder within a value stays as it is.
    values.paths.insert("model", "{alias}".into());
    let again = adapter.launch.arguments(&values);
    assert_eq!(arguments.len(), again.len());
    assert!(again.iter().any(|word| word.to_string_lossy().contains("{alias}")), "{again:?}");
    for (name, _value) in adapter.launch.environment(&values) {
        let name = name.to_string_lossy().into_owned();
        assert!(!name.starts_with("LD_") && name != "PATH", "{name}");
    }
}
