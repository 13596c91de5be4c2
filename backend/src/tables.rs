//! The database tables: one file for each table, or for data that is always stored together.
//!
//! The functions find, insert, change and delete rows, and return types of the domain. The rules are in `domain`, and
//! `app` opens the transactions.

pub(crate) mod accounts;
pub(crate) mod audit;
pub(crate) mod bucket_uploads;
pub(crate) mod check;
pub(crate) mod command_list;
pub(crate) mod commands;
pub(crate) mod counts;
pub(crate) mod deployments;
pub(crate) mod device_codes;
pub(crate) mod device_counts;
pub(crate) mod device_logs;
pub(crate) mod devices;
pub(crate) mod idempotency;
pub(crate) mod invitations;
pub(crate) mod keys;
pub(crate) mod leases;
pub(crate) mod loads;
pub(crate) mod locks;
pub(crate) mod login_hosts;
pub(crate) mod members;
pub(crate) mod models;
pub(crate) mod names;
pub(crate) mod operations;
pub(crate) mod paging;
pub(crate) mod passwords;
pub(crate) mod presence;
pub(crate) mod refresh_tokens;
pub(crate) mod reports;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod slots;
pub(crate) mod summary;
pub(crate) mod sweep;
pub(crate) mod systems;
pub(crate) mod tokens;
pub(crate) mod transfer;
pub mod upkeep;
pub(crate) mod uploads;
pub(crate) mod usage;

pub use command_list::CommandFilter;
pub use deployments::{DeploymentFilter, DeploymentView};
pub use devices::DeviceFilter;
pub use models::ModelList;
pub use paging::Look;
pub use sweep::Outdated;
pub use usage::{UsageFilter, UsagePeriod, UsageScope};
