//! Where a page begins: lists run from the newest id to the oldest, and each page is read from an index, beginning
//! after the last item of the page before.

use crate::database::Page;

/// Sorts after every id in any collation: an id begins with the letters of its kind and `_`.
const BEFORE_THE_NEWEST: &str = "zzz";

/// Returns the id that every id of the page sorts before.
pub(crate) fn begin(after: Option<&String>) -> &str {
    after.map_or(BEFORE_THE_NEWEST, String::as_str)
}

/// Returns the id that no id of the page sorts before.
pub(crate) fn end(until: Option<&String>) -> &str {
    until.map_or("", String::as_str)
}

/// Which rows one statement of a filtered list reads.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    pub after: Option<&'a String>,
    /// The last id that is looked at.
    pub until: Option<&'a String>,
    pub limit: u32,
}

impl<'a> Look<'a> {
    /// Reads a page and nothing beyond.
    #[must_use]
    pub const fn of(page: &'a Page) -> Self {
        Self { after: page.after.as_ref(), until: None, limit: page.limit }
    }
}
