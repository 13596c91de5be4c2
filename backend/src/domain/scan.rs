//! Limits the work of one request for a filtered list: a page reads a bounded number of rows, even if few of them
//! match.
//!
//! A request reads a window of rows. If the window ends before the page is full, the page is shorter and holds the
//! cursor for the next request.

/// The number of rows in the window of one request.
pub const WINDOW: u32 = 2_000;
/// The maximum number of statements in one request.
const ROUNDS: u32 = 5;

/// A page of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Part<T> {
    pub items: Vec<T>,
    /// The id after which the next page starts, if there may be one.
    pub next: Option<String>,
}

impl<T> Part<T> {
    /// Makes something else of each item.
    pub fn map<U>(self, make: impl FnMut(T) -> U) -> Part<U> {
        Part { items: self.items.into_iter().map(make).collect(), next: self.next }
    }
}

/// The scan of one window.
#[derive(Debug)]
pub struct Scan<T> {
    size: usize,
    /// The id after which the next round starts.
    after: Option<String>,
    /// The last id of the window, or `None` if the window reaches the end of the list.
    end: Option<String>,
    rounds: u32,
    items: Vec<T>,
}

/// The rows of one round.
#[derive(Clone, Debug)]
pub struct Round<T> {
    /// The rows that match the filter, in order.
    pub found: Vec<T>,
    /// The id of the last row that was read.
    pub last: Option<String>,
    /// Whether the window is exhausted.
    pub is_last: bool,
}

impl<T> Round<T> {
    /// Makes a page of `size` items from this round alone, for a list whose every statement reads all rows of the account.
    pub fn alone(mut self, size: usize, id: impl Fn(&T) -> String) -> Part<T> {
        let next = if self.found.len() > size {
            self.found.truncate(size);
            self.found.last().map(id)
        } else {
            self.last.filter(|_| !self.is_last)
        };
        Part { items: self.found, next }
    }
}

impl<T> Scan<T> {
    /// Starts a scan for a page of `size` items after the id `after`. `end` is the last id of the window.
    #[must_use]
    pub const fn new(size: usize, after: Option<String>, end: Option<String>) -> Self {
        Self { size, after, end, rounds: 0, items: Vec::new() }
    }

    /// Returns the id after which the next round starts.
    #[must_use]
    pub const fn after(&self) -> &Option<String> {
        &self.after
    }

    /// Returns the last id of the window.
    #[must_use]
    pub const fn end(&self) -> &Option<String> {
        &self.end
    }

    /// Adds the rows of one round. Returns the page once the scan has ended.
    pub fn take(&mut self, round: Round<T>, id: impl Fn(&T) -> String) -> Option<Part<T>> {
        self.rounds += 1;
        self.items.extend(round.found);
        if round.last.is_some() {
            self.after = round.last;
        }
        let next = if self.items.len() > self.size {
            self.items.truncate(self.size);
            self.items.last().map(id)
        } else if round.is_last {
            self.end.take()
        } else if self.rounds >= ROUNDS {
            self.after.take()
        } else {
            return None;
        };
        Some(Part { items: std::mem::take(&mut self.items), next })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_page_goes_on_after_its_last_item() {
        let mut scan = Scan::new(2, None, None);
        let part = scan.take(round(&["9", "8", "7"], "5", false), String::clone).unwrap();
        assert_eq!((part.items, part.next), (texts(&["9", "8"]), Some("8".to_owned())));
    }

    #[test]
    fn the_end_of_the_list_has_no_next_part() {
        let mut scan = Scan::new(2, None, None);
        assert_eq!(scan.take(round(&["9"], "8", false), String::clone), None);
        assert_eq!(scan.after().as_deref(), Some("8"));
        let part = scan.take(round(&["7"], "7", true), String::clone).unwrap();
        assert_eq!((part.items, part.next), (texts(&["9", "7"]), None));
    }

    #[test]
    fn a_window_that_ends_early_is_a_short_page_and_a_place_to_go_on() {
        let mut scan = Scan::new(2, None, Some("4".to_owned()));
        let part = scan.take(round(&[], "6", true), String::clone).unwrap();
        assert_eq!((part.items, part.next), (texts(&[]), Some("4".to_owned())));
    }

    #[test]
    fn a_filter_that_refuses_candidates_ends_after_some_rounds() {
        let mut scan = Scan::new(2, None, None);
        for _ in 1..ROUNDS {
            assert_eq!(scan.take(round(&[], "6", false), String::clone), None);
        }
        let part = scan.take(round(&[], "5", false), String::clone).unwrap();
        assert_eq!((part.items, part.next), (texts(&[]), Some("5".to_owned())));
    }

    #[test]
    fn a_round_alone_goes_on_after_its_last_item_or_after_what_it_has_read() {
        let alone = |found: &[&str], is_last| {
            let part = round(found, "k", is_last).alone(2, String::clone);
            (part.items, part.next)
        };
        assert_eq!(alone(&["a", "b", "c"], true), (texts(&["a", "b"]), Some("b".to_owned())));
        assert_eq!(alone(&["a"], false), (texts(&["a"]), Some("k".to_owned())));
        assert_eq!(alone(&["a", "b"], true), (texts(&["a", "b"]), None));
    }

    fn round(found: &[&str], last: &str, is_last: bool) -> Round<String> {
        Round { found: texts(found), last: Some(last.to_owned()), is_last }
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }
}
