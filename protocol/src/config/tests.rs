//! Tests valid and faulty configurations, and the schema.

use serde_json::json;

use super::*;

#[test]
fn a_file_that_names_only_its_schema_is_the_default_configuration() {
    let (config, faults) = read(r#"{"schema_version": "2.1"}"#);
    assert_eq!((config, faults), (AgentConfig::default(), Faults::default()));
}

#[test]
fn a_configuration_reads_back_as_it_was_written() {
    let text = serde_json::to_string(&full()).unwrap();
    let (config, faults) = read(&text);
    assert!(faults.is_empty(), "{faults}");
    assert_eq!(serde_json::to_value(&config).unwrap(), full());
}

#[test]
fn a_member_that_is_given_twice_is_a_fault() {
    let text = r#"{"schema_version": "2.1", "schema_version": "2.1",
        "reporting": {"handlers": [{"type": "http", "args": {"timeout": 5, "timeout": 6}}]},
        "logging": {}, "reporting": {}}"#;
    let told: Vec<String> = read(text).1.iter().map(ToString::to_string).collect();
    let keys = ["reporting", "reporting.handlers[0].args.timeout", "schema_version"];
    assert_eq!(told, keys.map(|key| format!("{key}: expected each member once, found it twice")));
}

#[test]
fn every_fault_is_told_at_once_with_its_key() {
    let (_, faults) = read(
        &json!({
            "schema_version": "2.1",
            "identity": {"backend_url": "link.example", "device_id": "laptop", "registration_key_file": "a", "fleet_key_file": "b"},
            "transport": {"type": "carrier-pigeon", "password": "canary"},
            "local_api": {"port": 0},
            "components": {"system_monitor": {"interval_s": [60]}},
            "containment": {"echo": {"read": ["models", "/ok"], "memory_mib": 0, "connect": 1, "network": true}},
            "pipelines": [{"id": "", "source": "commands", "active": "yes"}],
            "logging": {"handlers": [{"type": "console", "args": {"timeout": 0, "level": "loud"}}]},
            "reporting": {"handlers": [{"type": "http", "args": {
                "lifecycle_status": "/agent/{cid}", "telemetry": "/{who}", "telemetri": "/"
            }}, {"type": "smtp"}]},
            "reportng": {}
        })
        .to_string(),
    );
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let expected = [
        "identity.backend_url: expected an address such as `https://link.example`, found another \
         text",
        "identity.device_id: expected a device id such as `dev_...`, found another text",
        "identity.fleet_key_file: expected only one of the two key files, found both",
        "identity.backend_url: expected the address of the backend that the key is for, found \
         nothing",
        "transport.type: expected `http` or `zenoh`, found another text",
        "transport.username: expected a text, because `password` is given, found nothing",
        "local_api.port: expected a port from 1 to 65535, found 0",
        "components.system_monitor.interval_s: expected a text, a whole number, true or false, \
         found a list",
        "containment.echo.read[0]: expected an absolute path, found another text",
        "containment.echo.connect: expected true or false, found 1",
        "containment.echo.memory_mib: expected a whole number of MiB, at least 1, found 0",
        "containment.echo.network: expected no other key than read, write, all_files, connect, \
         memory_mib, found this one",
        "pipelines[0].id: expected a name of 1 to 64 of a-z, 0-9, `_` and `-`, found an empty text",
        "pipelines[0].sink: expected a text, found nothing",
        "pipelines[0].active: expected true or false, found another text",
        "logging.handlers[0].args.level: expected `error`, `warning`, `info` or `debug`, found \
         another text",
        "logging.handlers[0].args.timeout: expected seconds from 0.1 to 3600, found 0",
        "reporting.handlers[0].args.lifecycle_status: expected only what this report can fill in, \
         found `{cid}`",
        "reporting.handlers[0].args.telemetry: expected a path such as \
         `/agent/${identity.device_id}/status`, found another text: `{who}` is not known: there \
         are `${identity.device_id}`, `{cid}` and `{mid}`",
        "reporting.handlers[0].args.telemetri: expected no other key than timeout, \
         lifecycle_status, command_status, model_status, deployment, telemetry, system, found \
         this one",
        "reporting.handlers[1].type: expected `console`, `http` or `zenoh`, found another text",
        "reportng: expected no other key than schema_version, identity, transport, local_api, \
         components, containment, pipelines, logging, reporting, found this one",
    ];
    assert_eq!(told, expected);
    assert!(!faults.to_string().contains("canary"));
}

