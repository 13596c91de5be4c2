//! The text that a list is searched for.

/// The condition of items whose name contains a text, whatever the case, or whose id begins with it, with or without the
/// letters of its kind. The text is bound twice: as it is, and in lower case.
macro_rules! named {
    ($name:literal, $id:literal, $text:literal, $lower:literal) => {
        concat!(
            $crate::tables::search::contains!($name, $text, $lower),
            " OR substr(",
            $id,
            ", 1, length(",
            $text,
            ")) = ",
            $text,
            " OR substr(",
            $id,
            ", 5, length(",
            $text,
            ")) = ",
            $text
        )
    };
}

/// The condition of rows in which a column contains a text, whatever the case. `LIKE` would take `%` and `_` for wildcards.
macro_rules! contains {
    ($column:literal, $text:literal, $lower:literal) => {
        concat!(
            "replace(",
            $column,
            ", ",
            $text,
            ", '') <> ",
            $column,
            " OR replace(lower(",
            $column,
            "), ",
            $lower,
            ", '') <> lower(",
            $column,
            ")"
        )
    };
}

pub(super) use {contains, named};
