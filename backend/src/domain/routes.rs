//! Chooses the router for a connection at the gate, by the identifier of the session.
//!
//! An identifier that names a slot leads to the router of that slot. Older agents have random identifiers: they are led to
//! the first router. If their user turns out to be at another one, the connection ends and the identifier is remembered.
//! zenoh tries again with the same identifier after about a second, and is led to the right router.
//!
//! A choice grants nothing: a router admits only its own users. What is remembered is bounded, and an address with many
//! identifiers displaces only its own.

use std::{
    collections::{HashMap, VecDeque},
    ops::RangeInclusive,
};

use link_protocol::zenoh::SessionId;

use super::door::Origin;

/// The identifiers that are remembered.
const REMEMBERED: usize = 1024;

/// The routers, and the identifiers that were seen with a user of another router.
#[derive(Debug)]
pub struct Routes<R> {
    routers: Vec<Route<R>>,
    remembered: VecDeque<Seen>,
}

#[derive(Debug)]
struct Route<R> {
    slots: RangeInclusive<u32>,
    /// `None` while the router is closed.
    to: Option<R>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    origin: Origin,
    id: SessionId,
    slot: u32,
}

impl<R> Default for Routes<R> {
    fn default() -> Self {
        Self { routers: Vec::new(), remembered: VecDeque::new() }
    }
}

impl<R: Clone> Routes<R> {
    /// Starts assigning the sessions of `slots` to a router.
    pub fn open(&mut self, slots: RangeInclusive<u32>, to: R) {
        self.routers
            .retain(|one| one.slots.start() > slots.end() || one.slots.end() < slots.start());
        self.routers.push(Route { slots, to: Some(to) });
        self.routers.sort_unstable_by_key(|one| *one.slots.start());
    }

    /// Stops assigning sessions to the router of `slots`.
    pub fn close(&mut self, slots: &RangeInclusive<u32>) {
        for one in self.routers.iter_mut().filter(|one| one.slots == *slots) {
            one.to = None;
        }
    }

    /// Returns the router for a session, or `None` if it is closed.
    #[must_use]
    pub fn choose(&self, origin: Origin, id: SessionId) -> Option<R> {
        let seen = || self.remembered.iter().find(|seen| seen.id == id && seen.origin == origin);
        let slot = id.slot().or_else(|| seen().map(|seen| seen.slot));
        let route = slot.and_then(|slot| self.at(slot)).or_else(|| self.routers.first());
        route?.to.clone()
    }

    /// Returns whether a session with a random identifier was sent to a router other than that of `slot`, the slot of its
    /// user. If so, its next attempt is sent to the right one.
    #[must_use]
    pub fn is_elsewhere(&mut self, origin: Origin, id: SessionId, slot: u32) -> bool {
        if id.slot().is_some() || self.at(slot).is_none() {
            return false;
        }
        let known = self.remembered.iter().position(|seen| seen.id == id && seen.origin == origin);
        let led = known.and_then(|place| self.remembered.get(place)).map(|seen| seen.slot);
        let led = led.and_then(|slot| self.at(slot)).or_else(|| self.routers.first());
        if led.is_some_and(|route| route.slots.contains(&slot)) {
            return false;
        }
        if let Some(place) = known {
            self.remembered.remove(place);
        } else if self.remembered.len() >= REMEMBERED {
            self.forget();
        }
        self.remembered.push_back(Seen { origin, id, slot });
        true
    }

    fn at(&self, slot: u32) -> Option<&Route<R>> {
        self.routers.iter().find(|one| one.slots.contains(&slot))
    }

    /// Forgets the oldest identifier of the origin with the most.
    fn forget(&mut self) {
        let mut counts = HashMap::<Origin, usize>::new();
        for seen in &self.remembered {
            *counts.entry(seen.origin).or_default() += 1;
        }
        let most = counts.values().copied().max().unwrap_or_default();
        let of_most = |seen: &Seen| counts.get(&seen.origin).copied() == Some(most);
        if let Some(place) = self.remembered.iter().position(of_most) {
            self.remembered.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn origin(last: u8) -> Origin {
        Origin::of(IpAddr::from([10, 0, 0, last]))
    }

    fn random(number: u32) -> SessionId {
        let mut bytes = [7; 16];
        bytes[..4].copy_from_slice(&number.to_le_bytes());
        SessionId::from_le_bytes(bytes)
    }

    fn routes() -> Routes<&'static str> {
        let mut routes = Routes::default();
        routes.open(4..=7, "second");
        routes.open(0..=3, "first");
        routes
    }

    #[test]
    fn an_identifier_leads_to_the_router_of_its_slot() {
        let mut routes = routes();
        for (slot, to) in [(0, "first"), (3, "first"), (4, "second"), (7, "second")] {
            assert_eq!(routes.choose(origin(1), SessionId::of_slot(slot, 5)), Some(to));
        }
        let unknown = SessionId::of_slot(8, 5);
        assert_eq!(routes.choose(origin(1), unknown), Some("first"), "it is refused there");
        assert!(!routes.is_elsewhere(origin(1), unknown, 5), "no honest device names another's");
        assert_eq!(routes.choose(origin(1), unknown), Some("first"));
        assert_eq!(Routes::<()>::default().choose(origin(1), random(1)), None);
    }

    #[test]
    fn a_closed_router_lets_its_own_devices_wait_and_no_others() {
        let mut routes = routes();
        routes.close(&(4..=7));
        assert_eq!(routes.choose(origin(1), SessionId::of_slot(5, 1)), None);
        assert_eq!(routes.choose(origin(1), SessionId::of_slot(2, 1)), Some("first"));
        routes.open(4..=9, "third");
        assert_eq!(routes.choose(origin(1), SessionId::of_slot(5, 1)), Some("third"));
        assert_eq!(routes.choose(origin(1), SessionId::of_slot(9, 1)), Some("third"));
    }

    #[test]
    fn a_random_identifier_is_led_to_its_router_at_the_second_attempt() {
        let mut routes = routes();
        let id = random(1);
        assert_eq!(routes.choose(origin(1), id), Some("first"));
        assert!(!routes.is_elsewhere(origin(1), id, 2), "it is where its user is");
        assert!(!routes.is_elsewhere(origin(1), id, 99), "no router has this user");
        assert!(routes.is_elsewhere(origin(1), id, 6));
        assert_eq!(routes.choose(origin(1), id), Some("second"));
        assert!(!routes.is_elsewhere(origin(1), id, 6));
        assert_eq!(routes.choose(origin(2), id), Some("first"), "an address speaks for itself");
        assert!(routes.is_elsewhere(origin(1), id, 1), "its device has another slot now");
        assert_eq!(routes.choose(origin(1), id), Some("first"));
    }

    #[test]
    fn an_address_with_many_identifiers_displaces_its_own() {
        let mut routes = routes();
        assert!(routes.is_elsewhere(origin(1), random(0), 6));
        for number in 1..100 + u32::try_from(REMEMBERED).unwrap() {
            assert!(routes.is_elsewhere(origin(2), random(number), 6));
            assert!(routes.remembered.len() <= REMEMBERED);
        }
        assert_eq!(routes.choose(origin(1), random(0)), Some("second"));
        assert_eq!(routes.choose(origin(2), random(1)), Some("first"), "it is forgotten");
    }
}
