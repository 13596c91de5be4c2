//! What ends a program on Windows: a request of another program of Link, a closed console, a logoff or a shutdown.

use std::io;

use tokio::signal::windows::{
    CtrlClose, CtrlLogoff, CtrlShutdown, ctrl_close, ctrl_logoff, ctrl_shutdown,
};

use crate::stop_request::StopRequest;

#[derive(Debug)]
pub(super) struct Signal {
    /// None if another program has taken the name of the pipe. The process can then only be killed.
    request: Option<StopRequest>,
    close: CtrlClose,
    logoff: CtrlLogoff,
    shutdown: CtrlShutdown,
}

impl Signal {
    pub(super) fn listen() -> io::Result<Self> {
        let request = StopRequest::listen()
            .inspect_err(|error| tracing::warn!("`link stop` cannot reach this process: {error}"))
            .ok();
        let (close, logoff, shutdown) = (ctrl_close()?, ctrl_logoff()?, ctrl_shutdown()?);
        Ok(Self { request, close, logoff, shutdown })
    }

    pub(super) async fn recv(&mut self) {
        let Self { request, close, logoff, shutdown } = self;
        let asked = async {
            match request {
                Some(request) => request.received().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = asked => {}
            _closed = close.recv() => {}
            _logged_off = logoff.recv() => {}
            _shut_down = shutdown.recv() => {}
        }
    }
}
