//! The components that pipelines are made of, by name, and how a configuration may combine them.
//!
//! This is the only table of component names. A configuration is refused before anything starts if
//! it names an unknown component, joins two that do not fit, or gives an exclusive component to two
//! pipelines.

use std::{collections::BTreeMap, ops::RangeInclusive};

use link_protocol::{
    config::{
        AgentConfig, Fault, Faults, GenericConfig, LoggingHandler, PipelineConfig,
        ReportingHandler, Scalar, Template,
    },
    plugin::Setting,
    registration::TransportType,
};

/// The plugins of this device: the settings of each, by the plugin's id. A plugin is a shared sink of requests.
pub type Plugins = BTreeMap<String, BTreeMap<String, Setting>>;

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

/// The end of a pipeline that a component forms.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    Source,
    Sink,
}

/// The kind of data that flows through a pipeline.
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

/// All components, except the plugins.
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
];

/// What a configuration may put in place of a component that only a deployment uses.
const ONLY_DEPLOYED: &str = "no model pipeline, because only a deployment creates one";

/// Returns the component called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Component> {
    TABLE.iter().find(|component| component.name == name)
}

/// Adds the faults of `config` that its syntax alone does not show, on a device with `plugins`.
pub fn check(config: &AgentConfig, plugins: &Plugins, faults: &mut Faults) {
    check_settings(config, plugins, faults);
    let mut ids = BTreeMap::new();
    let mut taken = BTreeMap::new();
    for (place, pipeline) in config.pipelines.iter().enumerate() {
        let key = |name: &str| format!("pipelines[{place}].{name}");
        if let Some(first) = ids.insert(pipeline.id.as_str(), place) {
            let expected = "an id that no other pipeline has";
            fault(faults, key("id"), expected, format!("the id of pipelines[{first}]"));
        }
        check_ends(pipeline, plugins, &key, faults);
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

fn check_settings(config: &AgentConfig, plugins: &Plugins, faults: &mut Faults) {
    for (name, settings) in &config.components {
        let offered = plugins.get(name);
        let Some(component) = find(name) else {
            if let Some(offered) = offered {
                check_settings_of_plugin(name, settings, offered, faults);
                continue;
            }
            let names = TABLE.iter().map(|component| component.name);
            let names = names.chain(plugins.keys().map(String::as_str));
            let expected = format!("a component: {}", names.collect::<Vec<_>>().join(", "));
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
                    fault(faults, key, no_other_than(names), "this one".to_owned());
                }
            }
        }
    }
}

fn check_settings_of_plugin(
    plugin: &str,
    settings: &GenericConfig,
    offered: &BTreeMap<String, Setting>,
    faults: &mut Faults,
) {
    for (name, value) in settings.iter() {
        let key = format!("components.{plugin}.{name}");
        match offered.get(name) {
            Some(setting) if setting.accept(value).is_some() => {}
            Some(setting) => fault(faults, key, setting.expected(), shown(value)),
            None => {
                let expected = no_other_than(offered.keys().map(String::as_str));
                fault(faults, key, expected, "this one".to_owned());
            }
        }
    }
}

fn no_other_than<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names = names.collect::<Vec<_>>().join(", ");
    if names.is_empty() { "no setting".to_owned() } else { format!("no other key than {names}") }
}

fn check_ends(
    pipeline: &PipelineConfig,
    plugins: &Plugins,
    key: &impl Fn(&str) -> String,
    faults: &mut Faults,
) {
    let mut end = |end: &str, name: &str, role: Role| {
        if role == Role::Sink && plugins.contains_key(name) {
            fault(faults, key(end), ONLY_DEPLOYED, format!("`{name}`"));
            return None;
        }
        let found = find(name).filter(|component| component.role == role);
        match found {
            Some(component) if component.flow != Flow::Requests => Some(component),
            Some(_) => {
                fault(faults, key(end), ONLY_DEPLOYED, format!("`{name}`"));
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
    // Without this transport the handlers of its type send over HTTP, where a target may be any path.
    if config.transport.as_ref().is_some_and(|one| one.r#type == TransportType::Zenoh) {
        check_targets(config, faults);
    }
    let delivers = |handler: &ReportingHandler| !matches!(handler, ReportingHandler::Console(_));
    if !config.reporting.handlers.iter().any(delivers) {
        let expected = "an `http` or `zenoh` handler, to deliver the reports that must not be lost";
        fault(faults, "reporting.handlers".to_owned(), expected, "none".to_owned());
    }
}

/// Checks the targets of the zenoh handlers: a device may write below its own key and to `/logs` only.
fn check_targets(config: &AgentConfig, faults: &mut Faults) {
    let mut check = |key: String, targets: &[(&str, &Template)]| {
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
