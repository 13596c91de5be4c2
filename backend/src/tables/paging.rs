//! The start of a page. Lists run from the newest id to the oldest. Each page is read from an index and starts after
//! the last item of the previous page.

use crate::database::Page;

/// A text that sorts after every id in any collation. An id starts with the letters of its kind and `_`.
const BEFORE_THE_NEWEST: &str = "zzz";

/// Returns the upper bound of the page, which is not on the page.
pub(crate) fn begin(after: Option<&String>) -> &str {
    after.map_or(BEFORE_THE_NEWEST, String::as_str)
}

/// Returns the lower bound of the page, which may be on the page.
pub(crate) fn end(until: Option<&String>) -> &str {
    until.map_or("", String::as_str)
}

/// The rows that one statement of a filtered list reads.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    pub after: Option<&'a String>,
    /// The last id that the statement reads.
    pub until: Option<&'a String>,
    pub limit: u32,
}

impl<'a> Look<'a> {
    /// Reads one page and no further rows.
    #[must_use]
    pub const fn of(page: &'a Page) -> Self {
        Self { after: page.after.as_ref(), until: None, limit: page.limit }
    }
}
