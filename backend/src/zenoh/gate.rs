//! The gate in front of the built-in router: it listens where devices connect, ends TLS, and lets
//! through who speaks as a device does.
//!
//! The router itself has one bound for all who join, and none for a peer, for the sessions of a user
//! or for what a session declares. What has proved nothing is bounded by [`Door`], who has a session
//! by [`Seats`]: neither many silent connections nor one password keep others out.

#![expect(clippy::disallowed_methods, reason = "IO shell: listens, and reads the clock")]

mod tls;
mod visit;
mod wire;

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use link_platform::router_socket::RouterSocket;
use link_protocol::zenoh::{Endpoint, Slot};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use self::visit::Ended;
use super::certificates::Certificates;
use crate::{
    app::App,
    domain::{
        door::{Bounds, Door, Origin, Ticket, Turn},
        seat::{Seated, Seats},
    },
};

/// Connections that the router lets in at a time.
pub(super) const JOINING: usize = 60;
const BOUNDS: Bounds =
    Bounds { arriving: 256, waiting: 256, joining: JOINING, joining_each: JOINING / 2 };
/// How often it is said that connections did not come through, and that a device went too far.
const SAY_EVERY: Duration = Duration::from_secs(60);
/// How long nobody is accepted after that failed, as it does without a free descriptor.
const BREATH: Duration = Duration::from_millis(200);

/// Listens until it is dropped; sessions end with it.
pub(super) struct Gate {
    shared: Arc<Shared>,
    _listening: JoinSet<()>,
}

/// What the connections of a gate have in common.
struct Shared {
    app: Arc<App>,
    route: Mutex<Option<Arc<RouterSocket>>>,
    state: Mutex<State>,
    started: Instant,
    end: CancellationToken,
}

struct State {
    door: Door,
    seats: Seats,
    here: HashMap<Ticket, Here>,
    unproved: Unproved,
    /// When it was last said that a user went too far.
    said: HashMap<String, Duration>,
}

/// How a connection is told what was decided.
struct Here {
    turn: Option<oneshot::Sender<()>>,
    end: CancellationToken,
}

/// Connections that ended without a session since this was last said.
#[derive(Debug, Default)]
struct Unproved {
    count: u64,
    last: Option<(Origin, String)>,
}

/// A connection, which is forgotten when this is dropped.
struct Guest {
    shared: Arc<Shared>,
    ticket: Ticket,
    address: SocketAddr,
    user: Option<String>,
    end: CancellationToken,
}

/// Whether a session that the router let in may stay.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Welcome {
    In,
    TooOften,
}

impl Gate {
    /// Listens on `endpoints`, of which those with `tls/` show `certificates`.
    pub(super) async fn open(
        app: &Arc<App>,
        endpoints: &[Endpoint],
        certificates: Option<&Certificates>,
    ) -> anyhow::Result<Self> {
        let acceptor = certificates.map(tls::acceptor).transpose()?;
        let end = CancellationToken::new();
        let shared = Arc::new(Shared {
            app: Arc::clone(app),
            route: Mutex::default(),
            state: Mutex::new(State {
                door: Door::new(BOUNDS),
                seats: Seats::default(),
                here: HashMap::new(),
                unproved: Unproved::default(),
                said: HashMap::new(),
            }),
            started: Instant::now(),
            end,
        });
        let mut listening = JoinSet::new();
        for endpoint in endpoints {
            let listener = TcpListener::bind(endpoint.address())
                .await
                .with_context(|| format!("failed to listen on {endpoint}"))?;
            let acceptor = acceptor.clone().filter(|_| endpoint.is_tls());
            listening.spawn(listen(Arc::clone(&shared), listener, acceptor));
        }
        listening.spawn(say(Arc::clone(&shared)));
        Ok(Self { shared, _listening: listening })
    }

    /// Leads connections to a router from now on, or nowhere while none is open.
    pub(super) fn lead(&self, route: Option<Arc<RouterSocket>>) {
        *self.shared.route.lock().unwrap_or_else(PoisonError::into_inner) = route;
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.shared.end.cancel();
    }
}

