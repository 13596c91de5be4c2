//! Compares every answer of every test with the OpenAPI document.

use std::{collections::BTreeSet, sync::LazyLock};

use serde_json::Value;

struct Operation {
    method: String,
    path: String,
    statuses: BTreeSet<u16>,
}

static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let document: Value = serde_json::from_str(&link_backend::openapi_json()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let operations = item.as_object().unwrap().iter();
        let known = operations.filter_map(|(method, operation)| {
            let responses = operation["responses"].as_object()?;
            Some(Operation {
                method: method.to_uppercase(),
                path: path.clone(),
                statuses: responses.keys().map(|status| status.parse().unwrap()).collect(),
            })
        });
        known.collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
});

/// Checks that the document permits `status` for the operation, if the request was one.
pub(crate) fn check(method: &str, path: &str, status: u16) {
    // A literal path takes precedence over a path with an id in the same place.
    let literal = OPERATIONS.iter().any(|operation| operation.path == path);
    let fits = |template: &str| if literal { template == path } else { fits(template, path) };
    let called = |operation: &&Operation| operation.method == method && fits(&operation.path);
    let called: Vec<&Operation> = OPERATIONS.iter().filter(called).collect();
    let documented = called.iter().any(|operation| operation.statuses.contains(&status));
    assert!(called.is_empty() || documented, "{method} {path}: {status} is not in the document");
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) =
        (template.split('/').collect(), path.split('/').collect());
    let same = |(wanted, found): (&&str, &&str)| wanted.starts_with('{') || wanted == found;
    template.len() == path.len() && template.iter().zip(&path).all(same)
}
