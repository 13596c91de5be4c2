//! The console hides what is typed while it is read, and shows nothing before that.

/// Nothing to take back.
#[derive(Debug)]
pub(super) struct Hidden;

pub(super) const fn hide_input() -> Option<Hidden> {
    Some(Hidden)
}
