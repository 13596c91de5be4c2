//! The manifest of a plugin: which engine the plugin runs, how the engine is started, what clients may reach, and which
//! settings and model files it takes.
//!
//! A plugin is a folder with a project file (`plugin.toml`), an adapter file and an install script. The entry point of
//! the project file in the group `link.plugins` names the adapter file (specification, 9). Both files are data: reading
//! them runs nothing, and a [`Manifest`] that [`Manifest::read`] returns is consistent.

mod adapter;
mod arguments;
mod model_files;
mod sample;
mod setting;
mod settings;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use semver::Version;
use serde::Deserialize;

pub use self::{
    adapter::{Adapter, Health, Launch, ListensOn, Method, Served, Unit, UsageRule},
    arguments::{Argument, InvalidArgument, Values},
    model_files::{Metadata, ModelFiles},
    sample::{SAMPLE_FILE, SampleRequest, Samples},
    setting::{InvalidSetting, Setting, Value},
    settings::{Assignment, InvalidSettings, Settings},
};
use crate::{build_name::is_build_name, config::Scalar};

/// The file name of the project file.
pub const PROJECT_FILE: &str = "plugin.toml";
/// The group of entry points in which plugins are found.
pub const ENTRY_POINTS: &str = "link.plugins";
/// The schema version of the project file that this version reads.
pub const SCHEMA: u32 = 1;
/// The size limit of the project file and of the adapter file, in bytes.
pub const SIZE_LIMIT: u64 = 64 * 1024;
/// The longest id of a plugin, and the longest name of a setting, in bytes.
const NAME_LIMIT: usize = 48;
/// The longest description, in characters.
const TEXT_LIMIT: usize = 200;
/// The most entries of any list of a plugin.
const LIST_LIMIT: usize = 64;

/// A plugin's description of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The name by which models and deployments name the plugin, such as `language_model`.
    pub id: String,
    pub version: Version,
    pub description: String,
    /// The licence of the plugin, as an SPDX expression.
    pub licence: String,
    pub engine: Engine,
    pub adapter: Adapter,
}

/// The engine that a plugin runs.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// The name of its folder among the installed engines.
    pub name: String,
    /// The program in the folder of a build.
    pub executable: String,
    /// The build that a device tries first.
    pub default_build: String,
    /// All builds that the plugin is made for, in the order in which a device tries them.
    pub accepted_builds: Vec<String>,
}

/// The project file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Project {
    /// The schema of the file: 1.
    #[serde(rename = "schema")]
    _schema: u32,
    /// The name by which models and deployments name the plugin: 1 to 48 of a to z, 0 to 9 and _, beginning with a letter.
    id: String,
    /// The version of the plugin.
    #[schemars(with = "String")]
    version: Version,
    /// What the plugin does, in one line.
    description: String,
    /// The licence of the plugin, as an SPDX expression.
    licence: String,
    /// In the group `link.plugins`, the id of the plugin and the name of its adapter file.
    #[serde(rename = "entry-points")]
    entry_points: BTreeMap<String, BTreeMap<String, String>>,
    engine: Engine,
}

/// The files of a plugin do not form a usable plugin.
#[derive(Debug, thiserror::Error)]
pub enum InvalidPlugin {
    #[error("`{file}` is not readable")]
    Syntax {
        file: String,
        #[source]
        source: toml::de::Error,
    },
    #[error("`{PROJECT_FILE}` has schema {0}, and this version reads schema {SCHEMA}")]
    UnknownSchema(u32),
    #[error("`{PROJECT_FILE}` names no adapter in the entry points `{ENTRY_POINTS}`")]
    NoEntryPoint,
    #[error("the entry point `{entry}` does not belong to the plugin `{id}`")]
    ForeignEntryPoint { entry: String, id: String },
    #[error("`{0}` is not a file of the plugin's folder")]
    OutsideFolder(String),
    #[error("`{key}` must be {expected}")]
    Fault { key: String, expected: &'static str },
    #[error("`{key}` of the adapter is unusable")]
    Argument {
        key: &'static str,
        #[source]
        source: InvalidArgument,
    },
    #[error("the setting `{name}` is unusable")]
    Setting {
        name: String,
        #[source]
        source: InvalidSetting,
    },
}

/// A plugin does not take a value for a setting.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RefusedSetting {
    #[error("the plugin `{plugin}` has no setting `{name}`; it has {offered}")]
    Unknown { plugin: String, name: String, offered: String },
    #[error("the setting `{name}` of the plugin `{plugin}` takes {expected}, not {found}")]
    Value { plugin: String, name: String, expected: String, found: String },
}

impl Manifest {
    /// Checks that the plugin has these settings, and takes their values.
    ///
    /// # Errors
    /// [`RefusedSetting`] with the first fault.
    pub fn check_settings(&self, settings: &Settings) -> Result<(), RefusedSetting> {
        for (name, _) in settings.iter() {
            if !self.adapter.settings.contains_key(name) {
                let names: Vec<&str> = self.adapter.settings.keys().map(String::as_str).collect();
                let offered = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                let (plugin, name) = (self.id.clone(), name.to_owned());
                return Err(RefusedSetting::Unknown { plugin, name, offered });
            }
        }
        self.settle(|name| settings.get(name)).map(|_values| ())
    }

