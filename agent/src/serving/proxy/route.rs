//! The routes of one port, and the selection of a route for a request. Pure except for the queue
//! handles.

use std::sync::Arc;

use http::{HeaderMap, header};
use link_agent_core::effect::Route;
use link_protocol::{
    allowlist::Allowlist,
    plugin::{Manifest, Served},
    problem::{Code, Problem},
    task::Task,
};

use super::usage_queue::UsageSender;
use crate::serving::engine::Line;

/// A route with its engine.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub(super) route: Route,
    /// The plugin of the model, which says what clients may reach.
    pub(super) plugin: Arc<Manifest>,
    /// What the model is for, if its file says so.
    pub(super) task: Option<Task>,
    /// The build of the engine, while it is known.
    pub(super) build: Option<Arc<str>>,
    /// Absent while the engine loads.
    pub(super) engine: Option<Line>,
    pub(super) usage: UsageSender,
}

/// The target of a request.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Choice<'a> {
    /// This route, and the path to request from the engine.
    Route { index: usize, path: &'a str },
    /// The named model is not served here.
    Unknown { model: String },
    /// Several models are served, and the request names none.
    Unnamed,
}

impl Live {
    /// Returns whether clients may reach `path` of the model's engine.
    pub(super) fn serves(&self, path: &str) -> bool {
        self.plugin.adapter.served(path).is_some()
    }

    /// Returns the paths that the model serves, by what it is for.
    pub(super) fn usable_paths(&self) -> impl Iterator<Item = &str> {
        let adapter = &self.plugin.adapter;
        let is_usable =
            |served: &Served| served.is_for(self.task) && served.is_in(self.build.as_deref());
        adapter.paths().filter(move |path| adapter.served(path).is_some_and(is_usable))
    }
}

/// Returns the paths that clients may reach on the routes. A path of several models repeats.
pub(super) fn paths(routes: &[Live]) -> impl Iterator<Item = &str> {
    routes.iter().flat_map(|live| live.plugin.adapter.paths())
}

/// Returns the paths that the models of the routes serve, each by what it is for. A path of several models repeats.
pub(super) fn usable_paths(routes: &[Live]) -> impl Iterator<Item = &str> {
    routes.iter().flat_map(Live::usable_paths)
}

/// Returns the allowlists of all routes.
pub(super) fn allowlists(routes: &[Live]) -> impl Iterator<Item = &Allowlist> {
    routes.iter().map(|live| &live.route.allowlist)
}

/// Returns whether a page of `origin` may call this model. A client without an origin always may.
pub(super) fn admits(live: &Live, origin: Option<&str>) -> bool {
    origin.is_none_or(|origin| live.route.allowlist.allows(origin))
}

/// Returns the aliases of the models that a page of `origin` may call.
pub(super) fn aliases(routes: &[Live], origin: Option<&str>) -> Vec<String> {
    let shown = routes.iter().filter(|live| admits(live, origin));
    shown.map(|live| live.route.alias.to_string()).collect()
}

/// Returns the problem for a page that may call other models of the port but not this one.
pub(super) fn not_admitted(live: &Live) -> Problem {
    let alias = &live.route.alias;
    if live.route.allowlist.origins().is_empty() {
        return closed(format!("no web page may call `{alias}`"));
    }
    let detail = format!("the allowlist of `{alias}` does not name the origin of this page");
    Problem::new(Code::OriginNotAllowed, detail)
}

/// Returns the problem for a page if no page may call: CORS is off, or the allowlist is empty.
fn closed(detail: String) -> Problem {
    let hint = "to let pages in, run `link model deploy MODEL --cors`";
    Problem { hint: Some(hint.to_owned()), ..Problem::new(Code::OriginNotAllowed, detail) }
}

/// Returns the origin of a request. If it is not valid text or given twice, it is on no allowlist.
pub(super) fn origin(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(header::ORIGIN).iter();
    let origin = given.next()?.to_str().unwrap_or_default();
    Some(if given.next().is_none() { origin } else { "" })
}

