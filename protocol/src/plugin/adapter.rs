//! The adapter file: how the agent starts an engine, checks it, reaches it and measures it.

use std::{collections::BTreeMap, ffi::OsString};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::{
    Argument, InvalidArgument, InvalidPlugin, InvalidSetting, LIST_LIMIT, ModelFiles, Setting,
    Values, arguments, ensure, is_id,
};
use crate::{
    build_name::{is_build_name, is_older},
    task::Task,
};

/// The longest path of a request, in bytes.
const PATH_LIMIT: usize = 128;

/// How an engine is started, checked, reached and measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapter {
    pub launch: Launch,
    pub health: Health,
    /// What clients may reach. Everything else of the engine stays closed.
    pub serve: Vec<Served>,
    pub usage: UsageRule,
    pub model: ModelFiles,
    pub settings: BTreeMap<String, Setting>,
}

/// How an engine is started.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub listens_on: ListensOn,
    arguments: Vec<Argument>,
    on_socket: Vec<Argument>,
    on_port: Vec<Argument>,
    /// Arguments for settings that have a value, by the name of the setting.
    optional: BTreeMap<String, Vec<Argument>>,
    environment: BTreeMap<String, Argument>,
    /// Arguments for models that are for a task.
    tasks: BTreeMap<Task, Vec<Argument>>,
}

/// The kinds of listening addresses that an engine supports.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ListensOn {
    /// A UNIX socket, or a loopback port if the system has no UNIX sockets or the socket's path is too long.
    Socket,
    /// Only a loopback port.
    Port,
}

/// How the agent verifies that an engine is ready, and that it is the engine that the agent started.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// Answers 200 once the model is loaded.
    pub path: String,
    /// Answers 200 to the secret of this launch and 401 to any other. Without it, only the process that listens is
    /// verified.
    #[serde(default)]
    pub proof_path: Option<String>,
}

/// A path that clients may reach.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Served {
    /// The path for clients.
    pub path: String,
    /// The method of the path. Default: `POST`.
    #[serde(default)]
    pub method: Method,
    /// The path at which the engine answers, if it is another one.
    #[serde(default)]
    pub engine_path: Option<String>,
    /// Text fields that are put in front of the form that a client sends.
    #[serde(default)]
    pub form: BTreeMap<String, String>,
    /// Text fields of a form, with the values that the engine would ignore. Such a request is refused.
    #[serde(default)]
    pub refused: BTreeMap<String, String>,
    /// What a model must be for, so that the path is served. Empty: every model.
    #[serde(default)]
    pub tasks: Vec<Task>,
    /// The first build of the engine that has the path, if not all have it.
    #[serde(default)]
    pub from_build: Option<String>,
    /// Whether an answer is an inference, whose usage is measured.
    #[serde(default)]
    pub metered: bool,
}

/// The method of a served path.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    Get,
    #[default]
    Post,
}

/// Where the usage of an inference stands in the engine's answers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UsageRule {
    pub unit: Unit,
}

