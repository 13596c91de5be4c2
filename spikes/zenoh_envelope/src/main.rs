//! Shows whether Link's envelopes, receipts and hellos fit a zenoh router unchanged.
//!
//! Opens a router with credential slots and two devices in this process, runs each check against
//! them, prints one line for each and fails if one does not hold. See README.md.

#![forbid(unsafe_code)]

mod backend;
mod checks;
mod device;
mod inbox;
mod proof;
mod relay;
mod router;
mod samples;

use std::{process::ExitCode, time::Instant};

use anyhow::Context as _;

use crate::{
    checks::{World, commands, figure, isolation, link_loss, presence},
    router::Access,
};

/// Prints the outcome of each check and remembers whether all held.
struct Board {
    held: usize,
    failed: usize,
}

impl Board {
    fn record(&mut self, check: &str, outcome: anyhow::Result<String>) {
        match outcome {
            Ok(figures) => {
                self.held += 1;
                println!("ok    {check}: {figures}");
            }
            Err(error) => {
                self.failed += 1;
                println!("FAIL  {check}: {error:#}");
            }
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let world = World::open(Access::Slots).await.context("failed to open the router")?;
    let mut board = Board { held: 0, failed: 0 };
    let opened = "router with 3 slots, 2 devices over TLS; the file of users is already deleted";
    board.record("open", Ok(format!("{opened}; {}", figure(started.elapsed()))));
    board.record("byte-exact text", commands::byte_exact(&world).await);
    board.record("hello and result", commands::hello(&world).await);
    board.record("receipt as reply", commands::round_trip(&world).await);
    board.record("backend as a client", commands::outside_backend(&world).await);
    board.record("redelivery", commands::redelivery(&world).await);
    board.record("refusals", commands::refusals(&world).await);
    board.record("large envelopes", commands::size(&world).await);
    board.record("oversize", commands::oversize(&world).await);
    board.record("presence", presence::join_and_leave(&world).await);
    board.record("hostile device", isolation::attacks(&world).await);
    board.record("nobody there", link_loss::absent(&world).await);
    board.record("no answer", link_loss::unanswered(&world).await);
    board.record("two sessions", link_loss::twice(&world).await);
    board.record("network change", link_loss::network_change(&world).await);
    board.record("frozen link", link_loss::frozen(&world).await);
    board.record("half-open link", link_loss::half_open(&world).await);
    board.record("half-open, complete", link_loss::half_open_complete(&world).await);
    let Board { held, failed } = board;
    println!("{held} checks hold, {failed} do not; {}", figure(started.elapsed()));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
