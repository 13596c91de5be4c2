//! Not implemented on these systems.

pub(super) const fn give_back_program() -> u64 {
    0
}

pub(super) const fn total_bytes() -> Option<u64> {
    None
}