impl Shared {
    fn route(&self) -> Option<Arc<RouterSocket>> {
        self.route.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(self: &Arc<Self>, address: SocketAddr) -> (Guest, oneshot::Receiver<()>) {
        let (turn, mine) = oneshot::channel();
        let end = self.end.child_token();
        let mut state = self.state();
        let (ticket, turns) = state.door.arrive(Origin::of(address.ip()));
        state.here.insert(ticket, Here { turn: Some(turn), end: end.clone() });
        state.carry_out(turns);
        drop(state);
        (Guest { shared: Arc::clone(self), ticket, address, user: None, end }, mine)
    }

    /// Says in the log that `user` went too far, with the device that it is: once a minute.
    fn blame(&self, user: &str, address: SocketAddr, what: &'static str) {
        let now = self.now();
        let mut state = self.state();
        let recent = |said: &Duration| now.saturating_sub(*said) < SAY_EVERY;
        if state.said.get(user).is_some_and(recent) {
            return;
        }
        state.said.insert(user.to_owned(), now);
        drop(state);
        let (app, slot) = (Arc::clone(&self.app), Slot::named(user));
        tokio::spawn(async move {
            let device = match &slot {
                Some(slot) => app.device_in_slot(slot).await.ok().flatten(),
                None => None,
            };
            let device = device.map(|device| device.id.to_string()).unwrap_or_default();
            tracing::warn!(%device, %address, "a session of zenoh was ended: the device {what}");
        });
    }
}

impl State {
    fn carry_out(&mut self, turns: Vec<Turn>) {
        for turn in turns {
            match turn {
                Turn::Away(ticket) => {
                    if let Some(here) = self.here.get(&ticket) {
                        here.end.cancel();
                    }
                }
                Turn::Join(ticket) => {
                    let turn = self.here.get_mut(&ticket).and_then(|here| here.turn.take());
                    // Who has gone meanwhile gives its turn back when it is forgotten.
                    let _gone = turn.map(|turn| turn.send(()));
                }
            }
        }
    }
}

impl Guest {
    fn spoke(&self) {
        let mut state = self.shared.state();
        let turns = state.door.spoke(self.ticket);
        state.carry_out(turns);
    }

    fn origin(&self) -> Origin {
        Origin::of(self.address.ip())
    }

    fn may_try(&self, user: &str) -> bool {
        let now = self.shared.now();
        self.shared.state().seats.may_try(user, self.origin(), now)
    }

    /// Takes the seat of `user`, whom the router has let in.
    fn joined(&mut self, user: String) -> Welcome {
        let (origin, now) = (self.origin(), self.shared.now());
        let mut state = self.shared.state();
        let turns = state.door.leave(self.ticket);
        state.carry_out(turns);
        let seated = state.seats.take(&user, origin, self.ticket, now);
        if let Seated::InPlaceOf(before, _) = seated
            && let Some(here) = state.here.get(&before)
        {
            here.end.cancel();
        }
        drop(state);
        match seated {
            Seated::Alone => {}
            Seated::InPlaceOf(_, from) => {
                tracing::debug!(user, %from, to = %origin, "a newer session took the place of one");
            }
            Seated::TooOften => {
                self.shared.blame(&user, self.address, "joins again and again");
                self.user = Some(user);
                return Welcome::TooOften;
            }
        }
        self.user = Some(user);
        Welcome::In
    }

    fn ended(&self, why: &Ended) {
        tracing::debug!(address = %self.address, "a connection to the router ended: {why}");
        let Some(user) = &self.user else {
            if !matches!(why, Ended::NoRouter) {
                let mut state = self.shared.state();
                state.unproved.count += 1;
                state.unproved.last = Some((self.origin(), why.to_string()));
            }
            return;
        };
        match why {
            Ended::Fault(wire::Fault::TooManyDeclarations) => {
                self.shared.blame(user, self.address, "declared more than a device does");
            }
            Ended::Fault(_) => {
                self.shared.blame(user, self.address, "said what no device says");
            }
            Ended::Broken(_)
            | Ended::TooLate(_)
            | Ended::Refused
            | Ended::TooOften
            | Ended::NoRouter
            | Ended::SentAway => {}
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.here.remove(&self.ticket);
        let turns = state.door.leave(self.ticket);
        state.carry_out(turns);
        if let Some(user) = &self.user {
            state.seats.leave(user, self.ticket);
        }
    }
}

async fn listen(shared: Arc<Shared>, listener: TcpListener, acceptor: Option<TlsAcceptor>) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                let (guest, turn) = shared.enter(address);
                tokio::spawn(attend(guest, turn, stream, acceptor.clone()));
            }
            Err(error) => {
                tracing::debug!("no connection could be accepted: {error}");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

async fn attend(
    mut guest: Guest,
    turn: oneshot::Receiver<()>,
    stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
) {
    let (shared, end) = (Arc::clone(&guest.shared), guest.end.clone());
    let ended = tokio::select! {
        () = end.cancelled() => Err(Ended::SentAway),
        ended = visit::serve(&shared, &mut guest, turn, stream, acceptor.as_ref()) => ended,
    };
    if let Err(why) = ended {
        guest.ended(&why);
    }
}

/// Says once a minute how many came and did not join.
async fn say(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(SAY_EVERY).await;
        let mut state = shared.state();
        let Unproved { count, last } = std::mem::take(&mut state.unproved);
        let now = shared.now();
        state.said.retain(|_, said| now.saturating_sub(*said) < SAY_EVERY);
        drop(state);
        if let Some((last, why)) = last {
            tracing::warn!(count, %last, why, "connections to the router of zenoh did not join");
        }
    }
}
