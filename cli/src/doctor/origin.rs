//! Whether the browser lets the pages of one origin call the models of this machine (specification, section 8), and the
//! cause if it does not.

use std::{collections::BTreeMap, net::IpAddr};

use super::{
    Area, Finding, Fix,
    cell::{Cell, Request},
};

/// The path that a client of OpenAI's API calls.
const CHAT: &str = "/v1/chat/completions";

/// The headers that the npm client of OpenAI's API adds to a question. Each makes the browser ask first.
const CLIENT_HEADERS: &str = "authorization,content-type,x-stainless-arch,x-stainless-lang,x-stainless-os,\
     x-stainless-package-version,x-stainless-retry-count,x-stainless-runtime,x-stainless-runtime-version,\
     x-stainless-timeout";

/// The origin that a browser sends for a file and for a page in a sandbox.
pub(crate) const NO_ORIGIN: &str = "null";

/// What was seen for one origin.
#[derive(Clone, Debug)]
pub(crate) struct OriginFacts {
    pub(crate) origin: String,
    pub(crate) space: Space,
    /// The origins that new deployments of the account allow. None if the backend was not asked.
    pub(crate) allowed: Option<Vec<String>>,
    pub(crate) models: Vec<Model>,
}

/// The network that a page comes from, as a browser sees it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Space {
    Loopback,
    Local,
    Public,
    /// The name of its host cannot be resolved here.
    Unknown,
}

/// A served model.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) alias: String,
    pub(crate) model_id: String,
    pub(crate) port: u16,
    /// Whether its deployment lacks an origin of the account. None if the backend was not asked.
    pub(crate) stale: Option<bool>,
    pub(crate) answers: Vec<(Request, String, Answer)>,
}

/// An answer of the port.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Answer {
    Status {
        status: u16,
        headers: BTreeMap<String, String>,
        detail: Option<String>,
    },
    /// Nothing answered.
    Silence(String),
}

impl Request {
    /// Returns the method, the path and the headers of what the browser sends first.
    pub(crate) fn first(self, alias: &str) -> (&'static str, String, Vec<(&'static str, String)>) {
        let preflight = |method: &str, headers: &str| {
            vec![
                ("access-control-request-method", method.to_owned()),
                ("access-control-request-headers", headers.to_owned()),
            ]
        };
        match self {
            Self::Chat => ("OPTIONS", format!("/{alias}{CHAT}"), preflight("POST", CLIENT_HEADERS)),
            Self::Model => ("GET", format!("/v1/models/{alias}"), Vec::new()),
            Self::ModelWithToken => {
                ("OPTIONS", format!("/v1/models/{alias}"), preflight("GET", "authorization"))
            }
        }
    }

    /// Returns why a browser does not let a page of `origin` make this request, given the answer to what it sends
    /// first (Fetch standard, sections 3.2 and 4.8).
    fn blocked(self, origin: &str, answer: &Answer) -> Option<String> {
        let (status, headers, detail) = match answer {
            Answer::Status { status, headers, detail } => (status, headers, detail),
            Answer::Silence(why) => return Some(why.clone()),
        };
        let header = |name: &str| headers.get(name).map(String::as_str);
        if header("access-control-allow-origin").is_none_or(|named| named != origin && named != "*")
        {
            let why = detail.clone();
            return Some(
                why.unwrap_or_else(|| format!("the answer ({status}) does not name the origin")),
            );
        }
        let wanted = match self {
            Self::Model => return None,
            Self::Chat => CLIENT_HEADERS,
            Self::ModelWithToken => "authorization",
        };
        if !(200..300).contains(status) {
            return Some(format!("the preflight was answered with status {status}"));
        }
        let listed = words(header("access-control-allow-headers"));
        // The wildcard does not cover a token.
        let is_listed = |name: &str| {
            listed.iter().any(|one| one == name || (one == "*" && name != "authorization"))
        };
        let missing: Vec<_> =
            words(Some(wanted)).into_iter().filter(|name| !is_listed(name)).collect();
        (!missing.is_empty())
            .then(|| format!("the preflight does not allow {}", missing.join(", ")))
    }
}

pub(crate) fn matrix(facts: &OriginFacts) -> Vec<Cell> {
    let cells = facts.models.iter().flat_map(|model| {
        model.answers.iter().map(|(request, origin, answer)| {
            let why = facts.barred().or_else(|| request.blocked(origin, answer));
            Cell {
                model: model.alias.clone(),
                port: model.port,
                origin: origin.clone(),
                request: *request,
                allowed: why.is_none(),
                why,
            }
        })
    });
    cells.collect()
}

