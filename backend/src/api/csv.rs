//! Answers in CSV (RFC 4180), which are sent page by page while the reader reads.
//!
//! Names and details come from people and devices. A spreadsheet takes a text with a sign such as `=` for a formula, at
//! the beginning of a cell or behind a character that it takes for a separator, so such a text gets an apostrophe. The
//! pages make files by the same rule: `web/tests/csv_cases.json` has the cases of both.
//!
//! The access of the caller is checked again before each further page, because a slow reader may read for long.

use std::{io, sync::Arc};

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

use crate::{api::problem::Rejection, app::App, auth::access::Identity, domain::refusal::Refusal};

/// The signs that begin a formula, also in full width.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
/// The characters behind which a spreadsheet may begin a cell. The comma is quoted everywhere.
const SEPARATORS: [char; 4] = [';', '\t', '\r', '\n'];

/// The state of an export.
enum Export<F> {
    /// The text of a page, and the cursor of the next one.
    Page(String, Option<String>, F),
    Next(String, F),
    Ended,
}

/// Answers `caller` with the rows of a list under `head`. `read` reads a page and returns its rows.
///
/// # Errors
/// The refusal of the first page. If a later page cannot be read, or the caller has lost access, the answer is cut off.
pub(super) async fn answer<F, R>(
    (app, caller): (Arc<App>, Identity),
    name: &str,
    head: &[&str],
    read: F,
) -> Result<Response, Rejection>
where
    F: Fn(PageRequest) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Page<Vec<String>>, Rejection>> + Send + 'static,
{
    let Page { items, next_cursor } = read(page(None)).await?;
    let mut text = row(head.iter().copied());
    text.push_str(&rows(&items));
    let pages = stream::unfold(Export::Page(text, next_cursor, read), move |export| {
        next(Arc::clone(&app), caller, export)
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

/// Returns the text of the next page and the state after it.
async fn next<F, R>(
    app: Arc<App>,
    caller: Identity,
    export: Export<F>,
) -> Option<(io::Result<String>, Export<F>)>
where
    F: Fn(PageRequest) -> R,
    R: Future<Output = Result<Page<Vec<String>>, Rejection>>,
{
    let (cursor, read) = match export {
        Export::Page(text, Some(cursor), read) => {
            return Some((Ok(text), Export::Next(cursor, read)));
        }
        Export::Page(text, None, _) => return Some((Ok(text), Export::Ended)),
        Export::Next(cursor, read) => (cursor, read),
        Export::Ended => return None,
    };
    let further = async {
        if app.lost_access(&caller).await?.is_some() {
            return Err(Refusal::Unauthorized.into());
        }
        read(page(Some(cursor))).await
    };
    match further.await {
        Ok(Page { items, next_cursor }) => {
            let then = next_cursor.map_or(Export::Ended, |cursor| Export::Next(cursor, read));
            Some((Ok(rows(&items)), then))
        }
        Err(rejection) => {
            tracing::warn!(code = %rejection.problem.code, "an export was cut off");
            let cut = io::Error::other("a page of the export could not be read");
            Some((Err(cut), Export::Ended))
        }
    }
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
    let begun = text.trim_start_matches(is_blank).starts_with(FORMULA);
    let mut marked =
        String::from(if begun || text.starts_with(['\t', '\r', '\n']) { "'" } else { "" });
    // Whether only blanks and quotation marks stand between a separator and the next character.
    let mut behind_separator = false;
    for sign in text.chars() {
        if behind_separator && FORMULA.contains(&sign) {
            marked.push('\'');
        }
        behind_separator =
            SEPARATORS.contains(&sign) || (behind_separator && (sign == '"' || is_blank(sign)));
        marked.push(sign);
    }
    if marked.contains([',', '"', '\'']) || marked.contains(SEPARATORS) {
        format!("\"{}\"", marked.replace('"', "\"\""))
    } else {
        marked
    }
}

/// Tells whether a spreadsheet ignores a character at the beginning of a cell.
fn is_blank(sign: char) -> bool {
    sign.is_whitespace() || matches!(sign, '\0' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_where_needed_and_is_never_a_formula() {
        let cases = include_str!("../../../web/tests/csv_cases.json");
        let cases: Vec<(String, String)> = serde_json::from_str(cases).unwrap();
        for (text, expected) in cases {
            assert_eq!(cell(&text), expected, "{text:?}");
        }
        assert_eq!(row(["a", "b"].into_iter()), "a,b\r\n");
    }
}
