//! Folders with an access list of their own: only this user, the system and the administrators can enter them, whatever the
//! folder above allows. Without one, a folder on another drive than that of the profile is as open as that drive.

use std::{
    ffi::c_void,
    io,
    os::windows::{
        ffi::OsStrExt as _,
        io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle},
    },
    path::{Component, Path, PathBuf, Prefix},
    ptr,
};

use windows_sys::Win32::{
    Foundation::LocalFree,
    Security::{
        Authorization::{
            ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW,
            SDDL_REVISION_1,
        },
        GetTokenInformation, SECURITY_ATTRIBUTES, TOKEN_QUERY, TOKEN_USER, TokenUser,
    },
    Storage::FileSystem::CreateDirectoryW,
    System::Threading::{GetCurrentProcess, OpenProcessToken},
};

/// The longest path that the system takes without the prefix for long paths. A folder needs room for a file name.
const SHORT: usize = 247;

/// Creates the private folder `path`, whose parent exists. Folders and files in it inherit its access list.
pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    let list = format!("D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;{})", user()?);
    let descriptor = descriptor(&list)?;
    let attributes = SECURITY_ATTRIBUTES {
        nLength: size(size_of::<SECURITY_ATTRIBUTES>()),
        lpSecurityDescriptor: descriptor.0,
        bInheritHandle: 0,
    };
    let path = wide(&long(path)?);
    #[expect(unsafe_code, reason = "a system call that reads memory of ours")]
    // SAFETY: the path ends with a zero, and it and the descriptor outlive the call.
    let done = unsafe { CreateDirectoryW(path.as_ptr(), &raw const attributes) };
    succeeded(done)
}

/// Memory that the system has allocated.
struct Allocated(*mut c_void);

impl Drop for Allocated {
    fn drop(&mut self) {
        #[expect(unsafe_code, reason = "a system call with memory of the system")]
        // SAFETY: the system has allocated the memory for the holder of this value, which frees it once.
        let _freed = unsafe { LocalFree(self.0) };
    }
}

/// Returns the security descriptor that `text` describes in the language of the system for them.
fn descriptor(text: &str) -> io::Result<Allocated> {
    let text = wide(Path::new(text));
    let mut made = Allocated(ptr::null_mut());
    #[expect(unsafe_code, reason = "a system call that writes a pointer of ours")]
    // SAFETY: the text ends with a zero, and the pointer lives until the call returns.
    let done = unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            text.as_ptr(),
            SDDL_REVISION_1,
            &raw mut made.0,
            ptr::null_mut(),
        )
    };
    succeeded(done).map(|()| made)
}

/// Returns the identifier of the user of this process, such as `S-1-5-21-…`.
fn user() -> io::Result<String> {
    let mut token = ptr::null_mut();
    #[expect(unsafe_code, reason = "a system call that writes a handle of ours")]
    // SAFETY: the handle of this process needs no closing, and the other lives until the call returns.
    let done = unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) };
    succeeded(done)?;
    #[expect(unsafe_code, reason = "owns the handle that was just created")]
    // SAFETY: the handle is valid and nobody else owns it.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    // The system writes the identifier behind the structure. 64-bit words are aligned for both.
    let mut about = [0_u64; 32];
    let mut written = 0;
    #[expect(unsafe_code, reason = "a system call that writes an array of ours")]
    // SAFETY: the pointer and the size describe `about`, which outlives the call.
    let done = unsafe {
        GetTokenInformation(
            token.as_raw_handle(),
            TokenUser,
            about.as_mut_ptr().cast(),
            size(size_of_val(&about)),
            &raw mut written,
        )
    };
    succeeded(done)?;
    let mut text = ptr::null_mut();
    #[expect(unsafe_code, reason = "reads what the system has written, and a system call with it")]
    // SAFETY: the call above has written a `TOKEN_USER`, whose pointer leads into `about`. The array is aligned for it.
    let done = unsafe {
        let user = &*about.as_ptr().cast::<TOKEN_USER>();
        ConvertSidToStringSidW(user.User.Sid, &raw mut text)
    };
    succeeded(done)?;
    let _freed_at_the_end = Allocated(text.cast());
    let mut units = Vec::new();
    #[expect(unsafe_code, reason = "reads a text that the system has written")]
    // SAFETY: the text ends with a zero, behind which nothing is read.
    unsafe {
        while *text.add(units.len()) != 0 {
            units.push(*text.add(units.len()));
        }
    }
    Ok(String::from_utf16_lossy(&units))
}

/// Returns the path as the system takes it whatever its length.
fn long(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    if path.as_os_str().encode_wide().count() <= SHORT {
        return Ok(path);
    }
    let Some(Component::Prefix(prefix)) = path.components().next() else { return Ok(path) };
    let below = path.strip_prefix(prefix.as_os_str()).unwrap_or(&path);
    Ok(match prefix.kind() {
        Prefix::Disk(_) => {
            let mut prefixed = std::ffi::OsString::from(r"\\?\");
            prefixed.push(&path);
            prefixed.into()
        }
        Prefix::UNC(server, share) => {
            let mut prefixed = std::ffi::OsString::from(r"\\?\UNC\");
            prefixed.push(server);
            prefixed.push(r"\");
            prefixed.push(share);
            prefixed.push(below);
            prefixed.into()
        }
        Prefix::Verbatim(_)
        | Prefix::VerbatimUNC(..)
        | Prefix::VerbatimDisk(_)
        | Prefix::DeviceNS(_) => path,
    })
}

fn wide(text: &Path) -> Vec<u16> {
    text.as_os_str().encode_wide().chain([0]).collect()
}

fn size(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or_default()
}

fn succeeded(done: windows_sys::core::BOOL) -> io::Result<()> {
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_any_length_is_one_that_the_system_takes() {
        let deep = "d".repeat(SHORT);
        for (path, expected) in [
            (r"C:\short".to_owned(), r"C:\short".to_owned()),
            (format!(r"C:\{deep}"), format!(r"\\?\C:\{deep}")),
            (format!(r"\\server\share\{deep}"), format!(r"\\?\UNC\server\share\{deep}")),
            (format!(r"\\?\C:\{deep}"), format!(r"\\?\C:\{deep}")),
        ] {
            assert_eq!(long(Path::new(&path)).unwrap(), Path::new(&expected));
        }
    }

    #[test]
    fn a_private_folder_is_created_once_and_can_be_used() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("ours");
        create_dir(&folder).unwrap();
        std::fs::write(folder.join("secret"), "s").unwrap();
        assert_eq!(std::fs::read(folder.join("secret")).unwrap(), b"s");
        assert_eq!(create_dir(&folder).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(user().unwrap().starts_with("S-1-"));
    }
}
