//! The gate in front of the built-in routers: it accepts the connections of devices, terminates TLS, and forwards only
//! messages that a device would send, each session to the router of its slot ([`Routes`]).
//!
//! A router has one limit for all sessions, and no limits for one peer, for the sessions of one user or for the
//! declarations of a session. [`Door`] limits unauthenticated connections and [`Seats`] limits sessions, so neither silent
//! connections nor one password can lock others out.

#![expect(clippy::disallowed_methods, reason = "IO shell: listens, and reads the clock")]

mod tls;
mod visit;
mod wire;

use std::{
    collections::HashMap,
    net::SocketAddr,
    ops::RangeInclusive,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use link_platform::router_socket::RouterSocket;
use link_protocol::zenoh::{Endpoint, SessionId, Slot};
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
        routes::Routes,
        seat::{Seated, Seats},
    },
};

/// Concurrent connections that the routers admit.
pub(super) const JOINING: usize = 60;
const BOUNDS: Bounds =
    Bounds { arriving: 256, waiting: 256, joining: JOINING, joining_each: JOINING / 2 };
/// The interval between two warnings about failed connections or about a device beyond its limits.
const SAY_EVERY: Duration = Duration::from_secs(60);
/// The pause after a failed accept, for example without a free file descriptor.
const BREATH: Duration = Duration::from_millis(200);

/// A listening gate. Dropping the value ends all sessions.
pub(super) struct Gate {
    shared: Arc<Shared>,
    _listening: JoinSet<()>,
}

/// The state that the connections of a gate share.
struct Shared {
    app: Arc<App>,
    routes: Mutex<Routes<Arc<RouterSocket>>>,
    state: Mutex<State>,
    started: Instant,
    end: CancellationToken,
}

struct State {
    door: Door,
    seats: Seats,
    here: HashMap<Ticket, Here>,
    unproved: Unproved,
    /// The time of the last warning about a user beyond the limits.
    said: HashMap<String, Duration>,
}

/// The channel on which a connection learns the gate's decision.
struct Here {
    turn: Option<oneshot::Sender<()>>,
    end: CancellationToken,
}

/// Connections that ended without a session since the last warning.
#[derive(Debug, Default)]
struct Unproved {
    count: u64,
    last: Option<(Origin, String)>,
}

/// A connection. Dropping the value removes it from the gate.
struct Guest {
    shared: Arc<Shared>,
    ticket: Ticket,
    address: SocketAddr,
    user: Option<String>,
    end: CancellationToken,
}

/// Whether an admitted session may stay.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Welcome {
    In,
    TooOften,
}

impl Gate {
    /// Listens on `endpoints`. Those with `tls/` use `certificates`.
    pub(super) async fn open(
        app: &Arc<App>,
        endpoints: &[Endpoint],
        certificates: Option<&Certificates>,
    ) -> anyhow::Result<Self> {
        let acceptor = certificates.map(tls::acceptor).transpose()?;
        let end = CancellationToken::new();
        let shared = Arc::new(Shared {
            app: Arc::clone(app),
            routes: Mutex::default(),
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

    /// Forwards new connections of the devices in `slots` to a router from now on.
    pub(super) fn lead(&self, slots: RangeInclusive<u32>, router: Arc<RouterSocket>) {
        self.shared.routes().open(slots, router);
    }

    /// Refuses new connections of the devices in `slots` from now on.
    pub(super) fn close(&self, slots: &RangeInclusive<u32>) {
        self.shared.routes().close(slots);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.shared.end.cancel();
    }
}

impl Shared {
    fn routes(&self) -> MutexGuard<'_, Routes<Arc<RouterSocket>>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Logs, once a minute, that the device of `user` is beyond its limits.
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
                    // A connection that has ended meanwhile returns its turn when it is removed.
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

    /// Returns the router for the session, or `None` while it is closed.
    fn route(&self, id: SessionId) -> Option<Arc<RouterSocket>> {
        self.shared.routes().choose(self.origin(), id)
    }

    /// Tells whether `user` is a user of another router than the session was led to.
    fn is_elsewhere(&self, id: SessionId, user: &str) -> bool {
        let slot = Slot::named(user).and_then(|slot| slot.number());
        slot.is_some_and(|slot| self.shared.routes().is_elsewhere(self.origin(), id, slot))
    }

    fn may_try(&self, user: &str) -> bool {
        let now = self.shared.now();
        self.shared.state().seats.may_try(user, self.origin(), now)
    }

    /// Takes the seat of `user`, whom the router has admitted.
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
            if !matches!(why, Ended::NoRouter | Ended::Elsewhere) {
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
            | Ended::Elsewhere
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

/// Logs once a minute the number of connections that ended without a session.
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
