//! The pages of the backend in Debian's Chromium, against real programs.

#![expect(clippy::unwrap_used, reason = "a step that fails ends the test")]

mod add_device;
mod administration;
mod chromium;
mod dashboard;
mod device_flow;
mod devices;
mod doctor;
mod hostile;
mod install;
mod keyboard;
mod own_backend;
mod reference;
mod session;
mod story;
mod tabs;
mod workspace;
