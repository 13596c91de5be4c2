//! Operations of the backend that a person or a script calls.
//!
//! A request with an unknown field is refused; a later version may add fields to an answer. Lists
//! are [`Page`]s. Each resource has its own file.

pub mod account;
pub mod audit;
pub mod command;
pub mod deployment;
pub mod device;
pub mod device_flow;
pub mod device_log;
pub mod event;
pub mod install;
pub mod key;
pub mod local_owner;
pub mod member;
pub mod metrics;
pub mod model;
pub mod operation;
pub mod session;
pub mod summary;
pub mod token;
pub mod usage;

use serde::{Deserialize, Serialize};

/// One page of a list.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// The page of a list.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageRequest {
    /// Items of a page: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<String>,
}
