//! Waiting for a condition.

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// How long a condition may take on a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `look` finds something; panics with `what` when it does not in time.
pub async fn until<T, F, Looking>(what: &str, mut look: F) -> T
where
    F: FnMut() -> Looking,
    Looking: Future<Output = Option<T>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for: {what}");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}