pub(crate) fn findings(facts: &OriginFacts) -> Vec<Finding> {
    let mut findings = vec![page(facts)];
    if facts.models.is_empty() {
        let found = "no model is served on this machine, so there is nothing to ask";
        findings.push(Finding::skipped(Area::Origin, found));
    }
    // Over https, the page has another origin, so this one on the allowlist would not help.
    if facts.barred().is_none() {
        findings.extend(facts.models.iter().map(|model| of_model(facts, model)));
    }
    findings
}

impl OriginFacts {
    fn is_secure(&self) -> bool {
        self.origin.starts_with("https://") || self.space == Space::Loopback
    }

    /// Returns why browsers let no page of this origin reach this machine, whatever the models answer. Chromium asks the
    /// user about pages of the internet, and only about secure ones (Local Network Access, section 3.1). The frames of a
    /// page, whose origin is `null`, are no more secure than the page.
    fn barred(&self) -> Option<String> {
        let origin = &self.origin;
        (self.space == Space::Public && !self.is_secure()).then(|| {
            format!("{origin} is not secure, so browsers do not let its pages reach this machine")
        })
    }
}

/// What the browser thinks of the page itself.
fn page(facts: &OriginFacts) -> Finding {
    let OriginFacts { origin, space, .. } = facts;
    if let Some(why) = facts.barred() {
        return Finding::error(Area::Origin, why, "serve the page over https");
    }
    match space {
        Space::Loopback => Finding::ok(Area::Origin, format!("{origin} is on this machine")),
        Space::Local if facts.is_secure() => {
            let found = format!("{origin} is on the local network; Safari never lets it through");
            Finding::ok(Area::Origin, found)
        }
        Space::Local => Finding::ok(Area::Origin, format!("{origin} is on the local network")),
        Space::Unknown => {
            let mut found = format!("the host of {origin} is not known here");
            if !facts.is_secure() {
                found.push_str("; without https, browsers let only pages of the local network reach this machine");
            }
            Finding::skipped(Area::Origin, found)
        }
        Space::Public => {
            let found = format!(
                "Chrome and Edge ask once before a page of {origin} reaches this machine; Safari never lets it"
            );
            Finding::ok(Area::Origin, found)
        }
    }
}

fn of_model(facts: &OriginFacts, model: &Model) -> Finding {
    let origin = &facts.origin;
    let Model { alias, model_id, port, stale, answers } = model;
    let blocked = answers
        .iter()
        .filter(|(_, asked, _)| asked == origin)
        .find_map(|(request, asked, answer)| Some((answer, request.blocked(asked, answer)?)));
    let Some((answer, why)) = blocked else {
        let found = format!("`{alias}` on port {port} lets pages of {origin} through");
        return Finding::ok(Area::Origin, found);
    };
    if let Answer::Silence(why) = answer {
        let found = format!("nothing answers on port {port} of `{alias}`: {why}");
        return Finding::error(Area::Origin, found, format!("run `link model serve {model_id}`"));
    }
    let refuses = format!("`{alias}` on port {port} refuses pages of {origin}");
    let repair = format!("`link repair-serving {model_id} --wait`");
    let is_allowed = facts.allowed.as_ref().map(|list| list.iter().any(|one| one == origin));
    match (is_allowed, stale) {
        (Some(false), _) => Finding::error(
            Area::Origin,
            format!("{refuses}: the origin is not on the account's allowlist"),
            format!("`link allowlist add {origin}`, then {repair}"),
        ),
        (Some(true), Some(false)) => Finding::error(
            Area::Origin,
            format!("{refuses} although it has the account's allowlist: {why}"),
            format!(
                "if it was deployed with --no-cors: `link model deploy {model_id} --cors --serve --wait`"
            ),
        ),
        (Some(true), Some(true) | None) => Finding::error(
            Area::Origin,
            format!("{refuses}: its allowlist is older than the account's"),
            repair,
        )
        .fixed_by(Fix::Repair(model_id.clone())),
        (None, _) => Finding::error(
            Area::Origin,
            format!("{refuses}: {why}"),
            format!("`link login`, then `link allowlist add {origin}` and {repair}"),
        ),
    }
}

/// Returns the network of a page whose host has these addresses.
pub(crate) fn space_of(addresses: &[IpAddr]) -> Space {
    let is_local = |address: &IpAddr| match address {
        IpAddr::V4(address) => address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
    };
    match addresses {
        [] => Space::Unknown,
        all if all.iter().all(IpAddr::is_loopback) => Space::Loopback,
        all if all.iter().all(|one| one.is_loopback() || is_local(one)) => Space::Local,
        _ => Space::Public,
    }
}

fn words(list: Option<&str>) -> Vec<String> {
    let names = list.unwrap_or_default().split(',').map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| !name.is_empty()).collect()
}
