//! The Windows console hides typed characters only while a program reads them, and shows none before that.

/// There are no settings to restore.
#[derive(Debug)]
pub(super) struct Hidden;

pub(super) const fn hide_input() -> Option<Hidden> {
    Some(Hidden)
}

pub(super) const fn take_typed_end() -> bool {
    false
}
