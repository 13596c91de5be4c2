//! The table of listening sockets of Windows. It names the process of each, and no more is read for an engine: the library that
//! names programs too opens every process of the machine for it.

use std::{io, net::Ipv4Addr, ptr};

use windows_sys::Win32::{
    Foundation::{ERROR_INSUFFICIENT_BUFFER, NO_ERROR},
    NetworkManagement::IpHelper::{
        GetExtendedTcpTable, MIB_TCPROW_OWNER_PID, TCP_TABLE_OWNER_PID_LISTENER,
    },
    Networking::WinSock::AF_INET,
};

use super::PortOwner;

pub(super) const KNOWS: bool = true;
pub(super) const RESERVES: bool = true;

/// The number of attempts to read a table that grows meanwhile.
const ATTEMPTS: usize = 10;

pub(super) fn find(port: u16) -> Option<PortOwner> {
    let found = ::listeners::get_process_by_port(port, ::listeners::Protocol::TCP).ok()?;
    Some(PortOwner { pid: found.pid, program: found.name })
}

pub(super) const fn user_of(_port: u16) -> Option<String> {
    None
}

/// Windows gives a socket no number of its own, so a second socket of the same process at the same address counts as the
/// first one.
pub(super) fn listener_of(pid: u32, port: u16) -> Option<String> {
    let address = u32::from_ne_bytes(Ipv4Addr::LOCALHOST.octets());
    let is_it = |row: &MIB_TCPROW_OWNER_PID| {
        // The port is in network byte order, in the lower half.
        let listens = u16::from_be(u16::try_from(row.dwLocalPort & 0xffff).unwrap_or_default());
        (row.dwOwningPid, row.dwLocalAddr, listens) == (pid, address, port)
    };
    let found = listeners().ok()?.iter().any(is_it);
    found.then(|| format!("{pid} {port}"))
}

fn listeners() -> io::Result<Vec<MIB_TCPROW_OWNER_PID>> {
    let mut table: Vec<u32> = Vec::new();
    for _ in 0..ATTEMPTS {
        let mut size = u32::try_from(size_of_val(table.as_slice())).unwrap_or(u32::MAX);
        let place = if table.is_empty() { ptr::null_mut() } else { table.as_mut_ptr().cast() };
        #[expect(unsafe_code, reason = "a system call that fills memory of ours")]
        // SAFETY: `place` is null or has `size` bytes, which are aligned for numbers of 32 bits, as all of the table are.
        let answer = unsafe {
            let class = TCP_TABLE_OWNER_PID_LISTENER;
            GetExtendedTcpTable(place, &raw mut size, 0, u32::from(AF_INET), class, 0)
        };
        match answer {
            NO_ERROR if table.is_empty() => return Ok(Vec::new()),
            NO_ERROR => return Ok(rows(&table)),
            // A little more, because the table may grow until it is read.
            ERROR_INSUFFICIENT_BUFFER => table = vec![0; size as usize / 4 + 64],
            error => return Err(io::Error::from_raw_os_error(error.cast_signed())),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// Reads the rows: their number, then six numbers each.
fn rows(table: &[u32]) -> Vec<MIB_TCPROW_OWNER_PID> {
    let Some((&count, numbers)) = table.split_first() else { return Vec::new() };
    let (rows, _rest) = numbers.as_chunks::<6>();
    let row = |row: &[u32; 6]| {
        let [state, local, port, remote, remote_port, pid] = *row;
        MIB_TCPROW_OWNER_PID {
            dwState: state,
            dwLocalAddr: local,
            dwLocalPort: port,
            dwRemoteAddr: remote,
            dwRemotePort: remote_port,
            dwOwningPid: pid,
        }
    };
    rows.iter().take(count as usize).map(row).collect()
}
