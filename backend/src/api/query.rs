//! Refuses unknown query parameters from people and scripts, as unknown members of a body are refused: a mistyped name
//! must not be ignored.
//!
//! The known names come from the OpenAPI document, so the two always agree.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, LazyLock},
};

use axum::{
    extract::{FromRequestParts, MatchedPath, Query},
    http::request::Parts,
};
use link_protocol::problem::Code;
use serde_json::Value;

use crate::{
    api::{openapi, problem::Rejection},
    app::App,
};

/// Checks the query of an operation without an access token. Operations with an access token check their query
/// themselves.
pub(crate) struct KnownQuery;

impl FromRequestParts<Arc<App>> for KnownQuery {
    type Rejection = Rejection;

    async fn from_request_parts(parts: &mut Parts, _app: &Arc<App>) -> Result<Self, Rejection> {
        std::future::ready(check(parts).map(|()| Self)).await
    }
}

/// The parameters of each operation, by path and method.
static KNOWN: LazyLock<BTreeMap<(String, String), BTreeSet<String>>> = LazyLock::new(known);

/// Checks that the operation knows every parameter of the query.
///
/// # Errors
/// The refusal of the first unknown parameter.
pub(super) fn check(parts: &Parts) -> Result<(), Rejection> {
    if parts.uri.query().is_none_or(str::is_empty) {
        return Ok(());
    }
    let Some(path) = parts.extensions.get::<MatchedPath>() else { return Ok(()) };
    let operation = (path.as_str().to_owned(), parts.method.as_str().to_lowercase());
    let Some(known) = KNOWN.get(&operation) else { return Ok(()) };
    let given = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
    let Query(given) =
        given.map_err(|error| Rejection::new(Code::InvalidRequest, error.body_text()))?;
    match given.into_iter().find(|(name, _)| !known.contains(name)) {
        Some((name, _)) => Err(Rejection::new(Code::InvalidRequest, unknown(&name, known))),
        None => Ok(()),
    }
}

fn unknown(name: &str, known: &BTreeSet<String>) -> String {
    let name: String = name.chars().take(64).collect();
    let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match known.as_slice() {
        [] => format!("unknown query parameter `{name}`: this operation takes none"),
        known => {
            format!("unknown query parameter `{name}`: this operation takes {}", known.join(", "))
        }
    }
}

fn known() -> BTreeMap<(String, String), BTreeSet<String>> {
    let document = openapi::document(None);
    let paths = document["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| {
            ((path.clone(), method.clone()), names(&operation["parameters"]))
        })
    });
    operations.collect()
}

fn names(parameters: &Value) -> BTreeSet<String> {
    let parameters = parameters.as_array().into_iter().flatten();
    let of_query = parameters.filter(|parameter| parameter["in"] == "query");
    of_query.filter_map(|parameter| parameter["name"].as_str().map(str::to_owned)).collect()
}
