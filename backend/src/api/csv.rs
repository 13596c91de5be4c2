//! Answers in CSV (RFC 4180), which are sent page by page while the reader reads.
//!
//! Names and details come from people and devices. A spreadsheet takes a cell that begins with `=`, `+`, `-`, `@`, a
//! tab or a carriage return for a formula, so such a cell begins with an apostrophe.

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use link_protocol::{
    backend_api::{Page, PageRequest},
    limits,
};

use crate::api::problem::Rejection;

const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// The state of an export.
enum Export<F> {
    /// The text of a page, and the cursor of the next one.
    Page(String, Option<String>, F),
    Next(String, F),
    Ended,
}

/// Answers with the rows of a list under `head`. `read` reads a page and returns its rows.
///
/// # Errors
/// The refusal of the first page. If a later page cannot be read, the answer is cut off.
pub(super) async fn answer<F, R>(name: &str, head: &[&str], read: F) -> Result<Response, Rejection>
where
    F: Fn(PageRequest) -> R + Send + 'static,
    R: Future<Output = Result<Page<Vec<String>>, Rejection>> + Send,
{
    let Page { items, next_cursor } = read(page(None)).await?;
    let mut text = row(head.iter().copied());
    text.push_str(&rows(&items));
    let pages = stream::unfold(Export::Page(text, next_cursor, read), |export| async {
        match export {
            Export::Page(text, Some(cursor), read) => Some((Ok(text), Export::Next(cursor, read))),
            Export::Page(text, None, _) => Some((Ok(text), Export::Ended)),
            Export::Next(cursor, read) => match read(page(Some(cursor))).await {
                Ok(Page { items, next_cursor: Some(cursor) }) => {
                    Some((Ok(rows(&items)), Export::Next(cursor, read)))
                }
                Ok(Page { items, next_cursor: None }) => Some((Ok(rows(&items)), Export::Ended)),
                Err(rejection) => {
                    tracing::warn!(code = %rejection.problem.code, "an export was cut off");
                    let cut = std::io::Error::other("a page of the export could not be read");
                    Some((Err(cut), Export::Ended))
                }
            },
            Export::Ended => None,
        }
    });
    let mut response = Body::from_stream(pages).into_response();
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/csv; charset=utf-8; header=present");
    headers.insert(header::CONTENT_TYPE, kind);
    if let Ok(place) = HeaderValue::from_str(&format!("attachment; filename=\"{name}.csv\"")) {
        headers.insert(header::CONTENT_DISPOSITION, place);
    }
    Ok(response)
}

const fn page(cursor: Option<String>) -> PageRequest {
    PageRequest { limit: Some(limits::PAGE_SIZE_LIMIT), cursor }
}

fn rows(items: &[Vec<String>]) -> String {
    items.iter().map(|item| row(item.iter().map(String::as_str))).collect()
}

fn row<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let cells: Vec<String> = cells.map(cell).collect();
    format!("{}\r\n", cells.join(","))
}

fn cell(text: &str) -> String {
    let mark = if text.starts_with(FORMULA) { "'" } else { "" };
    if text.contains([',', '"', '\r', '\n']) {
        format!("\"{mark}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{mark}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_where_needed_and_is_never_a_formula() {
        for (text, expected) in [
            ("plain", "plain"),
            ("", ""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"\r\nthere", "\"say \"\"hi\"\"\r\nthere\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\tx", "'\tx"),
            ("\r=x", "\"'\r=x\""),
            ("=HYPERLINK(\"a\",\"b\")", "\"'=HYPERLINK(\"\"a\"\",\"\"b\"\")\""),
        ] {
            assert_eq!(cell(text), expected, "{text:?}");
        }
        assert_eq!(row(["a", "b"].into_iter()), "a,b\r\n");
    }
}
