//! What the system tells about a running process of this user.

#[cfg(target_os = "linux")]
#[path = "process_view/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "process_view/other.rs"]
mod system;

/// Returns the environment with which process `pid` was started. None if the process belongs to another user, or if the
/// system does not report it.
#[must_use]
pub fn environment(pid: u32) -> Option<Vec<(String, String)>> {
    system::environment(pid)
}

/// Returns how many files and connections process `pid` may have open at the same time. None if there is no limit, or if
/// the system does not report it.
#[must_use]
pub fn descriptor_limit(pid: u32) -> Option<u64> {
    system::descriptor_limit(pid)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_path_and_a_limit() {
        let us = std::process::id();
        let environment = environment(us).unwrap();
        assert!(environment.iter().any(|(name, value)| name == "PATH" && !value.is_empty()));
        assert!(descriptor_limit(us).is_some_and(|limit| limit > 0));
        assert_eq!((super::environment(0), descriptor_limit(0)), (None, None));
    }
}
