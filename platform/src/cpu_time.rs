//! The CPU time that a process has used.

use std::time::Duration;

#[cfg(target_os = "linux")]
#[path = "cpu_time/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "cpu_time/other.rs"]
mod system;

/// Returns the CPU time of process `pid` and all its threads since its start. None if the process has ended or the
/// system does not report the time.
#[must_use]
pub fn of(pid: u32) -> Option<Duration> {
    system::of(pid)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_works_has_used_more_than_before() {
        let own = std::process::id();
        let later = of(own).unwrap() + Duration::from_millis(50);
        // Each call uses CPU time itself.
        assert!((0..1_000_000).any(|_| of(own).unwrap() >= later));
        assert_eq!(of(u32::MAX), None);
    }
}
