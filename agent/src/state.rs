//! What the agent knows from one run to the next: who its device is, the journal, the session of each run.

pub(crate) mod disk_space;
pub(crate) mod handover;
pub(crate) mod identity;
pub(crate) mod journal;
pub(crate) mod onboarding;
pub(crate) mod session;
pub(crate) mod state_folder;