/// Returns the problem for a page that may not call any model of the port.
pub(super) fn no_list_names_it(routes: &[Live]) -> Problem {
    if allowlists(routes).all(|list| list.origins().is_empty()) {
        return closed("no web page may call this model".to_owned());
    }
    let detail = "the origin of this page is not on the allowlist of this model";
    Problem::new(Code::OriginNotAllowed, detail)
}

/// Splits `path` into the model whose alias it starts with and the rest, if the rest is a served
/// path.
pub(super) fn prefixed<'a>(
    routes: &[Live],
    path: &'a str,
    is_path: impl Fn(&Live, &str) -> bool,
) -> Option<(usize, &'a str)> {
    routes.iter().enumerate().find_map(|(index, live)| {
        let rest = path.strip_prefix('/')?.strip_prefix(live.route.alias.as_str())?;
        is_path(live, rest).then_some((index, rest))
    })
}

/// Selects a route by the prefix `/{alias}` before a path that the model serves, otherwise by the
/// `model` in the body. If a port has only one model, any model name is accepted, and the name may
/// be absent.
pub(super) fn choose<'a>(routes: &[Live], path: &'a str, model: Option<&str>) -> Choice<'a> {
    if let Some((index, path)) = prefixed(routes, path, Live::serves) {
        return Choice::Route { index, path };
    }
    if let Some(name) = unknown_prefix(routes, path) {
        return Choice::Unknown { model: name.chars().take(64).collect() };
    }
    if routes.len() == 1 {
        return Choice::Route { index: 0, path };
    }
    let Some(model) = model else { return Choice::Unnamed };
    match routes.iter().position(|live| live.route.alias.as_str() == model) {
        Some(index) => Choice::Route { index, path },
        None => Choice::Unknown { model: model.chars().take(64).collect() },
    }
}

/// Returns the name before a served path if the path as a whole is not served.
fn unknown_prefix<'a>(routes: &[Live], path: &'a str) -> Option<&'a str> {
    if paths(routes).any(|served| served == path) {
        return None;
    }
    let name = |served: &str| path.strip_suffix(served)?.strip_prefix('/');
    paths(routes).filter_map(name).find(|name| !name.is_empty() && !name.contains('/'))
}

#[cfg(test)]
mod tests {
    use link_protocol::counter::Generation;

    use super::*;
    use crate::serving::{plugins, proxy::usage_queue::usage_queue};

    #[test]
    fn a_model_alone_on_its_port_takes_any_name() {
        let routes = [live("tiny", 1)];
        for model in [None, Some("tiny"), Some("gpt-4o")] {
            let choice = choose(&routes, "/v1/chat/completions", model);
            assert_eq!(choice, Choice::Route { index: 0, path: "/v1/chat/completions" });
        }
    }

    #[test]
    fn models_that_share_a_port_are_told_apart_by_prefix_or_name() {
        let routes = [live("tiny", 1), live("big", 2), live("v1", 3)];
        for (path, model, expected) in [
            ("/big/v1/completions", None, Choice::Route { index: 1, path: "/v1/completions" }),
            ("/v1/completions", Some("tiny"), Choice::Route { index: 0, path: "/v1/completions" }),
            ("/v1/x", Some("huge"), Choice::Unknown { model: "huge".to_owned() }),
            ("/bigger/v1/x", None, Choice::Unnamed),
            ("/zz/v1/completions", None, Choice::Unknown { model: "zz".to_owned() }),
            ("/zz/v1/completions", Some("big"), Choice::Unknown { model: "zz".to_owned() }),
        ] {
            assert_eq!(choose(&routes, path, model), expected, "{path} {model:?}");
        }
    }

    fn live(alias: &str, number: u8) -> Live {
        let digits = format!("{number:032}");
        Live {
            route: Route {
                pipeline_id: format!("pip_{digits}").parse().unwrap(),
                model_id: format!("mdl_{digits}").parse().unwrap(),
                alias: alias.parse().unwrap(),
                plugin: "language_model".to_owned(),
                port: "8080".parse().unwrap(),
                allowlist: Allowlist::new([]),
                telemetry: true,
                generation: Generation(1),
                engine: None,
            },
            plugin: plugins::language_model(),
            task: None,
            build: None,
            engine: None,
            usage: usage_queue().0,
        }
    }
}
