//! The components that pipelines are made of, by name, and how a configuration may combine them.
//!
//! This is the only table of component names. A configuration is refused before anything starts if
//! it names an unknown component, joins two that do not fit, or gives an exclusive component to two
//! pipelines.

use std::{collections::BTreeMap, ops::RangeInclusive};

use link_protocol::{
    config::{
        AgentConfig, Fault, Faults, LoggingHandler, PipelineConfig, ReportingHandler, Scalar,
        Template,
    },
    registration::TransportType,
};

/// A named source or sink of pipelines.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Component {
    pub name: &'static str,
    pub role: Role,
    pub flow: Flow,
    /// Whether several pipelines may use it at once.
    pub shared: bool,
    /// Its settings, each with the range of its values.
    pub settings: &'static [(&'static str, RangeInclusive<u64>)],
}

/// Which end of a pipeline a component forms.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    Source,
    Sink,
}

/// What flows through a pipeline.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Flow {
    /// Signed commands of the backend.
    Commands,
    /// Measurements of this machine.
    Samples,
    /// Requests of clients. Only a deployment creates such a pipeline.
    Requests,
}

/// The backend's commands, over the configured transport.
pub const COMMANDS: &str = "commands";
/// The agent's core, which carries commands out.
pub const COMMAND_HANDLER: &str = "command_handler";
/// Measures this machine every `interval_s` seconds.
pub const SYSTEM_MONITOR: &str = "system_monitor";
/// The handlers of reports.
pub const REPORTS: &str = "reports";
/// A public port.
pub const FRONTEND: &str = "frontend";
/// The text generation engine; `threads` sets its compute threads, `context` its context in tokens.
pub const LANGUAGE_MODEL: &str = "language_model";

/// All components.
pub const TABLE: &[Component] = &[
    Component {
        name: COMMANDS,
        role: Role::Source,
        flow: Flow::Commands,
        shared: false,
        settings: &[],
    },
    Component {
        name: COMMAND_HANDLER,
        role: Role::Sink,
        flow: Flow::Commands,
        shared: false,
        settings: &[],
    },
    Component {
        name: SYSTEM_MONITOR,
        role: Role::Source,
        flow: Flow::Samples,
        shared: false,
        settings: &[("interval_s", 5..=86_400)],
    },
    Component { name: REPORTS, role: Role::Sink, flow: Flow::Samples, shared: true, settings: &[] },
    Component {
        name: FRONTEND,
        role: Role::Source,
        flow: Flow::Requests,
        shared: true,
        settings: &[],
    },
    Component {
        name: LANGUAGE_MODEL,
        role: Role::Sink,
        flow: Flow::Requests,
        shared: true,
        settings: &[("threads", 1..=1024), ("context", 256..=4_194_304)],
    },
];

/// Returns the component called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Component> {
    TABLE.iter().find(|component| component.name == name)
}

/// Adds the faults of `config` that its syntax alone does not show.
pub fn check(config: &AgentConfig, faults: &mut Faults) {
    check_settings(config, faults);
    let mut ids = BTreeMap::new();
    let mut taken = BTreeMap::new();
    for (place, pipeline) in config.pipelines.iter().enumerate() {
        let key = |name: &str| format!("pipelines[{place}].{name}");
        if let Some(first) = ids.insert(pipeline.id.as_str(), place) {
            let expected = "an id that no other pipeline has";
            fault(faults, key("id"), expected, format!("the id of pipelines[{first}]"));
        }
        check_ends(pipeline, &key, faults);
        if !pipeline.active {
            continue;
        }
        for (end, name) in [("source", &pipeline.source), ("sink", &pipeline.sink)] {
            let exclusive = find(name).is_some_and(|component| !component.shared);
            if exclusive && let Some(first) = taken.insert(name.as_str(), place) {
                let expected = "a component that no other active pipeline uses";
                fault(faults, key(end), expected, format!("the one of pipelines[{first}]"));
            }
        }
    }
    check_control(config, faults);
    check_transport(config, faults);
}

/// Without a command channel nobody could control or repair the device remotely.
fn check_control(config: &AgentConfig, faults: &mut Faults) {
    let takes_commands = |pipeline: &&PipelineConfig| pipeline.source == COMMANDS;
    if config.pipelines.iter().filter(takes_commands).any(|pipeline| pipeline.active) {
        return;
    }
    for (place, pipeline) in config.pipelines.iter().enumerate() {
        if takes_commands(&pipeline) {
            let expected =
                "true, because without a `commands` pipeline the device never comes online";
            fault(faults, format!("pipelines[{place}].active"), expected, "false".to_owned());
        }
    }
}

