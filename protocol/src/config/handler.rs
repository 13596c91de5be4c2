//! Handlers: the destinations of log records and reports (specification, sections 2.3 and 4.3).

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::{
    fault::{Fault, Faults},
    reader::{Leaf, Node, Object, Text},
    template::{Placeholder, Template},
};
use crate::limits;

/// The destinations of the agent's log records.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct LoggingConfig {
    pub handlers: Vec<LoggingHandler>,
}

/// The destinations of the agent's reports. The first handler that reaches a backend delivers the
/// reports that must not be lost; every other handler gets a copy.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ReportingConfig {
    pub handlers: Vec<ReportingHandler>,
}

/// A handler of log records.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "type", content = "args", rename_all = "snake_case")]
#[schemars(transform = with_optional_args)]
pub enum LoggingHandler {
    /// The agent's standard error.
    Console(LogTarget),
    /// The backend, over HTTP.
    Http(LogTarget),
    /// The backend, over zenoh.
    Zenoh(LogTarget),
}

/// A handler of reports.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "type", content = "args", rename_all = "snake_case")]
#[schemars(transform = with_optional_args)]
pub enum ReportingHandler {
    /// The agent's standard error.
    Console(ReportTargets),
    /// The backend, over HTTP.
    Http(ReportTargets),
    /// The backend, over zenoh.
    Zenoh(ReportTargets),
}

/// Arguments of a handler of log records.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct LogTarget {
    /// The minimum severity of a record.
    pub level: Level,
    pub timeout: Timeout,
    pub target: Template,
}

/// Arguments of a handler of reports: the path for each kind, below the backend's `/api/v1`.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct ReportTargets {
    pub timeout: Timeout,
    pub lifecycle_status: Template,
    pub command_status: Template,
    pub model_status: Template,
    pub deployment: Template,
    pub telemetry: Template,
    pub system: Template,
}

/// How long a handler waits for an answer, in seconds: 0.1 to 3600. Default: 10.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(try_from = "f64", into = "Number")]
#[schemars(with = "Seconds")]
pub struct Timeout(Duration);

/// Seconds in the schema of the configuration.
#[derive(JsonSchema)]
struct Seconds(
    #[expect(dead_code, reason = "describes")]
    #[schemars(range(min = 0.1, max = 3600))]
    f64,
);

/// The severity of a log record.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Error,
    Warning,
    Info,
    Debug,
}

impl Timeout {
    /// Returns the timeout.
    #[must_use]
    pub const fn get(self) -> Duration {
        self.0
    }
}

impl Default for Timeout {
    fn default() -> Self {
        Self(limits::HANDLER_TIMEOUT)
    }
}

impl TryFrom<f64> for Timeout {
    type Error = &'static str;

    fn try_from(seconds: f64) -> Result<Self, Self::Error> {
        if !(0.1..=3600.0).contains(&seconds) {
            return Err("it is out of range");
        }
        Ok(Self(Duration::from_secs_f64(seconds)))
    }
}

impl From<Timeout> for Number {
    fn from(Timeout(time): Timeout) -> Self {
        let fraction = Self::from_f64(time.as_secs_f64()).filter(|_| time.subsec_nanos() != 0);
        fraction.unwrap_or_else(|| time.as_secs().into())
    }
}

impl Leaf for Timeout {
    const EXPECTED: &'static str = "seconds from 0.1 to 3600";
}

impl Leaf for Level {
    const EXPECTED: &'static str = "`error`, `warning`, `info` or `debug`";
}

impl Default for LoggingConfig {
    fn default() -> Self {
        let warnings = LogTarget { level: Level::Warning, ..LogTarget::default() };
        Self {
            handlers: vec![
                LoggingHandler::Console(LogTarget::default()),
                LoggingHandler::Http(warnings),
            ],
        }
    }
}

impl Default for ReportingConfig {
    fn default() -> Self {
        Self { handlers: vec![ReportingHandler::Http(ReportTargets::default())] }
    }
}

impl Default for LogTarget {
    fn default() -> Self {
        Self { level: Level::Info, timeout: Timeout::default(), target: fixed("/logs") }
    }
}

impl Default for ReportTargets {
    fn default() -> Self {
        Self {
            timeout: Timeout::default(),
            lifecycle_status: fixed("/agent/${identity.device_id}/status"),
            command_status: fixed("/agent/${identity.device_id}/commands/{cid}/status"),
            model_status: fixed("/agent/${identity.device_id}/models/{mid}/status"),
            deployment: fixed("/agent/${identity.device_id}/models/{mid}/deployment"),
            telemetry: fixed("/agent/${identity.device_id}/models/{mid}/telemetry"),
            system: fixed("/agent/${identity.device_id}/system"),
        }
    }
}

/// States in the schema of a handler that its arguments are optional and that no other members are
/// allowed.
fn with_optional_args(schema: &mut schemars::Schema) {
    let Some(Value::Array(kinds)) = schema.get_mut("oneOf") else { return };
    for kind in kinds.iter_mut().filter_map(Value::as_object_mut) {
        kind.insert("required".to_owned(), Value::from(vec!["type"]));
        kind.insert("additionalProperties".to_owned(), Value::from(false));
    }
}

