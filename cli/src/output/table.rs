//! Lays out a table for a terminal or for a program. Pure.
//!
//! On a terminal a table fits the width: times are relative, ids are shortened as far as they stay unique in their
//! column, and long texts end in `…`. Elsewhere every value is exact and complete, so that a script can use it.
//! `--full` and `--utc` request the same on a terminal.

use console::{measure_text_width, truncate_str};
use jiff::{Timestamp, Unit};
use link_protocol::shown;

/// Blank characters between two columns.
const GAP: usize = 2;
/// The minimum width of a column.
const NARROWEST: usize = 6;
/// The minimum number of characters of a shortened id, without its prefix.
const SHORTEST_ID: usize = 4;
/// A time that is further away than this is shown as a date.
const OLDEST_DAYS: i64 = 30;

/// The form in which values are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// The width of the terminal in characters. None if lines have no limit.
    pub(crate) width: Option<usize>,
    /// Whether ids and texts are shown in full.
    pub(crate) full: bool,
    /// Whether times are exact.
    pub(crate) utc: bool,
    pub(crate) now: Timestamp,
}

/// A value in a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    Id(String),
    /// An object with an id, and its name if known.
    Named {
        id: String,
        name: Option<String>,
    },
    Time(Timestamp),
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Cell {
    /// Creates the cell of a time. The text is `none` if there is no time.
    pub(crate) fn time(time: Option<Timestamp>, none: &str) -> Self {
        time.map_or_else(|| none.into(), Self::Time)
    }

    pub(crate) fn id(id: impl ToString) -> Self {
        Self::Id(id.to_string())
    }

    fn id_in(&self) -> Option<&str> {
        match self {
            Self::Id(id) | Self::Named { id, name: None } => Some(id),
            Self::Text(_) | Self::Named { name: Some(_), .. } | Self::Time(_) => None,
        }
    }
}

impl View {
    /// Creates a view with exact and complete values.
    pub(crate) const fn exact(now: Timestamp) -> Self {
        Self { width: None, full: true, utc: true, now }
    }

    /// Formats a time.
    pub(crate) fn time(&self, time: Timestamp) -> String {
        let exact = || time.round(Unit::Second).unwrap_or(time).to_string();
        if self.utc { exact() } else { relative(time, self.now).unwrap_or_else(exact) }
    }

    /// Formats a value outside of a table: an id is complete, and its name stands behind it.
    pub(crate) fn whole(&self, cell: Cell) -> String {
        Self { full: true, ..*self }.text(cell, 0)
    }

    /// Lays out `rows` below their headings, one line per row.
    pub(crate) fn table<const N: usize>(
        &self,
        headings: [&str; N],
        rows: impl IntoIterator<Item = [Cell; N]>,
    ) -> String {
        let rows: Vec<[Cell; N]> = rows.into_iter().collect();
        let digits: [usize; N] = std::array::from_fn(|column| {
            let ids: Vec<&str> = rows.iter().filter_map(|row| row[column].id_in()).collect();
            unique_length(&ids)
        });
        let rigid: [bool; N] = std::array::from_fn(|column| {
            rows.iter().any(|row| matches!(row[column], Cell::Id(_) | Cell::Time(_)))
        });
        let mut lines = vec![headings.map(str::to_owned)];
        lines.extend(rows.into_iter().map(|row| {
            let mut column = 0;
            row.map(|cell| {
                let text = self.text(cell, digits[column]);
                column += 1;
                shown::one_line(&text)
            })
        }));
        let natural: [usize; N] = std::array::from_fn(|column| {
            lines.iter().map(|line| measure_text_width(&line[column])).max().unwrap_or_default()
        });
        let widths = match self.width {
            Some(width) => fitting(&natural, &rigid, width),
            None => natural.to_vec(),
        };
        let lines: Vec<String> = lines.iter().map(|line| laid_out(line, &widths)).collect();
        lines.join("\n")
    }

