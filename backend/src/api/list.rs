//! Pages of lists. A cursor is the place of the last item of a page, which is its id in most lists. Callers treat it as opaque.

use std::str::FromStr;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use link_protocol::{
    backend_api::{Page, PageRequest},
    limits,
};

use crate::{
    database,
    domain::{refusal::Refusal, scan::Part},
};

/// Returns the page to read from the store. It has one item more than requested, which shows whether another page
/// follows. `P` is what a cursor of the list names, so that the cursor of another list is refused. It is `String` where
/// the list reads its cursors itself.
///
/// # Errors
/// [`Refusal::Invalid`] for a limit that is too large, and for a cursor of another list.
pub(crate) fn wanted<P: FromStr>(request: &PageRequest) -> Result<database::Page, Refusal> {
    let limit = request.limit.unwrap_or(limits::PAGE_SIZE);
    if !(1..=limits::PAGE_SIZE_LIMIT).contains(&limit) {
        let most = limits::PAGE_SIZE_LIMIT;
        return Err(Refusal::invalid(format!("limit: is between 1 and {most}")));
    }
    let after = request.cursor.as_deref().map(read_cursor::<P>).transpose()?;
    Ok(database::Page { after, limit: limit + 1 })
}

/// Makes the page from the items that the store returned for `wanted`.
pub(crate) fn page<T>(
    mut items: Vec<T>,
    wanted: &database::Page,
    id: impl Fn(&T) -> String,
) -> Page<T> {
    let size = wanted.limit as usize - 1;
    let more = items.len() > size;
    items.truncate(size);
    let last = items.last().filter(|_| more);
    let next_cursor = last.map(|item| URL_SAFE_NO_PAD.encode(id(item)));
    Page { items, next_cursor }
}

/// Makes the page from a part of a filtered list.
pub(crate) fn part<T>(part: Part<T>) -> Page<T> {
    let next_cursor = part.next.map(|id| URL_SAFE_NO_PAD.encode(id));
    Page { items: part.items, next_cursor }
}

/// The maximum length of a text that is searched for, in characters.
const LONGEST_SEARCH: usize = 200;

/// Returns the text that a list is searched for.
///
/// # Errors
/// The refusal of a text that is too long, is empty or has control characters.
pub(crate) fn searched(q: Option<String>) -> Result<Option<String>, Refusal> {
    if q.as_ref().is_some_and(|q| !(1..=LONGEST_SEARCH).contains(&q.chars().count())) {
        return Err(Refusal::invalid(format!("q: must have 1 to {LONGEST_SEARCH} characters")));
    }
    if q.as_ref().is_some_and(|q| q.contains(char::is_control)) {
        return Err(Refusal::invalid("q: must not contain control characters"));
    }
    Ok(q)
}

fn read_cursor<P: FromStr>(cursor: &str) -> Result<String, Refusal> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok();
    let id = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    // No id and no name has a control character, and PostgreSQL takes no NUL.
    let id =
        id.filter(|id| !id.is_empty() && !id.contains(char::is_control) && id.parse::<P>().is_ok());
    id.ok_or_else(|| Refusal::invalid("cursor: must be the `next_cursor` of the page before"))
}
