//! The variables that hold secrets.

pub(super) const KEY: &str = "LINK_REGISTRATION_KEY";
pub(super) const TOKEN: &str = "LINK_ACCESS_TOKEN";
/// Variables that the agent and its engines must not inherit.
pub(super) const SECRETS: [&str; 3] = [KEY, "LINK_FLEET_KEY", TOKEN];