    fn text(&self, cell: Cell, digits: usize) -> String {
        match cell {
            Cell::Text(text) => text,
            Cell::Time(time) => self.time(time),
            Cell::Id(id) | Cell::Named { id, name: None } => self.short(id, digits),
            Cell::Named { id, name: Some(name) } if self.full => format!("{id} ({name})"),
            Cell::Named { name: Some(name), .. } => name,
        }
    }

    fn short(&self, id: String, digits: usize) -> String {
        match id.split_once('_') {
            Some((prefix, rest)) if !self.full && rest.len() > digits => {
                format!("{prefix}_{}", rest.chars().take(digits).collect::<String>())
            }
            Some(_) | None => id,
        }
    }
}

/// Returns how many characters after the prefix are enough to make all `ids` distinct.
fn unique_length(ids: &[&str]) -> usize {
    let mut sorted: Vec<&str> = ids.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let shared =
        |pair: &[&str]| pair[0].chars().zip(pair[1].chars()).take_while(|(a, b)| a == b).count();
    let longest = sorted.windows(2).map(|pair| {
        let prefix = pair[0].find('_').map_or(0, |at| at + 1);
        (shared(pair) + 1).saturating_sub(prefix)
    });
    longest.max().unwrap_or_default().max(SHORTEST_ID)
}

/// Returns column widths that fit into `width`: the widest texts are narrowed first. If that is not enough, the last
/// columns are left out. A rigid column, with ids or times, is never narrowed, only left out.
fn fitting(natural: &[usize], rigid: &[bool], width: usize) -> Vec<usize> {
    let mut widths = natural.to_vec();
    loop {
        let total = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        let Some(excess) = total.checked_sub(width).filter(|excess| *excess > 0) else {
            return widths;
        };
        let can_shrink =
            |(width, rigid): (&usize, &bool)| (!rigid && *width > NARROWEST).then_some(*width);
        let flexible: Vec<usize> = widths.iter().zip(rigid).filter_map(can_shrink).collect();
        let Some(widest) = flexible.iter().copied().max() else {
            if widths.len() < 2 {
                return widths;
            }
            widths = natural[..widths.len() - 1].to_vec();
            continue;
        };
        let next = flexible.iter().copied().filter(|other| *other < widest).max();
        let many = flexible.iter().filter(|other| **other == widest).count();
        let step = (widest - next.unwrap_or(NARROWEST)).min(excess.div_ceil(many));
        for (width, rigid) in widths.iter_mut().zip(rigid) {
            if !rigid && *width == widest {
                *width -= step;
            }
        }
    }
}

fn laid_out<const N: usize>(line: &[String; N], widths: &[usize]) -> String {
    let mut text = String::new();
    for (cell, width) in line.iter().zip(widths) {
        let cell = truncate_str(cell, *width, "…");
        text.push_str(&cell);
        let missing = width.saturating_sub(measure_text_width(&cell)) + GAP;
        text.extend(std::iter::repeat_n(' ', missing));
    }
    text.trim_end().to_owned()
}

