//! Tests which configurations are refused, and with which messages.

use link_protocol::config;
use serde_json::{Value, json};

use super::*;

#[test]
fn the_default_configuration_has_no_fault() {
    assert_eq!(faults(&json!({})), [""; 0]);
}

#[test]
fn names_are_told_apart_by_what_they_are() {
    let told = faults(&json!({"pipelines": [
        {"id": "a", "source": "command_handler", "sink": "commands"},
        {"id": "b", "source": "system_monitor", "sink": "command_handler"},
        {"id": "a", "source": "frontend", "sink": "language_model"},
    ]}));
    assert_eq!(
        told,
        [
            "pipelines[0].source: expected `commands` or `system_monitor`, found another text",
            "pipelines[0].sink: expected `command_handler` or `reports`, found another text",
            "pipelines[1].sink: expected a sink that accepts what `system_monitor` \
             produces, found `command_handler`",
            "pipelines[1].sink: expected a component that no other active pipeline uses, found \
             the one of pipelines[0]",
            "pipelines[2].id: expected an id that no other pipeline has, found the id of \
             pipelines[0]",
            "pipelines[2].source: expected no model pipeline, because only a deployment \
             creates one, found `frontend`",
            "pipelines[2].sink: expected no model pipeline, because only a deployment \
             creates one, found `language_model`",
        ]
    );
}

#[test]
fn the_pipeline_that_takes_commands_is_active() {
    let told = faults(&json!({"pipelines": [
        {"id": "control", "source": "commands", "sink": "command_handler", "active": false},
    ]}));
    assert_eq!(
        told,
        ["pipelines[0].active: expected true, because without a `commands` pipeline \
             the device never comes online, found false"]
    );
}

#[test]
fn what_cannot_be_shared_belongs_to_one_active_pipeline() {
    let twice = |active: bool| {
        faults(&json!({"pipelines": [
            {"id": "a", "source": "commands", "sink": "command_handler"},
            {"id": "b", "source": "commands", "sink": "command_handler", "active": active},
        ]}))
    };
    assert_eq!(twice(false), [""; 0]);
    let expected = "expected a component that no other active pipeline uses";
    assert_eq!(
        twice(true),
        [
            format!("pipelines[1].source: {expected}, found the one of pipelines[0]"),
            format!("pipelines[1].sink: {expected}, found the one of pipelines[0]"),
        ]
    );
}

#[test]
fn settings_are_those_of_the_component() {
    let told = faults(&json!({"components": {
        "system_monitor": {"interval_s": 1, "interval": 60},
        "language_model": {"threads": "many", "context": 4096},
        "commands": {"wait": 1},
        "toaster": {},
    }}));
    assert_eq!(
        told,
        [
            "components.commands.wait: expected no setting, found this one",
            "components.language_model.threads: expected a whole number from 1 to 1024, found a \
             text",
            "components.system_monitor.interval: expected no other key than interval_s, found \
             this one",
            "components.system_monitor.interval_s: expected a whole number from 5 to 86400, found \
             1",
            "components.toaster: expected a component: commands, command_handler, \
             system_monitor, reports, frontend, language_model, found this one",
        ]
    );
}

#[test]
fn reports_are_delivered_by_something() {
    let told = faults(&json!({
        "reporting": {"handlers": [{"type": "console"}]},
    }));
    assert_eq!(
        told,
        ["reporting.handlers: expected an `http` or `zenoh` handler, to deliver the \
             reports that must not be lost, found none"]
    );
}

// Holds: S2.3-6
#[test]
fn a_handler_of_each_type_is_taken_whatever_the_transport_is() {
    let all = json!([{"type": "console"}, {"type": "http"}, {"type": "zenoh"}]);
    let handlers = json!({"logging": {"handlers": all}, "reporting": {"handlers": all}});
    assert_eq!(faults(&handlers), Vec::<String>::new());
    let mut over_http = handlers;
    over_http["transport"] = json!({"type": "http"});
    assert_eq!(faults(&over_http), Vec::<String>::new());
}

// Holds: S2.3-4
#[test]
fn the_transport_decides_where_handlers_can_go() {
    let told = faults(&json!({
        "transport": {"type": "zenoh", "endpoints": ["tls/link.example:7447", "quic/a:1", "tcp/a"]},
        "logging": {"handlers": [{"type": "zenoh"}, {"type": "http"}]},
        "reporting": {"handlers": [{"type": "zenoh", "args": {"telemetry": "/usage/{mid}"}}]},
    }));
    let endpoint = "expected an endpoint such as `tls/link.example:7447`, found another text";
    assert_eq!(
        told,
        [
            format!("transport.endpoints[1]: {endpoint}"),
            format!("transport.endpoints[2]: {endpoint}"),
            "reporting.handlers[0].args.telemetry: expected over zenoh `/logs`, or a path below \
             `/agent/${identity.device_id}/`, found another path"
                .to_owned(),
        ]
    );
}

/// The text generation plugin, with two settings.
fn plugins() -> Plugins {
    let integer =
        |min, max| Setting::Integer { description: "a number".to_owned(), min, max, default: None };
    let settings = [("threads", integer(1, 1024)), ("context", integer(256, 4_194_304))];
    let settings = settings.map(|(name, setting)| (name.to_owned(), setting));
    Plugins::from([("language_model".to_owned(), settings.into())])
}

fn faults(keys: &Value) -> Vec<String> {
    let mut file = json!({"schema_version": config::SCHEMA_VERSION});
    file.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    let (config, mut faults) = config::read(&file.to_string());
    check(&config, &plugins(), &mut faults);
    faults.iter().map(ToString::to_string).collect()
}
