//! Decides which connections are kept, and which connection is closed to make room for another.
//!
//! A connection is idle, or an unauthenticated client sends a request on it, or an authenticated client does. Idle
//! connections are closed first, then those with unauthenticated requests, each time the oldest first. A connection
//! with an authenticated request is never closed to make room. So each client has a maximum number of such connections;
//! its further connections count as unauthenticated.

use std::collections::{BTreeSet, HashMap};

use link_protocol::id::{AccountId, DeviceId, UserId};

use crate::domain::network::Network;

/// The maximum number of connections, regardless of the process's limit of open files.
const MOST: u64 = 65_536;
/// The assumed limit of open files if the limit is unknown.
const USUAL_LIMIT: u64 = 1024;
/// The minimum number of files that are reserved for the database, models and other services.
const KEPT_BACK: u64 = 64;
/// The maximum number of authenticated connections of one device: a poll, a download, and reports.
const OF_A_DEVICE: usize = 4;
/// The maximum number of authenticated connections of one person.
const OF_A_USER: usize = 32;

/// The maximum numbers of connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    pub all: usize,
    /// Of one network, without authenticated connections.
    pub each_network: usize,
    /// Authenticated connections of one account.
    pub each_account: usize,
}

/// One connection.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ConnectionId(u64);

/// An authenticated client.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Party {
    Device(AccountId, DeviceId),
    User(AccountId, UserId),
}

/// The open connections.
#[derive(Debug)]
pub struct Connections {
    bounds: Bounds,
    /// A counter of events, which orders them.
    turn: u64,
    held: HashMap<ConnectionId, Held>,
    /// The connections that may be closed to make room, in the order in which they are closed.
    yielding: BTreeSet<(Rank, u64, ConnectionId)>,
    of_network: HashMap<Network, usize>,
    of_party: HashMap<Party, usize>,
    of_account: HashMap<AccountId, usize>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    /// The network of the peer, or `None` for a proxy and for this machine.
    origin: Option<Network>,
    /// The network of the client behind this connection, which a proxy may report.
    network: Option<Network>,
    since: u64,
    standing: Standing,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Standing {
    Idle,
    Stranger,
    Known(Party),
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Rank {
    Idle,
    Stranger,
}

impl Bounds {
    /// Returns the bounds for a process that may open `limit` files. A quarter of the files is reserved.
    #[must_use]
    pub fn of(limit: Option<u64>) -> Self {
        let limit = limit.unwrap_or(USUAL_LIMIT);
        let kept_back = (limit / 4).max(KEPT_BACK);
        let all = limit.saturating_sub(kept_back).clamp(1, MOST);
        Self::at_most(usize::try_from(all).unwrap_or(usize::MAX))
    }

    /// Returns the bounds for `all` connections.
    #[must_use]
    pub fn at_most(all: usize) -> Self {
        Self { all, each_network: (all / 4).max(1), each_account: (all / 2).max(1) }
    }
}

impl Party {
    const fn account(&self) -> AccountId {
        match self {
            Self::Device(account, _) | Self::User(account, _) => *account,
        }
    }

    const fn most(&self) -> usize {
        match self {
            Self::Device(..) => OF_A_DEVICE,
            Self::User(..) => OF_A_USER,
        }
    }
}

impl Connections {
    /// Starts without connections.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            turn: 0,
            held: HashMap::new(),
            yielding: BTreeSet::new(),
            of_network: HashMap::new(),
            of_party: HashMap::new(),
            of_account: HashMap::new(),
        }
    }

    /// Returns the number of connections.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Tells whether there are no connections.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Adds a connection from `origin`, and also returns the connection to close for it, if any. Returns `None`,
    /// without adding the connection, if there is no room and no connection may be closed.
    pub fn admit(
        &mut self,
        origin: Option<Network>,
    ) -> Option<(ConnectionId, Option<ConnectionId>)> {
        let gone = match origin {
            Some(network) if self.is_full(network) => self.first_of(network, None),
            Some(_) | None if self.held.len() >= self.bounds.all => Some(self.yielding.first()?.2),
            Some(_) | None => None,
        };
        if let Some(gone) = gone {
            self.leave(gone);
        }
        self.turn += 1;
        let id = ConnectionId(self.turn);
        self.enter(id, origin, origin, Standing::Idle);
        Some((id, gone))
    }