#[test]
fn a_file_of_another_schema_is_refused_before_the_rest_is_read() {
    for version in ["2.0", "1", "2.2", "3.0-beta"] {
        let (_, faults) = read(&json!({"schema_version": version, "agent": 1}).to_string());
        let told = faults.to_string();
        assert_eq!(faults.iter().count(), 1, "{told}");
        assert!(told.contains("schema_version: expected `2.1`"), "{told}");
        assert!(told.contains(version), "{told}");
    }
    let (_, faults) = read("{}");
    assert_eq!(faults.to_string(), "  schema_version: expected a text, found nothing");
}

#[test]
fn a_file_that_is_no_json_says_where() {
    let text = serde_json::to_string_pretty(&full()).unwrap();
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let (_, faults) = read(&text[..end]);
        let told = faults.to_string();
        assert!(told.contains("line ") && told.contains("expected JSON"), "{told}");
    }
    for text in ["[]", "1", "null", "\"2.1\""] {
        assert!(read(text).1.to_string().contains("the file: expected an object"), "{text}");
    }
}

// Holds: S2.3-6, S2.3-7
#[test]
fn handlers_of_both_lists_are_console_http_and_zenoh_in_any_order_and_nothing_else() {
    let handlers =
        json!([{"type": "zenoh"}, {"type": "http", "args": {"timeout": 2.5}}, {"type": "console"}]);
    let both = json!({
        "schema_version": "2.1", "logging": {"handlers": handlers}, "reporting": {"handlers": handlers}
    });
    let (config, faults) = read(&both.to_string());
    assert!(faults.is_empty(), "{faults}");
    let seconds = |timeout: Timeout| timeout.get().as_secs_f64();
    let logging = config.logging.handlers.iter().map(|handler| match handler {
        LoggingHandler::Console(target) => ("console", seconds(target.timeout)),
        LoggingHandler::Http(target) => ("http", seconds(target.timeout)),
        LoggingHandler::Zenoh(target) => ("zenoh", seconds(target.timeout)),
    });
    let reporting = config.reporting.handlers.iter().map(|handler| match handler {
        ReportingHandler::Console(targets) => ("console", seconds(targets.timeout)),
        ReportingHandler::Http(targets) => ("http", seconds(targets.timeout)),
        ReportingHandler::Zenoh(targets) => ("zenoh", seconds(targets.timeout)),
    });
    let expected = [("zenoh", 10.0), ("http", 2.5), ("console", 10.0)];
    assert!(logging.eq(expected) && reporting.eq(expected), "{config:?}");

    let other = json!({"handlers": [{"type": "smtp"}]});
    let (_, faults) =
        read(&json!({"schema_version": "2.1", "logging": other, "reporting": other}).to_string());
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    for (fault, list) in told.iter().zip(["logging", "reporting"]) {
        let expected = "expected `console`, `http` or `zenoh`, found another text";
        assert_eq!(*fault, format!("{list}.handlers[0].type: {expected}"));
    }
}

#[test]
fn a_password_is_not_shown() {
    let (config, faults) = read(&full().to_string());
    assert!(faults.is_empty());
    assert!(!format!("{config:?}").contains("canary"));
    let number = json!({"type": "http", "username": "link", "password": 20_501_337});
    let (_, faults) = read(&json!({"schema_version": "2.1", "transport": number}).to_string());
    let told = faults.iter().next().unwrap().to_string();
    assert_eq!(told, "transport.password: expected a text, found something else");
    assert!(!faults.to_string().contains("20501337"));
}