    /// Returns the values of all settings: the wanted value, otherwise the default. Settings without a value are absent.
    ///
    /// # Errors
    /// [`RefusedSetting::Value`] if a setting does not take the wanted value.
    pub fn settle<'a>(
        &self,
        wanted: impl Fn(&str) -> Option<&'a Scalar>,
    ) -> Result<BTreeMap<String, Value>, RefusedSetting> {
        let mut settled = BTreeMap::new();
        for (name, setting) in &self.adapter.settings {
            let value = match wanted(name) {
                Some(value) => {
                    Some(setting.accept(value).ok_or_else(|| RefusedSetting::Value {
                        plugin: self.id.clone(),
                        name: name.clone(),
                        expected: setting.expected(),
                        found: value.to_string(),
                    })?)
                }
                None => setting.default_value(),
            };
            settled.extend(value.map(|value| (name.clone(), value)));
        }
        Ok(settled)
    }

    /// Reads a plugin's project file, and the adapter file that the project file names. `adapter` returns the text of a
    /// file of the plugin's folder.
    ///
    /// # Errors
    /// [`InvalidPlugin`], or the error of `adapter`.
    pub fn read<E: From<InvalidPlugin>>(
        project: &str,
        adapter: impl FnOnce(&str) -> Result<String, E>,
    ) -> Result<Self, E> {
        let project = Project::read(project)?;
        let file = project.adapter()?.to_owned();
        let text = adapter(&file)?;
        let adapter = Adapter::read(&file, &text)?;
        let Project { _schema: _, id, version, description, licence, entry_points: _, engine } =
            project;
        Ok(Self { id, version, description, licence, engine, adapter })
    }
}

/// Returns the JSON schemas of the files of a plugin, by the names of the files.
#[must_use]
pub fn schemas() -> [(&'static str, schemars::Schema); 3] {
    let generate = || schemars::generate::SchemaSettings::draft2020_12().into_generator();
    [
        (PROJECT_FILE, generate().into_root_schema_for::<Project>()),
        ("adapter.toml", adapter::schema(generate())),
        (SAMPLE_FILE, generate().into_root_schema_for::<Samples>()),
    ]
}

impl Project {
    fn read(text: &str) -> Result<Self, InvalidPlugin> {
        // The schema is read first, because a later schema may have other members.
        #[derive(Deserialize)]
        struct Versioned {
            schema: u32,
        }
        let syntax = |source| InvalidPlugin::Syntax { file: PROJECT_FILE.to_owned(), source };
        let Versioned { schema } = toml::from_str(text).map_err(syntax)?;
        if schema != SCHEMA {
            return Err(InvalidPlugin::UnknownSchema(schema));
        }
        let project: Self = toml::from_str(text).map_err(syntax)?;
        project.check()?;
        Ok(project)
    }

    fn check(&self) -> Result<(), InvalidPlugin> {
        ensure(is_id(&self.id), "id", "1 to 48 of a to z, 0 to 9 and _, beginning with a letter")?;
        for (key, text) in [("description", &self.description), ("licence", &self.licence)] {
            ensure(is_line(text), key, "one line of 1 to 200 printable characters")?;
        }
        let Engine { name, executable, default_build, accepted_builds } = &self.engine;
        for (key, text) in [("engine.name", name), ("engine.executable", executable)] {
            ensure(is_build_name(text), key, "a file name of letters, digits, dots and dashes")?;
        }
        let are_builds = accepted_builds.iter().all(|build| is_build_name(build));
        let expected = "up to 64 names of builds";
        ensure(
            are_builds && accepted_builds.len() <= LIST_LIMIT,
            "engine.accepted_builds",
            expected,
        )?;
        let is_accepted = accepted_builds.contains(default_build);
        ensure(is_accepted, "engine.default_build", "one of `engine.accepted_builds`")
    }

    /// Returns the adapter file that the entry point names.
    fn adapter(&self) -> Result<&str, InvalidPlugin> {
        let entries = self.entry_points.get(ENTRY_POINTS).ok_or(InvalidPlugin::NoEntryPoint)?;
        if let Some(entry) = entries.keys().find(|entry| **entry != self.id) {
            let (entry, id) = (entry.clone(), self.id.clone());
            return Err(InvalidPlugin::ForeignEntryPoint { entry, id });
        }
        let file = entries.get(&self.id).ok_or(InvalidPlugin::NoEntryPoint)?;
        if is_build_name(file) && file != PROJECT_FILE {
            Ok(file)
        } else {
            Err(InvalidPlugin::OutsideFolder(shown(file)))
        }
    }
}

/// Returns whether `text` can be the id of a plugin or the name of a setting.
#[must_use]
pub fn is_id(text: &str) -> bool {
    (1..=NAME_LIMIT).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

fn is_line(text: &str) -> bool {
    let length = text.chars().count();
    (1..=TEXT_LIMIT).contains(&length) && !text.chars().any(char::is_control)
}

/// Fails with the fault that `key` must be `expected`, unless `holds`.
fn ensure(holds: bool, key: &str, expected: &'static str) -> Result<(), InvalidPlugin> {
    if holds { Ok(()) } else { Err(InvalidPlugin::Fault { key: key.to_owned(), expected }) }
}

/// Returns a text of a plugin for a message: short, and without control characters.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}
