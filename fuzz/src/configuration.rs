//! Configuration files: every fault is told, no secret is, and what has no fault reads back.

use link_agent_core::components;
use link_protocol::config::{self, AgentConfig, Faults};
use serde_json::{Map, Value, json};

/// Stands in for every text that could be a secret.
const CANARY: &str = "canary-7391";
/// Stands in for a secret that somebody wrote as a number.
const NUMBER: u64 = 739_105_826_413;
/// Texts that mean something in a configuration, and so are no secret.
const WORDS: [&str; 7] = ["http", "zenoh", "console", "error", "warning", "info", "debug"];

/// Checks `data`, and says what it was read as.
#[must_use]
pub fn check(data: &[u8]) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(data) else { return Vec::new() };
    let (_, faults) = read(text);
    let mut reached = vec![if faults.is_empty() { "Faultless" } else { "Faulty" }.to_owned()];
    let new = !text.contains(CANARY) && !text.contains(&NUMBER.to_string());
    if let Ok(Value::Object(mut fields)) = serde_json::from_str(text)
        && new
    {
        for password in [json!(CANARY), json!(NUMBER), json!([CANARY]), json!({"is": NUMBER})] {
            plant_password(&mut fields, password);
            let (config, faults) = read(&Value::Object(fields.clone()).to_string());
            assert_hidden(&faults.to_string());
            assert_hidden(&format!("{config:?}"));
            if faults.is_empty() {
                reached.push("Secret".to_owned());
            }
        }
        for (name, value) in &mut fields {
            if name != "schema_version" {
                plant_texts(value);
            }
        }
        let (_, faults) = read(&Value::Object(fields).to_string());
        assert_hidden(&faults.to_string());
    }
    reached
}

/// Reads and checks a configuration; one without faults is the same after it was written.
fn read(text: &str) -> (AgentConfig, Faults) {
    let (config, faults) = read_and_check(text);
    if faults.is_empty() {
        let written = serde_json::to_string(&config).expect("it has only text keys");
        let (again, found) = read_and_check(&written);
        assert!(found.is_empty(), "{found}");
        assert_eq!(again, config);
    }
    for fault in faults.iter() {
        assert!(!fault.key.is_empty() && !fault.expected.is_empty() && !fault.found.is_empty());
    }
    (config, faults)
}

fn read_and_check(text: &str) -> (AgentConfig, Faults) {
    let (config, mut faults) = config::read(text);
    components::check(&config, &components::Plugins::new(), &mut faults);
    (config, faults)
}

fn plant_password(fields: &mut Map<String, Value>, password: Value) {
    let transport = fields.entry("transport").or_insert_with(|| json!({"type": "http"}));
    if let Value::Object(transport) = transport {
        transport.entry("username").or_insert_with(|| json!("link"));
        transport.insert("password".to_owned(), password);
    }
}

/// Puts the canary in the place of every text but paths and words that mean something.
fn plant_texts(value: &mut Value) {
    match value {
        Value::String(text) => {
            let known = WORDS.contains(&text.as_str()) || components::find(text).is_some();
            if !known && !text.starts_with('/') {
                CANARY.clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plant_texts),
        Value::Object(fields) => fields.values_mut().for_each(plant_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn assert_hidden(told: &str) {
    assert!(!told.contains(CANARY) && !told.contains(&NUMBER.to_string()), "{told}");
}
