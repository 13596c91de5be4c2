//! State that survives a restart: the journal and the session of each run.

pub(crate) mod disk_space;
pub(crate) mod handover;
pub(crate) mod journal;
pub(crate) mod session;
pub(crate) mod state_folder;
