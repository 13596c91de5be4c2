//! The clock for decisions: that of the database server if several backends share one, else that of this machine.

use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};

use crate::{app::App, domain::clock_offset, failure::AppError};

/// The offset from the clock of this machine, in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Offset(AtomicI64);

impl App {
    /// Returns the time for decisions, in whole milliseconds.
    pub(super) fn now(&self) -> Timestamp {
        let now = self.config.clock.now();
        now.saturating_add(self.clock_offset()).unwrap_or(now)
    }

    /// Compares the clock of this machine with that of the database server.
    ///
    /// # Errors
    /// [`AppError::Store`]; the offset stays unchanged.
    pub async fn compare_clocks(&self) -> Result<(), AppError> {
        let asked = self.config.clock.now();
        let Some(told) = self.store.server_time().await? else { return Ok(()) };
        let heard = self.config.clock.now();
        let before = self.clock_offset();
        let offset = clock_offset::measured(before, asked, told, heard);
        if clock_offset::is_too_far(offset) && !clock_offset::is_too_far(before) {
            tracing::error!(
                offset_s = offset.as_secs(),
                "the clock of this machine is wrong: set it by NTP, as that of the database server is"
            );
        }
        let ms = i64::try_from(offset.as_millis()).unwrap_or(0);
        self.offset.0.store(ms, Ordering::Relaxed);
        Ok(())
    }

    /// Returns how far the clock of the database server is ahead of the clock of this machine.
    pub(super) fn clock_offset(&self) -> SignedDuration {
        SignedDuration::from_millis(self.offset.0.load(Ordering::Relaxed))
    }
}
