//! Asks a process of Link to end on Windows, which has no signal for that: the process listens on a pipe that has its
//! process id in its name.
//!
//! The system lets every user read from the pipe and only its owner write to it, so nobody else can end the process.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: a pipe is opened like a file, and a failed one is retried"
)]

use std::{
    fs::File,
    io::{self, Write as _},
    time::Duration,
};

use tokio::{
    io::AsyncReadExt as _,
    net::windows::named_pipe::{NamedPipeServer, ServerOptions},
    sync::watch,
    time::timeout,
};

/// The whole request.
const REQUEST: &[u8; 5] = b"stop\n";
/// How long a client may take to send the request.
const PATIENCE: Duration = Duration::from_secs(1);

/// Becomes true when the request has arrived.
#[derive(Debug)]
pub(crate) struct StopRequest(watch::Receiver<bool>);

impl StopRequest {
    /// Starts to listen. Must be called within a runtime.
    ///
    /// # Errors
    /// If another process already has the name of the pipe.
    pub(crate) fn listen() -> io::Result<Self> {
        let pipe = ServerOptions::new()
            .first_pipe_instance(true)
            .max_instances(1)
            .access_outbound(false)
            .create(name(std::process::id()))?;
        let (sender, receiver) = watch::channel(false);
        tokio::spawn(async move {
            let mut pipe = pipe;
            while !sender.is_closed() {
                if is_asked(&mut pipe).await {
                    let _nobody_waits = sender.send(true);
                }
            }
        });
        Ok(Self(receiver))
    }

    /// Waits until the request has arrived. Cancel safe.
    pub(crate) async fn received(&mut self) {
        if self.0.wait_for(|asked| *asked).await.is_err() {
            std::future::pending().await
        }
    }
}

async fn is_asked(pipe: &mut NamedPipeServer) -> bool {
    if pipe.connect().await.is_err() {
        tokio::time::sleep(PATIENCE).await;
    }
    let mut request = [0; REQUEST.len()];
    // A client that may not write, or does not, is sent away.
    let read = timeout(PATIENCE, pipe.read_exact(&mut request)).await;
    let _gone = pipe.disconnect();
    matches!(read, Ok(Ok(_))) && request == *REQUEST
}

/// Asks the process to end. Returns false if it does not listen.
pub(crate) fn send(pid: u32) -> bool {
    let pipe = File::options().write(true).open(name(pid));
    pipe.and_then(|mut pipe| pipe.write_all(REQUEST)).is_ok()
}

fn name(pid: u32) -> String {
    format!(r"\\.\pipe\link-stop-{pid}")
}
