//! Signals: a request to stop, and the end of a child process.

use std::io;

#[cfg(windows)]
mod windows;

/// Waits for the termination signal.
#[derive(Debug)]
pub struct Termination {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
    #[cfg(windows)]
    signal: windows::Signal,
}

impl Termination {
    /// Starts to listen. Must be called within a runtime.
    ///
    /// # Errors
    /// If the system does not allow this process to listen.
    pub fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        #[cfg(windows)]
        let signal = windows::Signal::listen()?;
        Ok(Self { signal })
    }

    /// Waits until the signal arrives.
    pub async fn received(&mut self) {
        self.signal.recv().await;
    }
}

/// Waits for the end of any child process.
#[derive(Debug)]
pub struct ChildEnd {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl ChildEnd {
    /// Starts to listen. Must be called within a runtime.
    ///
    /// # Errors
    /// If the system does not allow this process to listen.
    pub fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        return tokio::signal::unix::signal(tokio::signal::unix::SignalKind::child())
            .map(|signal| Self { signal });
        #[cfg(windows)]
        Ok(Self {})
    }

    /// Waits until a child may have ended. On a system without such a signal, returns at intervals.
    pub async fn received(&mut self) {
        #[cfg(unix)]
        let _signalled = self.signal.recv().await;
        #[cfg(windows)]
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
}