#[test]
fn a_template_is_filled_in() {
    let template =
        Template::parse("/agent/${identity.device_id}/models/{mid}/of/{cid}/end").unwrap();
    let values = Values {
        device_id: "dev_00000000000000000000000000000001".parse().unwrap(),
        command_id: Some("cmd_00000000000000000000000000000002".parse().unwrap()),
        model_id: Some("mdl_00000000000000000000000000000003".parse().unwrap()),
    };
    let filled = "/agent/dev_00000000000000000000000000000001/models/\
                  mdl_00000000000000000000000000000003/of/cmd_00000000000000000000000000000002/end";
    assert_eq!(template.fill(&values), filled);
    for (text, error) in [
        ("agent", "it does not start with `/`"),
        ("/{cid", "a `{` is not closed"),
        (
            "/${device_id}",
            "`${device_id}` is not known: there are `${identity.device_id}`, `{cid}` and `{mid}`",
        ),
        ("/{}", "`{}` is not known: there are `${identity.device_id}`, `{cid}` and `{mid}`"),
    ] {
        assert_eq!(Template::parse(text).unwrap_err().to_string(), error);
    }
}

/// Collects every object of the schema, with its path.
fn objects<'a>(schema: &'a Value, path: String, found: &mut Vec<(String, &'a Value)>) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") {
                found.push((path.clone(), schema));
            }
            for (name, value) in fields {
                objects(value, format!("{path}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                objects(item, format!("{path}/{place}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_schema_requires_what_the_reader_requires_and_allows_nothing_else() {
    let schema: Value = serde_json::from_str(&json_schema()).unwrap();
    let mut found = Vec::new();
    objects(&schema, String::new(), &mut found);
    let required: Vec<_> = found
        .iter()
        .filter(|(_, object)| object["required"].is_array())
        .map(|(path, object)| format!("{path} {}", object["required"]))
        .collect();
    let expected = [
        r#" ["schema_version"]"#,
        r#"/$defs/LoggingHandler/oneOf/0 ["type"]"#,
        r#"/$defs/LoggingHandler/oneOf/1 ["type"]"#,
        r#"/$defs/LoggingHandler/oneOf/2 ["type"]"#,
        r#"/$defs/PipelineConfig ["id","source","sink"]"#,
        r#"/$defs/ReportingHandler/oneOf/0 ["type"]"#,
        r#"/$defs/ReportingHandler/oneOf/1 ["type"]"#,
        r#"/$defs/ReportingHandler/oneOf/2 ["type"]"#,
        r#"/$defs/TransportConfig ["type"]"#,
    ];
    assert_eq!(required, expected);
    let open = found.iter().find(|(_, object)| object["additionalProperties"] != false);
    assert_eq!(open, None);
}

fn full() -> Value {
    json!({
        "schema_version": "2.1",
        "identity": {
            "backend_url": "https://link.example",
            "device_id": "dev_00000000000000000000000000000001",
            "name": "laptop",
            "registration_key_file": "/run/link.key"
        },
        "transport": {
            "type": "zenoh",
            "endpoints": ["tls/router.example:7447"],
            "fallback": true,
            "tls_root_ca": "auto",
            "username": "device",
            "password": "canary"
        },
        "local_api": {"port": 20505},
        "components": {"system_monitor": {"interval_s": 60}},
        "containment": {"echo": {
            "all_files": true, "read": ["/opt/python"], "write": ["/var/cache/echo"], "connect": true,
            "memory_mib": 4096
        }},
        "pipelines": [
            {"id": "control", "source": "commands", "sink": "command_handler", "active": true}
        ],
        "logging": {"handlers": [
            {"type": "console", "args": {"level": "debug", "timeout": 10, "target": "/logs"}}
        ]},
        "reporting": {"handlers": [{"type": "http", "args": {
            "timeout": 20,
            "lifecycle_status": "/agent/${identity.device_id}/status",
            "command_status": "/agent/${identity.device_id}/commands/{cid}/status",
            "model_status": "/agent/${identity.device_id}/models/{mid}/status",
            "deployment": "/agent/${identity.device_id}/models/{mid}/deployment",
            "telemetry": "/agent/${identity.device_id}/models/{mid}/telemetry",
            "system": "/agent/${identity.device_id}/system"
        }}]}
    })
}
