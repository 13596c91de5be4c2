//! The signal with which a service manager asks a program to stop.

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
