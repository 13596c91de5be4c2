//! How the C library looks up the names of hosts, users and groups.
//!
//! A dynamic program follows `/etc/nsswitch.conf`. In a static program, the C library would load the modules that this
//! file names, and a module of another version ends the process (decision 0009). So a static program uses only its
//! built-in code.

/// Restricts a static program to the files in `/etc` and to DNS. Does nothing in a dynamic program. Must be called
/// once, before the program starts a thread or looks up a name.
pub fn keep_to_what_is_built_in() {
    #[cfg(all(target_os = "linux", target_env = "gnu", target_feature = "crt-static"))]
    for (database, sources) in
        [(c"hosts", c"files dns"), (c"passwd", c"files"), (c"group", c"files")]
    {
        #[expect(unsafe_code, reason = "two texts that the C library copies, and no other thread")]
        // SAFETY: both pointers are to constant texts that end in a zero byte.
        let refused = unsafe { __nss_configure_lookup(database.as_ptr(), sources.as_ptr()) };
        debug_assert_eq!(refused, 0, "{database:?} is known to the C library");
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_feature = "crt-static"))]
#[expect(unsafe_code, reason = "a function of the C library that no crate declares")]
unsafe extern "C" {
    fn __nss_configure_lookup(
        database: *const std::ffi::c_char,
        sources: *const std::ffi::c_char,
    ) -> std::ffi::c_int;
}