fn check_settings(config: &AgentConfig, faults: &mut Faults) {
    for (name, settings) in &config.components {
        let Some(component) = find(name) else {
            let names = TABLE.iter().map(|component| component.name).collect::<Vec<_>>().join(", ");
            let expected = format!("a component: {names}");
            fault(faults, format!("components.{name}"), expected, "this one".to_owned());
            continue;
        };
        for (setting, value) in settings.iter() {
            let key = format!("components.{name}.{setting}");
            let known = component.settings.iter().find(|(known, _)| *known == setting);
            match (known, value) {
                (Some((_, range)), Scalar::Number(number)) if range.contains(number) => {}
                (Some((_, range)), _) => {
                    let expected =
                        format!("a whole number from {} to {}", range.start(), range.end());
                    fault(faults, key, expected, shown(value));
                }
                (None, _) => {
                    let names = component.settings.iter().map(|(name, _)| *name);
                    let names = names.collect::<Vec<_>>().join(", ");
                    let expected = if names.is_empty() {
                        "no setting".to_owned()
                    } else {
                        format!("no other key than {names}")
                    };
                    fault(faults, key, expected, "this one".to_owned());
                }
            }
        }
    }
}

fn check_ends(pipeline: &PipelineConfig, key: &impl Fn(&str) -> String, faults: &mut Faults) {
    let mut end = |end: &str, name: &str, role: Role| {
        let found = find(name).filter(|component| component.role == role);
        match found {
            Some(component) if component.flow != Flow::Requests => Some(component),
            Some(_) => {
                let expected = "no model pipeline, because only a deployment creates one";
                fault(faults, key(end), expected, format!("`{name}`"));
                None
            }
            None => {
                let names = TABLE.iter().filter(|one| one.role == role);
                let names = names.filter(|one| one.flow != Flow::Requests);
                let names = names.map(|one| format!("`{}`", one.name)).collect::<Vec<_>>();
                fault(faults, key(end), names.join(" or "), "another text".to_owned());
                None
            }
        }
    };
    let source = end("source", &pipeline.source, Role::Source);
    let sink = end("sink", &pipeline.sink, Role::Sink);
    if let (Some(source), Some(sink)) = (source, sink)
        && source.flow != sink.flow
    {
        let expected = format!("a sink that accepts what `{}` produces", source.name);
        fault(faults, key("sink"), expected, format!("`{}`", sink.name));
    }
}

fn check_transport(config: &AgentConfig, faults: &mut Faults) {
    let is_zenoh = config.transport.as_ref().is_some_and(|one| one.r#type == TransportType::Zenoh);
    let mut check = |key: String, targets: &[(&str, &Template)]| {
        if !is_zenoh {
            let expected = "`http`, because `transport.type` is not `zenoh`";
            fault(faults, format!("{key}.type"), expected, "`zenoh`".to_owned());
        }
        for (name, target) in targets {
            let text = target.to_string();
            if text != "/logs" && !text.starts_with("/agent/${identity.device_id}/") {
                let expected =
                    "over zenoh `/logs`, or a path below `/agent/${identity.device_id}/`";
                fault(faults, format!("{key}.args.{name}"), expected, "another path".to_owned());
            }
        }
    };
    for (place, handler) in config.logging.handlers.iter().enumerate() {
        if let LoggingHandler::Zenoh(target) = handler {
            check(format!("logging.handlers[{place}]"), &[("target", &target.target)]);
        }
    }
    for (place, handler) in config.reporting.handlers.iter().enumerate() {
        if let ReportingHandler::Zenoh(targets) = handler {
            check(format!("reporting.handlers[{place}]"), &targets.by_name());
        }
    }
    let delivers = |handler: &ReportingHandler| !matches!(handler, ReportingHandler::Console(_));
    if !config.reporting.handlers.iter().any(delivers) {
        let expected = "an `http` or `zenoh` handler, to deliver the reports that must not be lost";
        fault(faults, "reporting.handlers".to_owned(), expected, "none".to_owned());
    }
}

fn fault(faults: &mut Faults, key: String, expected: impl Into<String>, found: String) {
    faults.push(Fault { key, expected: expected.into(), found });
}

fn shown(value: &Scalar) -> String {
    match value {
        Scalar::Flag(flag) => flag.to_string(),
        Scalar::Number(number) => number.to_string(),
        Scalar::Text(_) => "a text".to_owned(),
    }
}

#[cfg(test)]
mod tests;
