//! How many files and sockets this process may have open.
//!
//! A process starts with the soft limit, often 1024, and may raise it to the hard one by itself.

use std::io;

/// Raises the limit of open files of this process as far as the system lets it, and returns the
/// limit that holds from then on; unknown where the system has none.
///
/// # Errors
/// When the limit cannot be raised; the one from before still holds.
#[cfg(unix)]
pub fn raise_limit() -> io::Result<Option<u64>> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    }
    Ok(maximum)
}

/// Raises the limit of open files of this process as far as the system lets it, and returns the
/// limit that holds from then on; unknown where the system has none.
///
/// # Errors
/// Never on this system.
#[cfg(windows)]
pub fn raise_limit() -> io::Result<Option<u64>> {
    Ok(None)
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Resource, getrlimit};

    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let raised = raise_limit().unwrap();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!((limit.current, raised), (limit.maximum, limit.maximum));
    }
}