    /// Records a request on a connection and, if a proxy reported it, the `network` of the client. Returns the
    /// connection to close, if any.
    pub fn ask(&mut self, id: ConnectionId, network: Option<Network>) -> Option<ConnectionId> {
        let held = self.leave(id)?;
        let network = network.or(held.origin);
        self.enter(id, held.origin, network, Standing::Stranger);
        self.relieve(network, id)
    }

    /// Records that the request on a connection is from the authenticated client `party`, unless `party` or its account
    /// has its maximum number of authenticated connections.
    pub fn know(&mut self, id: ConnectionId, party: Party) {
        let count = |count: Option<&usize>| count.copied().unwrap_or(0);
        let fits = count(self.of_party.get(&party)) < party.most()
            && count(self.of_account.get(&party.account())) < self.bounds.each_account;
        let is_asking = |held: &Held| held.standing == Standing::Stranger;
        if fits
            && self.held.get(&id).is_some_and(is_asking)
            && let Some(held) = self.leave(id)
        {
            self.enter(id, held.origin, held.network, Standing::Known(party));
        }
    }

    /// Records that the request on a connection was answered. Returns the connection to close, if any.
    pub fn rest(&mut self, id: ConnectionId) -> Option<ConnectionId> {
        let held = self.leave(id)?;
        self.enter(id, held.origin, held.origin, Standing::Idle);
        self.relieve(held.origin, id)
    }

    /// Removes a connection that ended.
    pub fn end(&mut self, id: ConnectionId) {
        self.leave(id);
    }

    /// Removes and returns the first connection to close of `network`, except `newest`, if `network` has more
    /// connections than allowed.
    fn relieve(&mut self, network: Option<Network>, newest: ConnectionId) -> Option<ConnectionId> {
        let network = network?;
        if self.of_network.get(&network).copied().unwrap_or(0) <= self.bounds.each_network {
            return None;
        }
        let gone = self.first_of(network, Some(newest))?;
        self.leave(gone);
        Some(gone)
    }

    fn is_full(&self, network: Network) -> bool {
        self.of_network.get(&network).copied().unwrap_or(0) >= self.bounds.each_network
    }

    fn first_of(&self, network: Network, but: Option<ConnectionId>) -> Option<ConnectionId> {
        let is_of = |id: &ConnectionId| self.held.get(id).and_then(|h| h.network) == Some(network);
        self.yielding.iter().map(|(_, _, id)| *id).find(|id| Some(*id) != but && is_of(id))
    }

    fn enter(
        &mut self,
        id: ConnectionId,
        origin: Option<Network>,
        network: Option<Network>,
        standing: Standing,
    ) {
        self.turn += 1;
        let held = Held { origin, network, since: self.turn, standing };
        match rank(standing) {
            Ok(rank) => {
                self.yielding.insert((rank, held.since, id));
                if let Some(network) = network {
                    *self.of_network.entry(network).or_default() += 1;
                }
            }
            Err(party) => {
                *self.of_party.entry(party).or_default() += 1;
                *self.of_account.entry(party.account()).or_default() += 1;
            }
        }
        self.held.insert(id, held);
    }

    fn leave(&mut self, id: ConnectionId) -> Option<Held> {
        let held = self.held.remove(&id)?;
        match rank(held.standing) {
            Ok(rank) => {
                self.yielding.remove(&(rank, held.since, id));
                if let Some(network) = held.network {
                    count_down(&mut self.of_network, network);
                }
            }
            Err(party) => {
                count_down(&mut self.of_party, party);
                count_down(&mut self.of_account, party.account());
            }
        }
        Some(held)
    }
}

/// Returns the rank of a connection that may be closed, else its authenticated client.
const fn rank(standing: Standing) -> Result<Rank, Party> {
    match standing {
        Standing::Idle => Ok(Rank::Idle),
        Standing::Stranger => Ok(Rank::Stranger),
        Standing::Known(party) => Err(party),
    }
}

fn count_down<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests;
