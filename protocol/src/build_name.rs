//! Names of the builds of an engine, which become names of folders.

use std::cmp::Ordering;

use crate::limits;

/// Returns whether `name` can be the name of a build, and thus of its folder.
#[must_use]
pub fn is_build_name(name: &str) -> bool {
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let length = 1..=limits::ENGINE_INDEX_WORD;
    length.contains(&name.len())
        && !name.starts_with('.')
        && name != "current"
        && name.chars().all(usual)
}

/// Returns whether the build `name` is known to be older than `other`. Names that differ in more than their numbers cannot
/// be compared, and neither is older.
#[must_use]
pub fn is_older(name: &str, other: &str) -> bool {
    let (name, other) = (parts(name), parts(other));
    if name.len() != other.len() {
        return false;
    }
    let mut order = Ordering::Equal;
    for pair in name.iter().zip(&other) {
        match pair {
            (Part::Text(one), Part::Text(two)) if one == two => {}
            (Part::Number(one), Part::Number(two)) => order = order.then(one.cmp(two)),
            (Part::Text(_) | Part::Number(_), Part::Text(_) | Part::Number(_)) => return false,
        }
    }
    order == Ordering::Less
}

/// A part of a name: digits, or what is between them.
enum Part<'a> {
    Text(&'a str),
    Number(u64),
}

fn parts(name: &str) -> Vec<Part<'_>> {
    let is_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let of_digits = is_digit(rest);
        let end = rest.find(|c: char| c.is_ascii_digit() != of_digits).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        rest = after;
        parts.push(match part.parse() {
            Ok(number) if of_digits => Part::Number(number),
            Ok(_) | Err(_) => Part::Text(part),
        });
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_compared_by_their_numbers_if_nothing_else_differs() {
        for (older, newer) in [("b8808", "b9789"), ("b9789", "b10068"), ("1.8.4", "1.10.0")] {
            assert!(is_older(older, newer) && !is_older(newer, older), "{older} {newer}");
        }
        for (one, other) in [
            ("b9789", "b9789"),
            ("mine", "b9789"),
            ("bin", "b9789"),
            ("b1", "b2-cuda"),
            ("1.8", "1.8.4"),
            ("", "b1"),
            ("b99999999999999999999999", "b1"),
        ] {
            assert!(!is_older(one, other) && !is_older(other, one), "{one} {other}");
        }
    }
}
