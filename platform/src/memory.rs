//! What a program keeps in memory: of its own file, and of what it has freed.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod heap;
#[cfg(target_os = "linux")]
#[path = "memory/linux.rs"]
mod system;
#[cfg(not(target_os = "linux"))]
#[path = "memory/other.rs"]
mod system;

/// Gives back the pages of this program's own file, code and constants, that are mapped at this
/// moment; what is used again is mapped again, from the file. A start touches nearly all of a
/// program, the idle time after it a small part. Returns how many bytes it concerned: 0 where it is
/// not done.
#[must_use]
pub fn give_back_program() -> u64 {
    system::give_back_program()
}

/// Keeps the heap together, where the system's allocator would spread it: there are as many arenas as
/// processors and not eight times as many, and what is as large as a megabyte goes back to the system
/// when it is freed. To be called once, before there are threads.
pub fn keep_heap_together() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    heap::keep_together();
}

/// Gives back what is free on the heap: whole pages between what is used. It takes some milliseconds,
/// in which others wait for memory.
pub fn give_back_heap() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    heap::give_back();
}

/// Returns how much main memory the machine has, in bytes; nothing where that is not known.
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
