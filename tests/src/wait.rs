//! Waiting for a condition.

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// The timeout of a condition, long enough for a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until `look` returns a value. Panics with `what` after [`PATIENCE`].
pub async fn until<T, F, Looking>(what: &str, look: F) -> T
where
    F: FnMut() -> Looking,
    Looking: Future<Output = Option<T>>,
{
    within(PATIENCE, what, look).await
}

/// Like [`until`], for a condition that normally takes longer than [`PATIENCE`].
///
/// # Panics
/// Panics if `look` returns nothing in time.
pub async fn within<T, F, Looking>(patience: Duration, what: &str, mut look: F) -> T
where
    F: FnMut() -> Looking,
    Looking: Future<Output = Option<T>>,
{
    let deadline = Instant::now() + patience;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "waited in vain for: {what}");
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}
