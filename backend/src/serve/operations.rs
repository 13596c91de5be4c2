//! Processes operations at the configured rate, as long as the backend runs.

#![expect(clippy::disallowed_methods, reason = "IO shell: time")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use link_backend::{
    app::{App, operation_work::Worker},
    domain::allowance::{Allowance, Purse},
};

/// The wait between two turns that change something.
const STEP: Duration = Duration::from_millis(100);
/// The maximum wait. While all devices were sent their requests, or there is no operation, the wait doubles up to this
/// maximum. It is short because another backend on the database may accept an operation.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The number of turns per second that send requests.
const TURNS: u32 = 10;

pub(super) async fn run(app: Arc<App>) {
    let each_second = app.operation_rate();
    let allowance = Allowance { burst: each_second.div_ceil(TURNS), each_second };
    let began = Instant::now();
    let mut purse = Purse::full(allowance, began.elapsed());
    let (mut worker, mut wait) = (Worker::default(), STEP);
    loop {
        let now = began.elapsed();
        let most = (1..=allowance.burst).take_while(|amount| purse.has(*amount, now)).count();
        let most = u32::try_from(most).unwrap_or(allowance.burst);
        wait = match app.work_off(&mut worker, most).await {
            Ok(turn) => {
                let paid = purse.spend(turn.tried, began.elapsed());
                let is_busy = turn.tried > 0 || turn.changed > 0 || turn.has_more || most == 0;
                if is_busy { STEP.max(paid) } else { (wait * 2).min(LONGEST_WAIT) }
            }
            Err(error) => {
                tracing::error!(%error, "operations could not be worked off");
                LONGEST_WAIT
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = app.operation_rung(), if wait > STEP => {}
        }
    }
}