/// Returns the distance between `time` and `now` in the largest fitting unit. None if it is too large.
fn relative(time: Timestamp, now: Timestamp) -> Option<String> {
    let seconds = now.as_second() - time.as_second();
    let (away, is_past) = (seconds.abs(), seconds >= 0);
    let (count, unit) = match away {
        0..5 => return Some("just now".to_owned()),
        5..60 => (away, "s"),
        60..3600 => (away / 60, "min"),
        3600..86_400 => (away / 3600, "h"),
        _ => (away / 86_400, "d"),
    };
    if away / 86_400 > OLDEST_DAYS {
        return Some(time.strftime("%Y-%m-%d").to_string());
    }
    Some(if is_past { format!("{count} {unit} ago") } else { format!("in {count} {unit}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(width: usize) -> View {
        View { width: Some(width), full: false, utc: false, now: now() }
    }

    fn now() -> Timestamp {
        "2026-10-01T12:00:00Z".parse().unwrap()
    }

    fn rows() -> [[Cell; 5]; 3] {
        let row = |ago: i64, who: Option<&str>, action: &str, id: &str, detail: &str| {
            [
                Cell::Time(now() - jiff::SignedDuration::from_secs(ago)),
                Cell::Named { id: "usr_0198aaaa00000001".into(), name: who.map(str::to_owned) },
                action.into(),
                Cell::id(id),
                detail.into(),
            ]
        };
        [
            row(
                3,
                Some("ada@example.com"),
                "device.register",
                "dev_0198f3c1aa01",
                "workstation in the second room on the left, with lrk",
            ),
            row(125, None, "model.create", "dev_0198f3c1bb02", "größe 🦀 smollm"),
            row(90 * 86_400, Some("bob"), "login", "dev_0198f3c2cc03", ""),
        ]
    }

    #[test]
    fn tables_at_every_width_are_the_committed_ones() {
        let headings = ["TIME", "WHO", "ACTION", "ON", "DETAIL"];
        let mut seen = String::new();
        for width in [60, 100, 200] {
            let table = view(width).table(headings, rows());
            assert!(table.lines().all(|line| measure_text_width(line) <= width), "{table}");
            seen.push_str(&format!("{width} columns:\n{table}\n\n"));
        }
        let full = View { full: true, utc: true, ..view(200) };
        seen.push_str(&format!("--full --utc, 200 columns:\n{}\n\n", full.table(headings, rows())));
        seen.push_str(&format!("a pipe:\n{}\n", View::exact(now()).table(headings, rows())));
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/src/output/table/golden.txt");
        assert_golden(golden, &seen);
    }

    #[expect(clippy::disallowed_methods, reason = "the test reads and updates its golden file")]
    fn assert_golden(golden: &str, seen: &str) {
        if std::env::var_os("LINK_UPDATE_GOLDEN").is_some() {
            std::fs::write(golden, seen).unwrap();
        }
        let committed = std::fs::read_to_string(golden).unwrap_or_default();
        assert_eq!(seen, committed, "run with LINK_UPDATE_GOLDEN=1 if the change is meant");
    }

    #[test]
    fn a_terminal_too_narrow_for_all_columns_loses_the_last_ones() {
        let texts = |natural: &[usize], width| fitting(natural, &[false; 3], width);
        assert_eq!(texts(&[10, 10, 10], 40), [10, 10, 10]);
        assert_eq!(texts(&[10, 40, 10], 40), [10, 16, 10]);
        assert_eq!(texts(&[10, 10, 10], 20), [9, 9]);
        assert_eq!(texts(&[10, 10, 10], 3), [6]);
        assert_eq!(fitting(&[10, 40, 10], &[true, false, true], 30), [10, 6, 10]);
        assert_eq!(fitting(&[10, 40, 10], &[true, false, true], 29), [10, 17]);
    }

    #[test]
    fn ids_are_as_long_as_it_takes_to_tell_them_apart() {
        assert_eq!(unique_length(&["dev_01aa", "dev_01ab"]), 4);
        assert_eq!(unique_length(&["dev_012345", "dev_012346"]), 6);
        assert_eq!(unique_length(&["dev_01", "dev_01"]), SHORTEST_ID);
        assert_eq!(unique_length(&[]), SHORTEST_ID);
    }

    #[test]
    fn a_time_is_as_far_away_as_a_person_would_say() {
        for (ago, said) in [
            (0, "just now"),
            (59, "59 s ago"),
            (120, "2 min ago"),
            (7200, "2 h ago"),
            (-7200, "in 2 h"),
            (3 * 86_400, "3 d ago"),
            (60 * 86_400, "2026-08-02"),
        ] {
            let time = now() - jiff::SignedDuration::from_secs(ago);
            assert_eq!(view(80).time(time), said);
        }
        let exact = View { utc: true, ..view(80) };
        assert_eq!(exact.time("2026-10-01T11:00:00.05Z".parse().unwrap()), "2026-10-01T11:00:00Z");
    }
}
