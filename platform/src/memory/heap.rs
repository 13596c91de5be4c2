//! Settings of the glibc allocator. By default it gives each concurrent thread its own arena, and no arena uses the
//! free memory of another. After a large block was freed, it also keeps blocks of that size: hashing a single password
//! would hold 19 MB until the program ends.

use std::{num::NonZero, thread};

use libc::{M_ARENA_MAX, M_MMAP_THRESHOLD, c_int, malloc_trim, mallopt};

/// Blocks of at least this size get their own pages, in bytes.
const LARGE: c_int = 1 << 20;

pub(super) fn keep_together() {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    set(M_ARENA_MAX, c_int::try_from(processors).unwrap_or(c_int::MAX));
    set(M_MMAP_THRESHOLD, LARGE);
}

pub(super) fn give_back() {
    #[expect(unsafe_code, reason = "a function of the system's allocator")]
    // SAFETY: the function locks the heap and releases only free memory.
    unsafe {
        malloc_trim(0);
    }
}

/// Sets an allocator setting. The allocator accepts each value that this module uses.
fn set(setting: c_int, value: c_int) {
    #[expect(unsafe_code, reason = "a function of the system's allocator")]
    // SAFETY: the function takes two numbers and locks the settings that it changes.
    let is_taken = unsafe { mallopt(setting, value) } == 1;
    debug_assert!(is_taken, "{setting} is not {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the memory of this process that is not backed by a file, in bytes.
    #[expect(clippy::disallowed_methods, reason = "what the kernel says of this process")]
    fn anonymous() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
    }

    #[test]
    fn what_is_large_goes_back_when_it_is_freed() {
        keep_together();
        let before = anonymous();
        for _ in 0..3 {
            let large = vec![1_u8; 19 << 20];
            assert!(anonymous() > before + (18 << 20));
            drop(std::hint::black_box(large));
        }
        assert!(anonymous() < before + (4 << 20));
    }

    #[test]
    fn what_is_free_between_what_is_used_goes_back() {
        let before = anonymous();
        let blocks: Vec<_> = (0..4_000).map(|_| vec![1_u8; 16 << 10]).collect();
        assert!(anonymous() > before + (60 << 20));
        let kept: Vec<_> = blocks.into_iter().step_by(16).collect();
        give_back();
        assert!(anonymous() < before + (16 << 20));
        assert!(kept.iter().flatten().all(|byte| *byte == 1));
    }
}
