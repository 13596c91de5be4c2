//! How a caller proves who they are: tokens, passwords, and the secrets that private files hold.
//!
//! Nothing here reads the database. `app` compares what is presented with what is stored.

pub mod access;
pub mod owner_file;
pub mod passwords;
pub mod refresh;
pub mod setup_token;
