//! Event streams: each reads the feed of an account for one caller, and ends with the caller's access.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits for events")]

use std::{collections::VecDeque, sync::Arc, time::Duration};

use link_protocol::{
    backend_api::event::{EventKind, StreamEndReason},
    id::DeviceId,
};
use tokio::{sync::watch, time::Instant};

use crate::{
    app::{
        App,
        feed::{Place, Resumption},
        publishing,
    },
    auth::access::{Identity, Means},
    domain::{
        change::Subject,
        feed::{Next, filter::Filter},
        ownership,
    },
    failure::AppError,
};

/// The interval at which a stream checks that its caller still has access.
const CHECK_EVERY: Duration = Duration::from_secs(10);

/// An event of a stream.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum StreamEvent {
    Ready { resumed: bool },
    Reset,
    About(EventKind, Arc<str>),
    End(StreamEndReason),
}

/// An event stream.
pub struct EventStream {
    app: Arc<App>,
    caller: Identity,
    place: Place,
    news: watch::Receiver<()>,
    draining: watch::Receiver<bool>,
    /// Events with their ids that were read and not returned yet: at most as many as the feed gives at once.
    read: VecDeque<(String, StreamEvent)>,
    next_check: Instant,
    is_over: bool,
}

impl App {
    /// Opens a stream of the events of the caller's account that the caller may read, of `kinds` and about `device` if
    /// they are given. The stream continues after the event `last` if it can.
    ///
    /// # Errors
    /// A missing permission for a kind, [`crate::domain::refusal::Refusal::Invalid`],
    /// [`crate::domain::refusal::Refusal::NotFound`] for the device, or
    /// [`crate::domain::refusal::Refusal::TooManyStreams`].
    pub async fn events(
        self: Arc<Self>,
        caller: Identity,
        kinds: Option<&str>,
        device: Option<DeviceId>,
        last: Option<&str>,
    ) -> Result<EventStream, AppError> {
        let filter = Filter::new(kinds, device, |permission| caller.check(permission))?;
        if let Some(device) = device {
            ownership::own_device(self.store.device(device).await?, caller.account)?;
        }
        let listen = || self.store.listen_to_changes();
        let who = (caller.account, caller.user, self.now());
        let joined = self.feed.join(who, filter, last, listen)?;
        if let Some(news) = joined.publish {
            tokio::spawn(publishing::run(Arc::clone(&self), news));
        }
        let mut stream = EventStream {
            caller,
            place: joined.place,
            news: joined.news,
            draining: self.draining.subscribe(),
            read: VecDeque::new(),
            next_check: Instant::now() + CHECK_EVERY,
            is_over: false,
            app: self,
        };
        let resumed = joined.resumption == Resumption::Resumed;
        stream.push(stream.place.read, StreamEvent::Ready { resumed });
        if joined.resumption == Resumption::Unknown {
            stream.push(stream.place.read, StreamEvent::Reset);
        }
        Ok(stream)
    }

    /// Returns why a stream or an export of `caller` has to end, if it has to.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn lost_access(
        &self,
        caller: &Identity,
    ) -> Result<Option<StreamEndReason>, AppError> {
        let role = match caller.means {
            Means::Login(session) | Means::Cookie(session) => {
                let session = session.to_string();
                self.store.role_of_login(caller.user, caller.account, &session).await?
            }
            Means::Token(token) => self.store.role_of_token(token, self.now()).await?,
            // An operation reads no stream, and its worker reads the role anew for each turn.
            Means::Operation(_) => Some(caller.role),
        };
        Ok(match role {
            None => Some(StreamEndReason::SessionEnded),
            Some(role) if role != caller.role => Some(StreamEndReason::RoleChanged),
            Some(_) => None,
        })
    }
}

impl EventStream {
    /// Waits for the next event, and returns it with its id. Returns `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<(String, StreamEvent)> {
        loop {
            if let Some(event) = self.read.pop_front() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            self.news.mark_unchanged();
            if *self.draining.borrow_and_update() {
                self.end(StreamEndReason::ShuttingDown);
            } else if Instant::now() >= self.next_check {
                self.check().await;
            } else if !self.take() {
                self.wait().await;
            }
        }
    }

    /// Reads from the feed. Returns whether anything happened.
    fn take(&mut self) -> bool {
        match self.app.feed.next(&self.place) {
            Next::Events { events, read } => {
                self.place.read = read;
                for (position, subject, data) in events {
                    if subject == Subject::Member(self.caller.user) {
                        self.next_check = Instant::now();
                    }
                    if let Some(kind) = subject.kind() {
                        self.push(position, StreamEvent::About(kind, data));
                    }
                }
                !self.read.is_empty()
            }
            Next::Reset { read } => {
                self.place.read = read;
                self.push(read, StreamEvent::Reset);
                true
            }
            Next::Behind => {
                tracing::debug!(account = %self.place.account, "a slow event stream was cut off");
                self.is_over = true;
                true
            }
        }
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.news.changed() => {}
            _ = self.draining.changed() => {}
            () = tokio::time::sleep_until(self.next_check) => {}
        }
    }

    /// Ends the stream if the caller has lost access, or if that cannot be found out.
    async fn check(&mut self) {
        self.next_check = Instant::now() + CHECK_EVERY;
        match self.app.lost_access(&self.caller).await {
            Ok(None) => {}
            Ok(Some(reason)) => self.end(reason),
            Err(error) => {
                tracing::warn!(%error, "the access of an event stream cannot be checked");
                self.is_over = true;
            }
        }
    }

    fn end(&mut self, reason: StreamEndReason) {
        self.is_over = true;
        self.push(self.place.read, StreamEvent::End(reason));
    }

    fn push(&mut self, position: u64, event: StreamEvent) {
        self.read.push_back((format!("{}-{position}", self.place.feed), event));
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.app.feed.leave(&self.place, Instant::now());
    }
}
