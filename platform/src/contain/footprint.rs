//! The memory of processes: what the machine cannot take back from them. Pages of files, such as those of a mapped model,
//! are not among it.

#![expect(clippy::disallowed_methods, reason = "IO shell: what the kernel says of a process")]

use std::fs;

use rustix::process::Pid;

/// Returns the memory of all `members` in bytes, if it is above `limit`.
pub(super) fn above(limit: u64, members: &[Pid]) -> Option<u64> {
    let total: u64 = members.iter().map(|pid| counted(*pid)).sum();
    if total <= limit {
        return None;
    }
    // Pages that processes share were counted for each of them.
    let total = members.iter().map(|pid| shared(*pid).unwrap_or_else(|| counted(*pid))).sum();
    (total > limit).then_some(total)
}

/// Returns the memory of a process, shared pages included.
fn counted(pid: Pid) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    sum(&text, &["RssAnon", "RssShmem", "VmSwap"])
}

/// Returns the memory of a process with its share of shared pages. None if the process hides it.
fn shared(pid: Pid) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    Some(sum(&text, &["Pss_Anon", "Pss_Shmem", "SwapPss"])).filter(|bytes| *bytes > 0)
}

/// Adds up the lines with these names, in bytes. The kernel writes KiB.
fn sum(text: &str, names: &[&str]) -> u64 {
    let named = text.lines().filter_map(|line| line.split_once(':'));
    let kib = named
        .filter(|(name, _)| names.contains(name))
        .filter_map(|(_, value)| value.split_whitespace().next()?.parse::<u64>().ok());
    kib.sum::<u64>().saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_kernel_are_added_up() {
        let status = "Name:\tVmSwap: 7\nVmRSS:\t  900 kB\nRssAnon:\t  12 kB\nRssFile:\t 800 kB\nRssShmem:\t 3 kB\nVmSwap:\t 1 kB\n";
        assert_eq!(sum(status, &["RssAnon", "RssShmem", "VmSwap"]), 16 * 1024);
        assert_eq!(sum("", &["RssAnon"]), 0);
    }

    #[test]
    fn what_a_process_holds_is_above_a_lower_limit_only() {
        let held = vec![1_u8; 64 << 20];
        let own = rustix::process::getpid();
        assert!(above(64 << 20, &[own]).is_some_and(|bytes| bytes > held.len() as u64));
        assert_eq!(above(1 << 40, &[own]), None);
        // A process that is counted twice shares everything with itself.
        assert!(above(100 << 20, &[own, own]).is_some());
    }
}
