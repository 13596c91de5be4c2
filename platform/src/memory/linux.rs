//! Unmaps the pages of the program's file that were never modified. The kernel maps them again from the file when they
//! are used.

#![expect(
    clippy::disallowed_methods,
    reason = "IO shell: reads what the kernel says of this process"
)]

use std::fs;

use rustix::mm::{Advice, madvise};

/// One mapping of `/proc/self/smaps`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Mapping {
    start: usize,
    end: usize,
    /// Whether the mapping belongs to the program's own file and is read-only now.
    is_program: bool,
    /// Kilobytes that were modified, and so cannot be restored from the file.
    anonymous: Option<u64>,
}

pub(super) fn give_back_program() -> u64 {
    let (Ok(program), Ok(text)) =
        (fs::read_link("/proc/self/exe"), fs::read_to_string("/proc/self/smaps"))
    else {
        return 0;
    };
    let mut given_back = 0;
    for mapping in unwritten(&text, &program.to_string_lossy()) {
        let (start, length) = (mapping.start, mapping.end - mapping.start);
        #[expect(unsafe_code, reason = "one system call on memory that nothing ever wrote to")]
        // SAFETY: the range is a mapping of the program's own file, read-only now and never modified. So each page is
        // equal to the file, and the kernel reads it again from there.
        let advised = unsafe {
            madvise(std::ptr::with_exposed_provenance_mut(start), length, Advice::LinuxDontNeed)
        };
        if advised.is_ok() {
            given_back += length as u64;
        }
    }
    given_back
}

/// Returns the mappings of `program` in the text of `smaps` that were never modified.
fn unwritten(smaps: &str, program: &str) -> Vec<Mapping> {
    let mut found: Vec<Mapping> = Vec::new();
    for line in smaps.lines() {
        if let Some(mapping) = mapping(line, program) {
            found.push(mapping);
        } else if let (Some(rest), Some(last)) = (line.strip_prefix("Anonymous:"), found.last_mut())
        {
            last.anonymous = rest.split_whitespace().next().and_then(|number| number.parse().ok());
        }
    }
    found.retain(|mapping| mapping.is_program && mapping.anonymous == Some(0));
    found
}

/// Parses the first line of a mapping, such as `5581-5590 r-xp 00001000 fe:00 77 /usr/bin/link`.
fn mapping(line: &str, program: &str) -> Option<Mapping> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    let (start, end) = (address(start)?, address(end)?);
    let rights = words.next()?;
    // The name is everything after the device and the inode number, including spaces.
    let name = line.splitn(6, ' ').nth(5).unwrap_or_default().trim_start();
    let is_program = name == program && rights.starts_with('r') && rights.ends_with('p');
    let is_program = is_program && !rights.contains('w') && start < end;
    Some(Mapping { start, end, is_program, anonymous: None })
}

pub(super) fn total_bytes() -> Option<u64> {
    total_of(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nothing_was_written_to_is_the_programs() {
        let smaps = "\
1000-2000 r--p 00000000 fe:00 7                          /opt/a link/link-agent
Rss:                   4 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
2000-5000 r-xp 00001000 fe:00 7                          /opt/a link/link-agent
Anonymous:             0 kB
5000-6000 r--p 00004000 fe:00 7                          /opt/a link/link-agent
Anonymous:             4 kB
6000-7000 rw-p 00005000 fe:00 7                          /opt/a link/link-agent
Anonymous:             0 kB
7000-8000 r-xp 00000000 fe:00 8                          /lib/libc.so.6
Anonymous:             0 kB
8000-9000 rw-p 00000000 00:00 0                          [heap]
Anonymous:             0 kB
9000-a000 r-xp 00000000 fe:00 7                          /opt/a link/link-agent
";
        let found = unwritten(smaps, "/opt/a link/link-agent");
        let ranges: Vec<_> = found.iter().map(|one| (one.start, one.end)).collect();
        assert_eq!(ranges, [(0x1000, 0x2000), (0x2000, 0x5000)]);
        assert_eq!(unwritten("nonsense\n-\n", "x"), []);
    }

    #[test]
    fn the_memory_of_the_machine_is_told_in_bytes() {
        assert_eq!(
            total_of("MemTotal:       24688144 kB\nMemFree: 1 kB\n"),
            Some(24_688_144 << 10)
        );
        for bad in ["", "MemTotal: x kB", "MemTotal: 1", "MemTotal: 99999999999999999999 kB"] {
            assert_eq!(total_of(bad), None, "{bad}");
        }
        assert!(total_bytes().is_some_and(|total| total > 1 << 20));
    }
}
