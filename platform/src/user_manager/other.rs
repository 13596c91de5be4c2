//! Systems without systemd.

pub(super) const fn complete_environment() {}

pub(super) const fn systemd_is_init() -> bool {
    false
}
