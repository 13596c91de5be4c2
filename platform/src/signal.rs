//! Signals: the request of a service manager to stop, and the end of a child.

use std::io;

/// Waits for the termination signal.
#[derive(Debug)]
pub struct Termination {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
    #[cfg(windows)]
    signal: tokio::signal::windows::CtrlClose,
}

impl Termination {
    /// Starts to listen; must be called within a runtime.
    ///
    /// # Errors
    /// When the system does not let this process listen.
    pub fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        let signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        #[cfg(windows)]
        let signal = tokio::signal::windows::ctrl_close()?;
        Ok(Self { signal })
    }

    /// Returns when the signal has come.
    pub async fn received(&mut self) {
        let _signalled = self.signal.recv().await;
    }
}

/// Waits for the end of any child process.
#[derive(Debug)]
pub struct ChildEnd {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl ChildEnd {
    /// Starts to listen; must be called within a runtime.
    ///
    /// # Errors
    /// When the system does not let this process listen.
    pub fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        return tokio::signal::unix::signal(tokio::signal::unix::SignalKind::child())
            .map(|signal| Self { signal });
        #[cfg(windows)]
        Ok(Self {})
    }

    /// Returns when a child may have ended. On a system without such a signal, returns at intervals.
    pub async fn received(&mut self) {
        #[cfg(unix)]
        let _signalled = self.signal.recv().await;
        #[cfg(windows)]
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
}
