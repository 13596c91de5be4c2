//! Which connections are held, and which gives way when there is no room for one more.
//!
//! A connection is idle, or a stranger asks on it, or somebody who is known does. Idle ones give way
//! first and strangers next, the oldest of each first. Who is known never gives way, so every party
//! has a bound of what it holds as such: beyond it the party's connections count as those of strangers.

use std::collections::{BTreeSet, HashMap};

use link_protocol::id::{AccountId, DeviceId, UserId};

use crate::domain::network::Network;

/// Connections that are held at most, however many files a process may open.
const MOST: u64 = 65_536;
/// Open files of a process whose limit is not known.
const USUAL_LIMIT: u64 = 1024;
/// Files that are kept back at least, for the database, models and other services.
const KEPT_BACK: u64 = 64;
/// Connections on which one device is known at a time: a poll, a download, and reports.
const OF_A_DEVICE: usize = 4;
/// Connections on which one person is known at a time.
const OF_A_USER: usize = 32;

/// How many connections there may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    pub all: usize,
    /// Of one network, not counting those on which somebody is known.
    pub each_network: usize,
    /// On which somebody of one account is known.
    pub each_account: usize,
}

/// One connection.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ConnectionId(u64);

/// Who is known.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Party {
    Device(AccountId, DeviceId),
    User(AccountId, UserId),
}

/// The connections that are held.
#[derive(Debug)]
pub struct Connections {
    bounds: Bounds,
    /// Counts what happened, which orders it.
    turn: u64,
    held: HashMap<ConnectionId, Held>,
    /// Those that can give way, in the order in which they would.
    yielding: BTreeSet<(Rank, u64, ConnectionId)>,
    of_network: HashMap<Network, usize>,
    of_party: HashMap<Party, usize>,
    of_account: HashMap<AccountId, usize>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    /// Where the connection comes from; none of a proxy or of this machine.
    origin: Option<Network>,
    /// Where what is asked on it comes from.
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
    /// Returns the bounds of a process that may open `limit` files: a quarter is kept back.
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
    /// Holds none.
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

    /// Returns how many are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Tells whether none is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Holds a connection from `origin`; also returns the one that gives way for it. Without room,
    /// and when nobody can give way, it is not held.
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

    /// Notes that something is asked on a connection, by somebody in `network` when that is known
    /// better than by where the connection comes from; returns the one that gives way.
    pub fn ask(&mut self, id: ConnectionId, network: Option<Network>) -> Option<ConnectionId> {
        let held = self.leave(id)?;
        let network = network.or(held.origin);
        self.enter(id, held.origin, network, Standing::Stranger);
        self.relieve(network, id)
    }

    /// Notes that whoever asks is `party`, unless it is known on as many as it may be.
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

    /// Notes that what was asked is answered; returns the one that gives way.
    pub fn rest(&mut self, id: ConnectionId) -> Option<ConnectionId> {
        let held = self.leave(id)?;
        self.enter(id, held.origin, held.origin, Standing::Idle);
        self.relieve(held.origin, id)
    }

    /// Forgets a connection that ended.
    pub fn end(&mut self, id: ConnectionId) {
        self.leave(id);
    }

    /// Ends the first of `network` when it has more than its share; never `newest`.
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

/// The rank of what can give way, else who is known.
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
