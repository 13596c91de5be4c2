//! Calls to the local API of one installation's agent (specification, section 4.2), for programs of
//! the same user.
//!
//! A call uses the agent's socket, which only programs of this user can reach. Without a socket,
//! the call uses the port in the agent's address file. The listener on the port must first prove
//! that it knows the control token; only then is the token sent. An agent of another installation
//! is never called.

use std::time::Duration;

use hyper::Method;
use link_platform::{fs, paths::Roots, private_socket};
use link_protocol::{
    id::PipelineId,
    local_api::{
        CANCEL_DEPLOY_PATH, CancelledDeploy, EVENTS_PATH, HEALTHZ_PATH, Healthz, Listening,
        MODELS_PATH, PIPELINE_PATH, PROOF_PATH, PipelineEntry, Proof, SERVE_PATH, STOP_PATH,
        UPDATE_PATH, path_of,
    },
    secret::Secret,
    update::UpdateRequest,
};
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;

use crate::http::{Cause, Failure};

pub mod proof;
mod states;

use crate::exchange::Connection;
pub use crate::exchange::healthz_over;
pub use states::States;

/// The timeout of an answer. The agent is on the same machine, so it answers quickly or not at all.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The largest file of the agent that is read, in bytes.
const FILE_LIMIT: u64 = 4096;

/// A client of the agent of one installation.
#[derive(Clone, Debug)]
pub struct LocalClient {
    roots: Roots,
}

impl LocalClient {
    /// Prepares calls to the agent of the installation in `roots`. Each call looks up the agent's
    /// address again.
    #[must_use]
    pub fn of(roots: &Roots) -> Self {
        Self { roots: roots.clone() }
    }

    /// Returns the port of the agent's local API from the address file, if there is one.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        let text = fs::read_limited(&self.roots.local_api(), FILE_LIMIT).ok()?;
        serde_json::from_str::<Listening>(&text).ok().map(|listening| listening.port)
    }

    /// Returns the state of the agent.
    ///
    /// # Errors
    /// [`Failure`] if the agent does not run or does not answer.
    pub async fn healthz(&self) -> Result<Healthz, Failure> {
        self.call(Method::GET, HEALTHZ_PATH, None).await
    }

    /// Returns an entry for each configured pipeline, serving or not.
    ///
    /// # Errors
    /// [`Failure`] if the agent does not run or does not answer.
    pub async fn models(&self) -> Result<Vec<PipelineEntry>, Failure> {
        self.call(Method::GET, MODELS_PATH, None).await
    }

    /// Opens the stream of the agent's states: the current state at once, then one after each
    /// change.
    ///
    /// # Errors
    /// [`Failure`] if the agent does not run or does not answer.
    pub async fn states(&self) -> Result<States, Failure> {
        let ask = async {
            let answer = self.connect().await?.ask(Method::GET, EVENTS_PATH, None).await?;
            answer.success().await
        };
        self.within(ask).await.map(States::new)
    }

    /// Requests an update of the agent. The progress is part of the agent's state.
    ///
    /// # Errors
    /// [`Failure`] when the agent does not run or is already updating.
    pub async fn update(&self, request: &UpdateRequest) -> Result<(), Failure> {
        let body = serde_json::to_string(request).expect("a request has only string keys");
        let ask = async {
            let answer = self.connect().await?.ask(Method::POST, UPDATE_PATH, Some(body)).await?;
            answer.success().await.map(drop)
        };
        self.within(ask).await
    }

    /// Asks the agent to serve a model. The outcome is part of the agent's state.
    ///
    /// # Errors
    /// [`Failure`] when the agent does not run or has no such pipeline.
    pub async fn serve(&self, id: PipelineId) -> Result<PipelineEntry, Failure> {
        self.call(Method::POST, &path_of(SERVE_PATH, id), None).await
    }

    /// Asks the agent to stop serving a model. The outcome is part of the agent's state.
    ///
    /// # Errors
    /// [`Failure`] when the agent does not run or has no such pipeline.
    pub async fn stop(&self, id: PipelineId) -> Result<PipelineEntry, Failure> {
        self.call(Method::POST, &path_of(STOP_PATH, id), None).await
    }

    /// Asks the agent to delete a model and its files. The outcome is part of the agent's state.
    ///
    /// # Errors
    /// [`Failure`] when the agent does not run or has no such pipeline.
    pub async fn remove(&self, id: PipelineId) -> Result<PipelineEntry, Failure> {
        self.call(Method::DELETE, &path_of(PIPELINE_PATH, id), None).await
    }

    /// Asks the agent to cancel the deployment of a pipeline's model.
    ///
    /// # Errors
    /// [`Failure`] if the agent does not run, or has neither the pipeline nor a deployment of its
    /// model.
    pub async fn cancel_deploy(&self, id: PipelineId) -> Result<CancelledDeploy, Failure> {
        self.call(Method::POST, &path_of(CANCEL_DEPLOY_PATH, id), None).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<T, Failure> {
        let ask = async { self.connect().await?.ask(method, path, body).await?.json().await };
        self.within(ask).await
    }

    async fn within<T>(&self, ask: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let timed_out = |_| self.unavailable(Cause::Timeout);
        tokio::time::timeout(TIMEOUT, ask).await.map_err(timed_out)?
    }

    /// Connects to the agent's socket. The program at the other end belongs to this user.
    async fn connect(&self) -> Result<Connection, Failure> {
        let socket = self.roots.control_socket();
        match private_socket::connect(&socket).await {
            Ok(stream) => Connection::over(stream, socket.display().to_string()).await,
            Err(error) => match self.port() {
                // Without a socket file the agent may still listen on its port.
                Some(port) if !socket.exists() => self.connect_to(port).await,
                Some(_) | None => Err(self.unavailable(Cause::Connect(error.to_string()))),
            },
        }
    }

    /// Connects to `port`, where any program may listen. The listener must prove its identity
    /// first.
    async fn connect_to(&self, port: u16) -> Result<Connection, Failure> {
        let token = fs::read_limited(&self.roots.control_token(), FILE_LIMIT)
            .map(|token| Secret::new(token.trim()))
            .map_err(|error| self.unavailable(Cause::Connect(error.to_string())))?;
        let stream = TcpStream::connect(("127.0.0.1", port)).await;
        let stream = stream.map_err(|error| self.unavailable(Cause::Connect(error.to_string())))?;
        let address = format!("http://127.0.0.1:{port}");
        let mut connection = Connection::over(stream, address).await?;
        let nonce = proof::nonce();
        let path = format!("{PROOF_PATH}?nonce={nonce}");
        let answer = connection.ask_more(Method::GET, &path, None).await?;
        // Any other answer does not prove anything.
        let proved = answer
            .json::<Proof>()
            .await
            .is_ok_and(|Proof { proof }| proof::holds(&token, port, &nonce, &proof));
        if !proved {
            let why = format!("port {port} is held by a program that is not this user's agent");
            return Err(self.unavailable(Cause::Connect(why)));
        }
        connection.trust(token);
        Ok(connection)
    }

    fn unavailable(&self, cause: Cause) -> Failure {
        Failure::Unavailable { url: self.roots.control_socket().display().to_string(), cause }
    }
}

#[cfg(test)]
mod tests;