fn fixed(text: &str) -> Template {
    Template::parse(text).expect("a target that is written in the code is one")
}

impl LoggingConfig {
    pub(super) fn read(node: &Node<'_>, faults: &mut Faults) -> Self {
        let read = |node: &Node<'_>, faults: &mut Faults| {
            let (kind, args) = open(node, faults)?;
            let args = LogTarget::read(args, faults);
            Some(match kind {
                Kind::Console => LoggingHandler::Console(args),
                Kind::Http => LoggingHandler::Http(args),
                Kind::Zenoh => LoggingHandler::Zenoh(args),
            })
        };
        read_handlers(node, faults, read).map_or_else(Self::default, |handlers| Self { handlers })
    }
}

impl ReportTargets {
    /// Returns every target with its key.
    #[must_use]
    pub const fn by_name(&self) -> [(&'static str, &Template); 6] {
        [
            ("lifecycle_status", &self.lifecycle_status),
            ("command_status", &self.command_status),
            ("model_status", &self.model_status),
            ("deployment", &self.deployment),
            ("telemetry", &self.telemetry),
            ("system", &self.system),
        ]
    }
}

impl ReportingConfig {
    /// Returns the configuration with one handler, over zenoh.
    pub(super) fn over_zenoh() -> Self {
        Self { handlers: vec![ReportingHandler::Zenoh(ReportTargets::default())] }
    }

    pub(super) fn read(node: &Node<'_>, faults: &mut Faults) -> Self {
        let read = |node: &Node<'_>, faults: &mut Faults| {
            let (kind, args) = open(node, faults)?;
            let args = ReportTargets::read(args, faults);
            Some(match kind {
                Kind::Console => ReportingHandler::Console(args),
                Kind::Http => ReportingHandler::Http(args),
                Kind::Zenoh => ReportingHandler::Zenoh(args),
            })
        };
        read_handlers(node, faults, read).map_or_else(Self::default, |handlers| Self { handlers })
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Console,
    Http,
    Zenoh,
}

impl Leaf for Kind {
    const EXPECTED: &'static str = "`console`, `http` or `zenoh`";
}

fn read_handlers<T>(
    node: &Node<'_>,
    faults: &mut Faults,
    read: impl Fn(&Node<'_>, &mut Faults) -> Option<T>,
) -> Option<Vec<T>> {
    let mut object = Object::open(node, faults)?;
    let handlers = object.child("handlers").map(|node| node.list(faults, read));
    object.close(faults);
    handlers
}

/// Reads the type of a handler and its arguments, if it has any.
fn open<'a>(node: &Node<'a>, faults: &mut Faults) -> Option<(Kind, Option<Object<'a>>)> {
    let mut object = Object::open(node, faults)?;
    let kind = object.required("type", faults);
    let args = object.child("args").and_then(|node| Object::open(&node, faults));
    object.close(faults);
    Some((kind?, args))
}

impl LogTarget {
    fn read(args: Option<Object<'_>>, faults: &mut Faults) -> Self {
        let mut read = Self::default();
        let Some(mut args) = args else { return read };
        read.level = args.optional("level", faults).unwrap_or(read.level);
        read.timeout = args.optional("timeout", faults).unwrap_or(read.timeout);
        read_target(&mut args, "target", &[], &mut read.target, faults);
        args.close(faults);
        read
    }
}

impl ReportTargets {
    fn read(args: Option<Object<'_>>, faults: &mut Faults) -> Self {
        let mut read = Self::default();
        let Some(mut args) = args else { return read };
        let (command, model) = (&[Placeholder::CommandId][..], &[Placeholder::ModelId][..]);
        read.timeout = args.optional("timeout", faults).unwrap_or(read.timeout);
        for (name, allowed, target) in [
            ("lifecycle_status", &[][..], &mut read.lifecycle_status),
            ("command_status", command, &mut read.command_status),
            ("model_status", model, &mut read.model_status),
            ("deployment", model, &mut read.deployment),
            ("telemetry", model, &mut read.telemetry),
            ("system", &[], &mut read.system),
        ] {
            read_target(&mut args, name, allowed, target, faults);
        }
        args.close(faults);
        read
    }
}

/// Reads a target, which may contain the placeholder of the device and those in `allowed`. A
/// lifecycle report, for example, has no value for the placeholder of a command.
fn read_target(
    args: &mut Object<'_>,
    name: &'static str,
    allowed: &[Placeholder],
    target: &mut Template,
    faults: &mut Faults,
) {
    let Some(node) = args.child(name) else { return };
    let Some(text) = node.leaf::<Text>(faults) else { return };
    match Template::parse(&text.0) {
        Ok(template) => {
            let foreign = template
                .placeholders()
                .find(|place| *place != Placeholder::DeviceId && !allowed.contains(place));
            match foreign {
                Some(place) => faults.push(Fault {
                    key: args.key(name),
                    expected: "only what this report can fill in".to_owned(),
                    found: format!("`{place}`"),
                }),
                None => *target = template,
            }
        }
        Err(error) => faults.push(Fault {
            key: args.key(name),
            expected: "a path such as `/agent/${identity.device_id}/status`".to_owned(),
            found: format!("another text: {error}"),
        }),
    }
}
