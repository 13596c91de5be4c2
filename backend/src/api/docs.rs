//! The API reference: one page without scripts, generated from the OpenAPI document.

use axum::{
    body::Bytes,
    http::{HeaderValue, header},
    response::{Html, IntoResponse as _, Response},
};
use link_protocol::agent_api::PREFIX;
use serde_json::Value;

const POLICY: &str =
    "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'";

const STYLE: &str = include_str!("docs/style.css");

const METHODS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];

/// Answers with the OpenAPI document.
pub(crate) fn json(document: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], document).into_response()
}

/// Answers with the reference.
pub(crate) fn html(page: Bytes) -> Response {
    let mut response = Html(page).into_response();
    let policy = HeaderValue::from_static(POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// Answers with the style sheet of the reference.
pub(crate) fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

/// Returns the page of the reference: the operations in the groups of the document, then the schemas.
pub(crate) fn page(document: &Value) -> String {
    let groups = document["tags"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}: API reference</title>\n\
         <link rel=\"stylesheet\" href=\"/docs/style.css\">\n</head>\n<body>\n<main>\n\
         <p><a href=\"/\">Back to the pages</a></p>\n<h1>{title}: API reference</h1>\n\
         <p>{about}</p>\n<p><a href=\"{PREFIX}/openapi.json\">OpenAPI document</a></p>\n\
         <nav aria-label=\"Contents\">\n<ul>\n",
        title = text(&document["info"]["title"]),
        about = prose(&document["info"]["description"]),
    );
    for group in groups {
        page.push_str(&format!(
            "<li><a href=\"#group-{name}\">{about}</a></li>\n",
            name = text(&group["name"]),
            about = prose(&group["description"]),
        ));
    }
    page.push_str("<li><a href=\"#schemas\">Schemas.</a></li>\n</ul>\n</nav>\n");
    for group in groups {
        page.push_str(&format!(
            "<h2 id=\"group-{name}\">{about}</h2>\n",
            name = text(&group["name"]),
            about = prose(&group["description"]),
        ));
        for (path, item) in members(&document["paths"]) {
            for method in METHODS {
                let operation = &item[method];
                if operation["tags"][0] == group["name"] {
                    page.push_str(&section(method, path, operation));
                }
            }
        }
    }
    page.push_str("<h2 id=\"schemas\">Schemas</h2>\n");
    for (name, schema) in members(&document["components"]["schemas"]) {
        let body = serde_json::to_string_pretty(schema).unwrap_or_default();
        page.push_str(&format!(
            "<h3 id=\"{name}\">{name}</h3>\n<pre>{}</pre>\n",
            escaped(&body),
            name = escaped(name),
        ));
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn section(method: &str, path: &str, operation: &Value) -> String {
    let mut section = format!(
        "<section>\n<h3><code>{} {}</code></h3>\n<p>{}</p>\n",
        method.to_uppercase(),
        escaped(path),
        prose(&operation["description"]),
    );
    let schemes: Vec<String> = operation["security"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|scheme| members(scheme).map(|(name, _)| name.to_owned()))
        .collect();
    if !schemes.is_empty() {
        section.push_str(&format!("<p>Needs: {}</p>\n", escaped(&schemes.join(", "))));
    }
    let mut rows = String::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        rows.push_str(&format!(
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>\n",
            text(&parameter["name"]),
            text(&parameter["in"]),
            prose(&parameter["description"]),
        ));
    }
    for (media, body) in members(&operation["requestBody"]["content"]) {
        let schema = reference(&body["schema"]);
        rows.push_str(&format!(
            "<tr><td>body</td><td>{}</td><td>{schema}</td></tr>\n",
            escaped(media)
        ));
    }
    for (status, response) in members(&operation["responses"]) {
        let schema = members(&response["content"]).next();
        let schema = schema.map(|(_, body)| reference(&body["schema"])).unwrap_or_default();
        rows.push_str(&format!(
            "<tr><td>{}</td><td>{}</td><td>{schema}</td></tr>\n",
            escaped(status),
            prose(&response["description"]),
        ));
    }
    section.push_str("<table>\n");
    section.push_str(&rows);
    section.push_str("</table>\n</section>\n");
    section
}

/// Returns links to the schemas that a schema names; for an event of a stream, to those of its data.
fn reference(schema: &Value) -> String {
    let all = schema["properties"]["data"]["contentSchema"]["anyOf"].as_array();
    let links = all.into_iter().flatten().chain([schema]).map(link).filter(|link| !link.is_empty());
    links.collect::<Vec<_>>().join(", ")
}

fn link(schema: &Value) -> String {
    let target = schema["$ref"].as_str().and_then(|target| target.rsplit('/').next());
    target.map_or_else(String::new, |name| {
        format!("<a href=\"#{name}\">{name}</a>", name = escaped(name))
    })
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

/// Returns a description, with what is between two backticks as code. A backtick without another one stays.
fn prose(value: &Value) -> String {
    let mut prose = String::new();
    let mut rest = value.as_str().unwrap_or_default();
    while let Some((before, code, after)) = rest
        .split_once('`')
        .and_then(|(before, rest)| rest.split_once('`').map(|(code, after)| (before, code, after)))
    {
        prose.push_str(&format!("{}<code>{}</code>", escaped(before), escaped(code)));
        rest = after;
    }
    prose + &escaped(rest)
}

fn text(value: &Value) -> String {
    escaped(value.as_str().unwrap_or_default())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn what_is_between_backticks_is_code_and_stays_text() {
        for (written, shown) in [
            ("The tag of `If-None-Match`.", "The tag of <code>If-None-Match</code>."),
            ("`a`, `b`", "<code>a</code>, <code>b</code>"),
            ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
            ("a ` alone", "a ` alone"),
            ("none", "none"),
        ] {
            assert_eq!(prose(&written.into()), shown);
        }
    }
}
