//! The OpenAPI document.

use serde_json::Value;

use crate::harness::World;

#[tokio::test]
async fn the_document_is_served_as_it_is_generated() {
    let (world, _) = World::set_up().await;
    let served = world.get("/api/v1/openapi.json", "").await;
    assert_eq!(String::from_utf8(served.bytes).unwrap(), link_backend::openapi_json());
}

#[test]
fn every_operation_documents_its_problems_and_every_reference_leads_somewhere() {
    let text = link_backend::openapi_json();
    assert_eq!(text, link_backend::openapi_json(), "the order is stable");
    let document: Value = serde_json::from_str(&text).unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let mut ids = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let place = format!("{method} {path}");
            ids.push(operation["operationId"].as_str().unwrap().to_owned());
            assert!(!operation["description"].as_str().unwrap().is_empty(), "{place}");
            let responses = operation["responses"].as_object().unwrap();
            let problems = responses.iter().filter(|(status, _)| {
                (status.starts_with('4') && *status != "416") || status.starts_with('5')
            });
            for (status, response) in problems {
                let content = &response["content"]["application/problem+json"]["schema"]["$ref"];
                assert_eq!(content, "#/components/schemas/Problem", "{place} {status}");
            }
            // A device never retries a report after a 4xx status, so overload must not use one.
            let of_agent = operation["tags"][0] == "agent";
            assert!(!(of_agent && responses.contains_key("429")), "{place}");
            assert!(responses.contains_key("500") && responses.contains_key("503"), "{place}");
        }
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "operation ids are unique");
    for reference in text.split("\"$ref\": \"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn the_repair_is_documented_with_its_bounds() {
    let document: Value = serde_json::from_str(&link_backend::openapi_json()).unwrap();
    let repair = &document["paths"]["/api/v1/models/{model_id}/repair-serving/{device_id}"]["post"];
    let port = repair["parameters"].as_array().unwrap().iter().find(|p| p["name"] == "port");
    let schema = &port.unwrap()["schema"];
    assert_eq!((&schema["minimum"], &schema["maximum"]), (&1.into(), &65535.into()));
    for status in ["202", "401", "403", "404", "409", "422"] {
        assert!(repair["responses"][status].is_object(), "{status}");
    }
}
