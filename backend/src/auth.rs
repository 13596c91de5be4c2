//! Authentication of callers: tokens, passwords, and the secrets in private files.
//!
//! This module does not read the database. `app` compares the presented secrets with the stored
//! ones.

pub mod access;
pub mod owner_file;
pub mod passwords;
pub mod refresh;
pub mod session;
pub mod setup_token;
