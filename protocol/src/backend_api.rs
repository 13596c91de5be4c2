//! Operations of the backend that a person or a script calls.
//!
//! Requests refuse unknown fields; answers may grow. Lists are [`Page`]s. One file per resource.

pub mod account;
pub mod audit;
pub mod command;
pub mod deployment;
pub mod device;
pub mod device_flow;
pub mod device_log;
pub mod key;
pub mod local_owner;
pub mod member;
pub mod model;
pub mod operation;
pub mod token;
pub mod usage;

use serde::{Deserialize, Serialize};

/// One page of a list.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Where the next page starts; null on the last one.
    pub next_cursor: Option<String>,
}

/// Which page of a list.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageRequest {
    /// Items to answer with: 1 to 200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}
