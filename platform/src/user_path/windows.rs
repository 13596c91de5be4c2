//! The registry of Windows.

use std::{io, path::PathBuf, ptr};

use windows_registry::{CURRENT_USER, Key, LOCAL_MACHINE, Type};
use windows_sys::{
    Win32::UI::WindowsAndMessaging::{
        HWND_BROADCAST, SMTO_ABORTIFHUNG, SendMessageTimeoutW, WM_SETTINGCHANGE,
    },
    w,
};

use crate::path_env::entries;

const USER: &str = "Environment";
const MACHINE: &str = r"SYSTEM\CurrentControlSet\Control\Session Manager\Environment";
const VALUE: &str = "Path";
/// `HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND)`.
const NOT_FOUND: u32 = 0x8007_0002;
/// How long a window may take to notice the change, in milliseconds.
const NOTICE_MS: u32 = 1000;

pub(super) fn read() -> io::Result<Option<String>> {
    value(&CURRENT_USER.create(USER)?)
}

pub(super) fn write(text: &str) -> io::Result<()> {
    let key = CURRENT_USER.create(USER)?;
    match key.get_type(VALUE) {
        Ok(Type::String) => key.set_string(VALUE, text)?,
        Ok(_) | Err(_) => key.set_expand_string(VALUE, text)?,
    }
    announce();
    Ok(())
}

pub(super) fn remove() -> io::Result<()> {
    CURRENT_USER.create(USER)?.remove_value(VALUE)?;
    announce();
    Ok(())
}

pub(super) fn searched_folders() -> Vec<PathBuf> {
    let machine = LOCAL_MACHINE.open(MACHINE).ok().and_then(|key| value(&key).ok().flatten());
    let texts = [machine, read().ok().flatten()];
    let expanded = |entry: &str| entries::expanded(entry, |name| std::env::var(name).ok());
    let folders = |text: &String| entries::of(text).map(expanded).collect::<Vec<_>>();
    texts.iter().flatten().flat_map(folders).map(PathBuf::from).collect()
}

fn value(key: &Key) -> io::Result<Option<String>> {
    match key.get_string(VALUE) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.code().0.cast_unsigned() == NOT_FOUND => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Tells the desktop that the environment has changed. Without this, a new terminal has the former one until the next login.
fn announce() {
    let name = w!("Environment");
    #[expect(unsafe_code, reason = "a system call that reads a constant text")]
    let _windows_that_hang = unsafe {
        SendMessageTimeoutW(
            HWND_BROADCAST,
            WM_SETTINGCHANGE,
            0,
            name as isize,
            SMTO_ABORTIFHUNG,
            NOTICE_MS,
            ptr::null_mut(),
        )
    };
}
