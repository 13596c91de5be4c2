//! The system calls that are refused to a contained program: those that open connections, those that Landlock of this
//! kernel does not cover, and the one that sets limits of other programs.
//!
//! The filter is the same for every process of the program. A refused call fails as if it was not permitted.

use std::{collections::BTreeMap, io, path::Path};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::contain::rules::Access;

/// The Landlock rules that cover `truncate`.
const COVERS_TRUNCATE: u8 = 3;

/// The bits of the type of a socket that are not flags.
const TYPE: u64 = 0xf;

/// The type of a socket of the Datagram Congestion Control Protocol, which some C libraries do not name.
const DCCP: i32 = 6;

/// The flag in the number of a system call of the x32 interface.
const X32: i64 = 0x4000_0000;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Prepares the filter of `access`. None if this system or this architecture has no filters.
///
/// # Errors
/// If the filter cannot be built.
pub(super) fn prepare(access: &Access) -> io::Result<Option<BpfProgram>> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH);
    let Some(architecture) = architecture.ok().filter(|_| kernel_filters()) else {
        return Ok(None);
    };
    let build = || {
        let mut rules = Rules::new();
        // The kernel ends a program at its limit of processor time, and no rule of Landlock covers the limits of others.
        let of_others = rule(&[(0, SeccompCmpOp::Ne, 0)])?;
        rules.insert(libc::SYS_prlimit64, vec![of_others]);
        if !access.connects {
            refuse_connections(&mut rules)?;
        }
        if access.files.is_some()
            && access.landlock.min(super::access::landlock()) < COVERS_TRUNCATE
        {
            rules.insert(libc::SYS_truncate, vec![]);
        }
        if architecture == TargetArch::x86_64 {
            let x32 = rules.clone().into_iter().map(|(call, rules)| (call | X32, rules));
            rules.extend(x32.collect::<Vec<_>>());
        }
        let refuse = SeccompAction::Errno(libc::EACCES.unsigned_abs());
        SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)
            .and_then(BpfProgram::try_from)
            .map(Some)
    };
    build().map_err(io::Error::other)
}

/// Returns whether this system can refuse system calls.
pub(super) fn are_filtered() -> bool {
    TargetArch::try_from(std::env::consts::ARCH).is_ok() && kernel_filters()
}

/// Returns whether the kernel has filters, and lets this process have one. An emulator of another processor, such as qemu,
/// has none although the kernel below it does, because its own calls would be filtered.
fn kernel_filters() -> bool {
    Path::new("/proc/sys/kernel/seccomp/actions_avail").exists()
        && rustix::thread::secure_computing_mode().is_ok()
}

/// Refuses to connect, and every socket that could send without being connected.
fn refuse_connections(rules: &mut Rules) -> Result<(), seccompiler::BackendError> {
    rules.insert(libc::SYS_connect, vec![]);
    // An io_uring makes system calls that no filter sees.
    rules.insert(libc::SYS_io_uring_setup, vec![]);
    let number = |number: i32| u64::from(number.unsigned_abs());
    let [unix, v4, v6, netlink] =
        [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(number);
    let mut sockets = vec![rule(&[
        (0, SeccompCmpOp::Ne, unix),
        (0, SeccompCmpOp::Ne, v4),
        (0, SeccompCmpOp::Ne, v6),
        (0, SeccompCmpOp::Ne, netlink),
    ])?];
    for family in [unix, v4, v6] {
        let [datagram, raw] = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(number);
        for kind in [datagram, raw] {
            sockets.push(of_kind(family, kind)?);
        }
    }
    for family in [v4, v6] {
        let others = [libc::SOCK_RDM, libc::SOCK_SEQPACKET, DCCP].map(number);
        for kind in others {
            sockets.push(of_kind(family, kind)?);
        }
        sockets.push(rule(&[
            (0, SeccompCmpOp::Eq, family),
            (2, SeccompCmpOp::Eq, number(libc::IPPROTO_SCTP)),
        ])?);
    }
    rules.insert(libc::SYS_socket, sockets);
    // The first data of a TCP connection may open it.
    let fast = number(libc::MSG_FASTOPEN);
    for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
        rules.insert(call, vec![rule(&[(flags, SeccompCmpOp::MaskedEq(fast), fast)])?]);
    }
    Ok(())
}

fn of_kind(family: u64, kind: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    rule(&[(0, SeccompCmpOp::Eq, family), (1, SeccompCmpOp::MaskedEq(TYPE), kind)])
}

/// Returns the rule that these arguments of a call all have these values.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, seccompiler::BackendError> {
    let conditions = conditions.iter().map(|(argument, compare, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, compare.clone(), *value)
    });
    SeccompRule::new(conditions.collect::<Result<Vec<_>, _>>()?)
}