/// The unit in which inferences are counted, and the member `usage` of an answer that holds the count.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// `usage.prompt_tokens` and `usage.completion_tokens` (in the Responses API `input_tokens` and `output_tokens`), or the `timings` of a stream without `usage`.
    Tokens,
    /// `usage.seconds`: seconds of audio.
    Seconds,
    /// `usage.images`: images.
    Images,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AdapterFile {
    launch: LaunchFile,
    health: Health,
    /// What clients may reach. Everything else of the engine stays closed.
    serve: Vec<Served>,
    usage: UsageRule,
    model: ModelFiles,
    /// The settings that the plugin offers, by name.
    #[serde(default)]
    settings: BTreeMap<String, Setting>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LaunchFile {
    listens_on: ListensOn,
    /// The arguments of every launch. Each word becomes one argument, in which `{name}` stands for a value.
    arguments: Vec<String>,
    /// The arguments for an engine that listens on a socket.
    #[serde(default)]
    on_socket: Vec<String>,
    /// The arguments for an engine that listens on a port.
    on_port: Vec<String>,
    /// Arguments for settings that have a value, by the name of the setting.
    #[serde(default)]
    optional: BTreeMap<String, Vec<String>>,
    /// Additional variables of the environment.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// Arguments for models that are for a task: `chat`, `embeddings` or `rerank`.
    #[serde(default)]
    tasks: BTreeMap<Task, Vec<String>>,
}

/// Returns the JSON schema of the adapter file.
pub(super) fn schema(generator: SchemaGenerator) -> Schema {
    generator.into_root_schema_for::<AdapterFile>()
}

impl Method {
    /// Returns the name of the method.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

impl Adapter {
    pub(super) fn read(file: &str, text: &str) -> Result<Self, InvalidPlugin> {
        let syntax = |source| InvalidPlugin::Syntax { file: file.to_owned(), source };
        let read: AdapterFile = toml::from_str(text).map_err(syntax)?;
        let AdapterFile { launch, health, serve, usage, model, settings } = read;
        for (name, setting) in &settings {
            let invalid = |source| InvalidPlugin::Setting { name: super::shown(name), source };
            if !is_id(name) || arguments::LAUNCH.contains(&name.as_str()) {
                return Err(invalid(InvalidSetting::Name));
            }
            setting.check().map_err(invalid)?;
        }
        ensure(settings.len() <= LIST_LIMIT, "settings", "up to 64 settings")?;
        check_paths(&health, &serve)?;
        model.check()?;
        let launch = Launch::read(&launch, &settings)?;
        let reads_tasks =
            !launch.tasks.is_empty() || serve.iter().any(|served| !served.tasks.is_empty());
        let is_known = model.metadata.is_some() || !reads_tasks;
        ensure(is_known, "model.metadata", "named, because the adapter has tasks")?;
        Ok(Self { launch, health, serve, usage, model, settings })
    }

    /// Returns the paths that clients may reach.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.serve.iter().map(|served| served.path.as_str())
    }

    /// Returns the served path `path`.
    #[must_use]
    pub fn served(&self, path: &str) -> Option<&Served> {
        self.serve.iter().find(|served| served.path == path)
    }
}

impl Launch {
    fn read(
        file: &LaunchFile,
        settings: &BTreeMap<String, Setting>,
    ) -> Result<Self, InvalidPlugin> {
        let common = |name: &str| {
            matches!(name, "model" | "alias" | "secret_file" | "folder" | "base_path")
                || settings.get(name).is_some_and(|setting| setting.default_value().is_some())
        };
        let words = |key, words: &[String], is_known: &dyn Fn(&str) -> bool| {
            ensure(words.len() <= LIST_LIMIT, key, "up to 64 arguments")?;
            let read = |word: &String| Argument::read(word, is_known);
            let read = words.iter().map(read).collect::<Result<Vec<_>, InvalidArgument>>();
            read.map_err(|source| InvalidPlugin::Argument { key, source })
        };
        let mut optional = BTreeMap::new();
        for (name, given) in &file.optional {
            ensure(settings.contains_key(name), "launch.optional", "arguments for settings")?;
            let is_known = |other: &str| other == name || common(other);
            optional.insert(name.clone(), words("launch.optional", given, &is_known)?);
        }
        let mut environment = BTreeMap::new();
        for (name, value) in &file.environment {
            ensure(is_variable(name), "launch.environment", "names of A to Z, 0 to 9 and _")?;
            let value = words("launch.environment", std::slice::from_ref(value), &common)?;
            environment.extend(value.into_iter().map(|value| (name.clone(), value)));
        }
        let mut tasks = BTreeMap::new();
        for (task, given) in &file.tasks {
            tasks.insert(*task, words("launch.tasks", given, &common)?);
        }
        let launch = Self {
            listens_on: file.listens_on,
            arguments: words("launch.arguments", &file.arguments, &common)?,
            on_socket: words("launch.on_socket", &file.on_socket, &|name| {
                name == "socket" || common(name)
            })?,
            on_port: words("launch.on_port", &file.on_port, &|name| {
                name == "port" || common(name)
            })?,
            optional,
            environment,
            tasks,
        };
        let names = |words: &[Argument], name: &str| {
            words.iter().any(|word| word.placeholders().any(|other| other == name))
        };
        ensure(names(&launch.arguments, "model"), "launch.arguments", "a list that names {model}")?;
        ensure(names(&launch.on_port, "port"), "launch.on_port", "a list that names {port}")?;
        let takes_sockets = launch.listens_on == ListensOn::Socket;
        ensure(
            !takes_sockets || names(&launch.on_socket, "socket"),
            "launch.on_socket",
            "a list that names {socket}",
        )?;
        Ok(launch)
    }

    /// Returns the engine's arguments for these values. Arguments of settings without a value are absent.
    #[must_use]
    pub fn arguments(&self, values: &Values) -> Vec<OsString> {
        let listen = match values.paths.contains_key("socket") {
            true => &self.on_socket,
            false => &self.on_port,
        };
        let optional = self.optional.iter().filter(|(name, _)| values.settings.contains_key(*name));
        let optional = optional.flat_map(|(_, words)| words);
        let of_task = values.task.and_then(|task| self.tasks.get(&task)).into_iter().flatten();
        let all = self.arguments.iter().chain(listen).chain(optional).chain(of_task);
        all.filter_map(|argument| argument.fill(values)).collect()
    }

    /// Returns whether the engine answers only below a path that is random for each launch.
    #[must_use]
    pub fn has_base_path(&self) -> bool {
        let words = [&self.arguments, &self.on_socket, &self.on_port].into_iter().flatten();
        words.flat_map(Argument::placeholders).any(|name| name == "base_path")
    }

    /// Returns the engine's additional environment for these values.
    #[must_use]
    pub fn environment(&self, values: &Values) -> Vec<(OsString, OsString)> {
        let fill = |(name, value): (&String, &Argument)| Some((name.into(), value.fill(values)?));
        self.environment.iter().filter_map(fill).collect()
    }
}

impl Served {
    /// Returns the path at which the engine answers.
    #[must_use]
    pub fn target(&self) -> &str {
        self.engine_path.as_deref().unwrap_or(&self.path)
    }

    /// Returns whether a model for `task` serves the path. A model whose task is not known serves every path.
    #[must_use]
    pub fn is_for(&self, task: Option<Task>) -> bool {
        self.tasks.is_empty() || task.is_none_or(|task| self.tasks.contains(&task))
    }

    /// Returns whether the build of the engine has the path. A build that cannot be compared has every path.
    #[must_use]
    pub fn is_in(&self, build: Option<&str>) -> bool {
        match (&self.from_build, build) {
            (Some(first), Some(build)) => !is_older(build, first),
            (None, _) | (_, None) => true,
        }
    }

    fn has_plain_fields(&self) -> bool {
        let is_plain = |(name, value): (&String, &String)| is_id(name) && super::is_line(value);
        let are_plain = |fields: &BTreeMap<String, String>| {
            fields.len() <= LIST_LIMIT && fields.iter().all(is_plain)
        };
        are_plain(&self.form) && are_plain(&self.refused)
    }
}

fn check_paths(health: &Health, serve: &[Served]) -> Result<(), InvalidPlugin> {
    let own = [Some(&health.path), health.proof_path.as_ref()];
    let own: Vec<&String> = own.into_iter().flatten().collect();
    ensure(own.iter().all(|path| is_path(path)), "health", "paths such as `/health`")?;
    let paths: Vec<&str> = serve.iter().map(|served| served.path.as_str()).collect();
    let fit = (1..=LIST_LIMIT).contains(&paths.len()) && paths.iter().all(|path| is_path(path));
    ensure(fit, "serve", "1 to 64 paths such as `/v1/chat/completions`")?;
    let distinct: std::collections::BTreeSet<_> = paths.iter().collect();
    ensure(distinct.len() == paths.len(), "serve", "a list in which each path stands once")?;
    let targets: Vec<&str> = serve.iter().map(Served::target).collect();
    ensure(
        targets.iter().all(|path| is_path(path)),
        "serve",
        "a list whose `engine_path` are paths",
    )?;
    let mut builds = serve.iter().filter_map(|served| served.from_build.as_deref());
    ensure(builds.all(is_build_name), "serve.from_build", "the name of a build")?;
    let are_plain = serve.iter().all(Served::has_plain_fields);
    ensure(are_plain, "serve", "a list whose `form` and `refused` are lines of text")?;
    let is_closed = !own.iter().any(|path| {
        let path = path.as_str();
        paths.contains(&path) || targets.contains(&path)
    });
    ensure(is_closed, "serve", "a list without the paths of `health`")
}

/// Returns whether `text` is an absolute path of a request, without `.` and `..`.
fn is_path(text: &str) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_segment =
        |segment: &str| !matches!(segment, "" | "." | "..") && segment.chars().all(usual);
    let segments = text.strip_prefix('/').map(|rest| rest.split('/').all(is_segment));
    text.len() <= PATH_LIMIT && segments == Some(true)
}

fn is_variable(text: &str) -> bool {
    // The loader's own variables would run other code in the engine's process.
    let usual = |byte: u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
    (1..=64).contains(&text.len())
        && text.bytes().all(usual)
        && !text.starts_with("LD_")
        && !text.starts_with("DYLD_")
        && text != "PATH"
}
