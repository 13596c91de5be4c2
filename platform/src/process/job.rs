//! Job objects, through the system calls that no crate of this project wraps.

use std::{
    io,
    os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle},
    process::Child,
    ptr,
};

use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};

/// A job without a name, which no other process can open.
#[derive(Debug)]
pub(super) struct Job(OwnedHandle);

impl Job {
    /// Creates a job whose processes are killed when its handle is closed.
    pub(super) fn that_ends_with_its_handle() -> io::Result<Self> {
        #[expect(unsafe_code, reason = "a system call without memory of ours")]
        // SAFETY: both arguments may be null. The handle is checked before it is owned.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        #[expect(unsafe_code, reason = "owns the handle that was just created")]
        // SAFETY: the handle is valid and nobody else owns it.
        let job = Self(unsafe { OwnedHandle::from_raw_handle(handle) });
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = u32::try_from(size_of_val(&limits)).unwrap_or_default();
        #[expect(unsafe_code, reason = "a system call that reads a structure of ours")]
        // SAFETY: the pointer and the size describe `limits`, which outlives the call.
        let done = unsafe {
            SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                ptr::from_ref(&limits).cast(),
                size,
            )
        };
        if done == 0 { Err(io::Error::last_os_error()) } else { Ok(job) }
    }

    /// Puts `child` into the job, and so every process that it starts from then on.
    pub(super) fn take(&self, child: &Child) -> io::Result<()> {
        #[expect(unsafe_code, reason = "a system call with two handles of ours")]
        // SAFETY: both handles are valid while `self` and `child` live.
        let done =
            unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), child.as_raw_handle()) };
        // A child that has already ended needs no job.
        if done == 0 && still_runs(child) { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Kills every process of the job.
    pub(super) fn terminate(&self) {
        #[expect(unsafe_code, reason = "a system call with a handle of ours")]
        // SAFETY: the handle is valid while `self` lives.
        let _gone = unsafe { TerminateJobObject(self.0.as_raw_handle(), 1) };
    }
}

fn still_runs(child: &Child) -> bool {
    use windows_sys::Win32::{Foundation::WAIT_TIMEOUT, System::Threading::WaitForSingleObject};

    #[expect(unsafe_code, reason = "a system call with a handle of ours")]
    // SAFETY: the handle is valid while `child` lives. The call does not wait.
    let waited = unsafe { WaitForSingleObject(child.as_raw_handle(), 0) };
    waited == WAIT_TIMEOUT
}
