//! Corrects the schemas of the document where the declarations say what no document fulfils.

use serde_json::{Map, Value, json};

/// Corrects the schemas of `document`.
pub(super) fn correct(document: &mut Value) {
    let known = document["components"]["schemas"].clone();
    let schemas = document["components"]["schemas"].as_object_mut();
    for schema in schemas.into_iter().flat_map(Map::values_mut) {
        let variants = schema.get_mut("oneOf").and_then(Value::as_array_mut);
        variants.into_iter().flatten().for_each(|variant| merge(variant, &known));
    }
    let stream = document.pointer_mut(
        "/paths/~1api~1v1~1events/get/responses/200/content/text~1event-stream/schema",
    );
    if let Some(schema) = stream {
        *schema = stream_event();
    }
}

/// Makes one object of the parts of a variant. An enum declares a variant as its object and, beside that, its tag; an object
/// that takes no other members refuses the tag, so that nothing would be of both kinds.
fn merge(variant: &mut Value, known: &Value) {
    let Some(merged) = variant["allOf"].as_array().and_then(|parts| merged(parts, known)) else {
        return;
    };
    if let Some(variant) = variant.as_object_mut() {
        variant.remove("allOf");
        variant.extend(merged);
    }
}

/// Returns the object of all parts, if one of them takes no other members.
fn merged(parts: &[Value], known: &Value) -> Option<Map<String, Value>> {
    let (mut properties, mut required, mut is_closed) = (Map::new(), Vec::new(), false);
    for part in parts {
        let part = part["$ref"].as_str().map_or(part, |target| &known[name_of(target)]);
        properties.extend(part["properties"].as_object()?.clone());
        required.extend(part["required"].as_array().cloned().unwrap_or_default());
        is_closed |= part["additionalProperties"] == false;
    }
    let Value::Object(merged) = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }) else {
        return None;
    };
    is_closed.then_some(merged)
}

/// Returns the schema of an event of a stream. Its `data` depends on its name: a kind, `ready`, `end` or `reset`.
fn stream_event() -> Value {
    let mut kinds: Vec<Value> = ["Event", "StreamReady", "StreamEnd"]
        .map(|name| json!({ "$ref": format!("#/components/schemas/{name}") }))
        .into();
    kinds.push(
        json!({ "type": "object", "maxProperties": 0, "description": "The data of `reset`." }),
    );
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": "What `Last-Event-ID` names to go on after this event." },
            "event": { "type": "string", "description": "The kind of the thing, `ready`, `reset` or `end`." },
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": { "anyOf": kinds },
            },
        },
        "required": ["id", "event", "data"],
    })
}

fn name_of(target: &str) -> &str {
    target.rsplit('/').next().unwrap_or(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::openapi::document;

    /// Finds the parts of each `allOf` in `value`.
    fn parts(value: &Value, found: &mut Vec<Vec<Value>>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("allOf").and_then(Value::as_array).cloned());
                members.values().for_each(|member| parts(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| parts(item, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn no_schema_asks_for_a_closed_object_and_more() {
        let document = document(None);
        let schemas = &document["components"]["schemas"];
        let mut found = Vec::new();
        parts(&document, &mut found);
        for part in found.iter().flatten() {
            let part = part["$ref"].as_str().map_or(part, |target| &schemas[name_of(target)]);
            assert_ne!(part["additionalProperties"], false, "{part}");
        }
        let login = &schemas["OpenSession"]["oneOf"][0];
        assert_eq!(login["required"], json!(["email", "password", "with"]));
        assert_eq!(login["additionalProperties"], false);
    }

    #[test]
    fn every_event_of_a_stream_has_a_schema() {
        let document = document(None);
        let stream = &document["paths"]["/api/v1/events"]["get"]["responses"]["200"]["content"];
        let data = &stream["text/event-stream"]["schema"]["properties"]["data"];
        let kinds = data["contentSchema"]["anyOf"].as_array().unwrap();
        for name in ["Event", "StreamReady", "StreamEnd"] {
            let target = json!({ "$ref": format!("#/components/schemas/{name}") });
            assert!(kinds.contains(&target) && document["components"]["schemas"][name].is_object());
        }
        assert!(kinds.iter().any(|kind| kind["maxProperties"] == 0));
    }
}
