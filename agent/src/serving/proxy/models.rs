//! The list of a port's models and its entries: `GET /v1/models`, `GET /v1/models/NAME`, and both
//! below the prefix of one model. Pure.

use http::Response;
use link_protocol::problem::{Code, Problem};
use serde_json::json;

use super::{
    answer::{self, Body},
    openai,
    route::{self, Live},
};

/// The path of the list; entries are below it.
pub(super) const LIST: &str = "/v1/models";

/// Answers a GET of `path` if it asks for models. A page of `origin` sees only models it may call.
pub(super) fn answer(
    routes: &[Live],
    path: &str,
    origin: Option<&str>,
) -> Option<Result<Response<Body>, Problem>> {
    let (routes, rest) = match route::prefixed(routes, path, |_, rest| is_ours(rest)) {
        Some((index, rest)) => (&routes[index..=index], rest),
        None => (routes, path),
    };
    if !is_ours(rest) {
        return None;
    }
    let Some(name) = rest.strip_prefix(LIST)?.strip_prefix('/') else {
        let shown = routes.iter().filter(|live| route::admits(live, origin));
        let data: Vec<_> = shown.map(entry).collect();
        return Some(Ok(answer::json(&json!({"object": "list", "data": data}), vec![])));
    };
    let found = routes.iter().find(|live| live.route.alias.as_str() == name);
    Some(match found {
        Some(live) if route::admits(live, origin) => Ok(answer::json(&entry(live), vec![])),
        Some(live) => Err(route::not_admitted(live)),
        None => {
            let name: String = name.chars().take(64).collect();
            let served = route::aliases(routes, origin).join(", ");
            let detail = format!("no model `{name}`; served here: {served}");
            Err(Problem::new(Code::ModelNotServed, detail))
        }
    })
}

/// Returns whether `path` is the list or an entry, also below the prefix of one model.
pub(super) fn is_asked(routes: &[Live], path: &str) -> bool {
    is_ours(path) || route::prefixed(routes, path, |_, rest| is_ours(rest)).is_some()
}

fn entry(live: &Live) -> openai::Model<'_> {
    openai::model(&live.route, live.task, live.usable_paths().collect())
}

/// Returns whether `path` is the list or an entry.
pub(super) fn is_ours(path: &str) -> bool {
    path.strip_prefix(LIST).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
