//! The size of the memory. Giving pages back is not implemented.

use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

pub(super) const fn give_back_program() -> u64 {
    0
}

pub(super) fn total_bytes() -> Option<u64> {
    let size = u32::try_from(size_of::<MEMORYSTATUSEX>()).ok()?;
    let mut status = MEMORYSTATUSEX { dwLength: size, ..MEMORYSTATUSEX::default() };
    // SAFETY: the structure has its own length, and lives until the call returns.
    #[expect(unsafe_code, reason = "one system call")]
    let done = unsafe { GlobalMemoryStatusEx(&mut status) };
    (done != 0).then_some(status.ullTotalPhys)
}
