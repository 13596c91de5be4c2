//! Settings of the allocator of glibc. By default it gives each of several concurrent threads an arena, and no arena uses
//! the free memory of another. After a large block was freed it keeps as much for later: the hash of one password
//! would keep 19 MB until the program ends.

use std::{num::NonZero, thread};

use libc::{M_ARENA_MAX, M_MMAP_THRESHOLD, c_int, malloc_trim, mallopt};

/// Size from which a block has pages of its own, in bytes.
const LARGE: c_int = 1 << 20;

pub(super) fn keep_together() {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    set(M_ARENA_MAX, c_int::try_from(processors).unwrap_or(c_int::MAX));
    set(M_MMAP_THRESHOLD, LARGE);
}

pub(super) fn give_back() {
    #[expect(unsafe_code, reason = "a function of the system's allocator")]
    // SAFETY: it locks what it changes; nothing that is used is touched.
    unsafe {
        malloc_trim(0);
    }
}

/// The allocator accepts each of these values; it ignores others.
fn set(setting: c_int, value: c_int) {
    #[expect(unsafe_code, reason = "a function of the system's allocator")]
    // SAFETY: it takes two numbers and locks what it changes.
    let is_taken = unsafe { mallopt(setting, value) } == 1;
    debug_assert!(is_taken, "{setting} is not {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory of this process that belongs to no file, in bytes.
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
