//! Returns memory to the system: pages of the program's own file, and freed heap memory.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod heap;
#[cfg(target_os = "linux")]
#[path = "memory/linux.rs"]
mod system;
#[cfg(windows)]
#[path = "memory/windows.rs"]
mod system;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "memory/other.rs"]
mod system;

/// Unmaps the pages of this program's own file: code and constants. The kernel maps a page again from the file when it
/// is used. A program uses nearly all its pages at its start, and few while it is idle. Returns the number of unmapped
/// bytes: 0 on systems where this is not implemented.
#[must_use]
pub fn give_back_program() -> u64 {
    system::give_back_program()
}

/// Limits the size of the heap: as many arenas as processors instead of eight times as many, and freed blocks of a
/// megabyte or more are returned to the system. Must be called once, before the program starts a thread.
pub fn keep_heap_together() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    heap::keep_together();
}

/// Returns the free whole pages of the heap to the system. This takes some milliseconds, during which other threads
/// wait for memory.
pub fn give_back_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    heap::give_back();
}

/// Returns the main memory of the machine in bytes. None if the size is unknown.
#[must_use]
pub fn total_bytes() -> Option<u64> {
    system::total_bytes()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn what_was_given_back_is_used_again_as_if_nothing_had_been() {
        for _ in 0..3 {
            assert!(super::give_back_program() > 0, "a program has code");
            let words: std::collections::BTreeSet<_> = "one two three".split(' ').collect();
            assert_eq!(format!("{words:?}"), r#"{"one", "three", "two"}"#);
        }
    }
}
