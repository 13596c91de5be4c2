//! Decides which unauthenticated connection may join the router next.
//!
//! A connection arrives, sends its first message, waits for its turn and joins. Each of these stages holds a limited
//! number of connections. A full stage drops a connection of the address that has the most connections in the stage:
//! its oldest silent connection, or its newest waiting connection. The address with the fewest joining connections gets
//! the next turn, so an address with many connections delays only itself.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
};

/// The origin of a connection: an IPv4 address, or the network of an IPv6 address.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Origin(IpAddr);

/// How many connections a stage holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    /// Silent connections.
    pub arriving: usize,
    /// Connections that have sent their first message and wait for a turn.
    pub waiting: usize,
    /// Connections that are joining the router.
    pub joining: usize,
    /// Connections of one origin that are joining the router.
    pub joining_each: usize,
}

/// A connection at the door.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ticket(u64);

/// The effect of a change at the door.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Turn {
    /// The connection is closed.
    Away(Ticket),
    /// The connection may go to the router.
    Join(Ticket),
}

/// The connections that are not authenticated yet, in the order of their arrival.
#[derive(Debug)]
pub struct Door {
    bounds: Bounds,
    next: u64,
    guests: BTreeMap<Ticket, Guest>,
}

#[derive(Clone, Copy, Debug)]
struct Guest {
    origin: Origin,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Arriving,
    Waiting,
    Joining,
}

impl Origin {
    /// Returns the origin of `address`. All IPv6 addresses of a /64 have the same origin, because one host can use all
    /// of them.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self(IpAddr::V4(address)),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self(IpAddr::from([a, b, c, d, 0, 0, 0, 0]))
            }
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            IpAddr::V4(address) => address.fmt(f),
            IpAddr::V6(network) => write!(f, "{network}/64"),
        }
    }
}

impl Door {
    #[must_use]
    pub const fn new(bounds: Bounds) -> Self {
        Self { bounds, next: 0, guests: BTreeMap::new() }
    }

    /// Adds a connection. Returns the connections that are dropped for it.
    pub fn arrive(&mut self, origin: Origin) -> (Ticket, Vec<Turn>) {
        let ticket = Ticket(self.next);
        self.next += 1;
        self.guests.insert(ticket, Guest { origin, stage: Stage::Arriving });
        let mut turns = Vec::new();
        if self.count(Stage::Arriving) > self.bounds.arriving {
            turns.extend(self.give_way(Stage::Arriving));
        }
        (ticket, turns)
    }

    /// Records that a connection has sent its first message.
    pub fn spoke(&mut self, ticket: Ticket) -> Vec<Turn> {
        let Some(guest) = self.guests.get_mut(&ticket) else { return Vec::new() };
        guest.stage = Stage::Waiting;
        let mut turns = self.admit();
        if self.count(Stage::Waiting) > self.bounds.waiting {
            turns.extend(self.give_way(Stage::Waiting));
        }
        turns
    }

    /// Records that a connection joined or ended.
    pub fn leave(&mut self, ticket: Ticket) -> Vec<Turn> {
        self.guests.remove(&ticket);
        self.admit()
    }

    fn admit(&mut self) -> Vec<Turn> {
        let mut turns = Vec::new();
        while self.count(Stage::Joining) < self.bounds.joining {
            let joining = self.by_origin(Stage::Joining);
            let held = |origin| joining.get(&origin).copied().unwrap_or_default();
            let next = self
                .guests
                .iter()
                .filter(|(_, guest)| guest.stage == Stage::Waiting)
                .map(|(ticket, guest)| (held(guest.origin), *ticket))
                .filter(|(held, _)| *held < self.bounds.joining_each)
                .min();
            let Some((_, ticket)) = next else { break };
            if let Some(guest) = self.guests.get_mut(&ticket) {
                guest.stage = Stage::Joining;
            }
            turns.push(Turn::Join(ticket));
        }
        turns
    }

    /// Drops a connection of the origin with the most connections in `stage`.
    fn give_way(&mut self, stage: Stage) -> Option<Turn> {
        let counts = self.by_origin(stage);
        let most = counts.values().copied().max()?;
        let mut of_most = self.guests.iter().filter(|(_, guest)| {
            guest.stage == stage && counts.get(&guest.origin).copied() == Some(most)
        });
        let (ticket, _) = match stage {
            Stage::Arriving => of_most.next(),
            Stage::Waiting | Stage::Joining => of_most.next_back(),
        }?;
        let ticket = *ticket;
        self.guests.remove(&ticket);
        Some(Turn::Away(ticket))
    }

    fn count(&self, stage: Stage) -> usize {
        self.guests.values().filter(|guest| guest.stage == stage).count()
    }

    fn by_origin(&self, stage: Stage) -> HashMap<Origin, usize> {
        let mut counts = HashMap::new();
        for guest in self.guests.values().filter(|guest| guest.stage == stage) {
            *counts.entry(guest.origin).or_default() += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOUNDS: Bounds = Bounds { arriving: 3, waiting: 3, joining: 2, joining_each: 1 };

    fn origin(last: u8) -> Origin {
        Origin::of(IpAddr::from([10, 0, 0, last]))
    }

    #[test]
    fn an_address_of_ipv6_counts_with_its_network() {
        let of = |text: &str| Origin::of(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::7"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::7"), of("2001:db8:1:3::7"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_eq!(of("2001:db8:1:2::7").to_string(), "2001:db8:1:2::/64");
    }

    #[test]
    fn whoever_says_nothing_gives_way_the_oldest_of_the_address_with_most_first() {
        let mut door = Door::new(BOUNDS);
        let (alone, _) = door.arrive(origin(2));
        let (first, _) = door.arrive(origin(1));
        let (_, _) = door.arrive(origin(1));
        let (_, turns) = door.arrive(origin(3));
        assert_eq!(turns, [Turn::Away(first)]);
        let (_, turns) = door.arrive(origin(4));
        assert_eq!(turns, [Turn::Away(alone)], "all have one: the oldest of them");
    }

    #[test]
    fn a_turn_goes_to_the_address_with_fewest_that_join() {
        let mut door = Door::new(BOUNDS);
        let many: Vec<_> = (0..3).map(|_| door.arrive(origin(1)).0).collect();
        assert_eq!(door.spoke(many[0]), [Turn::Join(many[0])]);
        assert_eq!(door.spoke(many[1]), [], "one of an address at a time");
        assert_eq!(door.spoke(many[2]), []);
        let (other, _) = door.arrive(origin(2));
        assert_eq!(
            door.spoke(other),
            [Turn::Join(other)],
            "it waits for nobody of another address"
        );
        assert_eq!(door.leave(many[0]), [Turn::Join(many[1])]);
        assert_eq!(door.leave(other), []);
        assert_eq!(door.leave(many[1]), [Turn::Join(many[2])]);
    }

    #[derive(Clone, Copy, Debug)]
    enum Event {
        Arrive(u8),
        Spoke(u64),
        Leave(u64),
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let event = prop_oneof![
            (0_u8..4).prop_map(Event::Arrive),
            (0_u64..40).prop_map(Event::Spoke),
            (0_u64..40).prop_map(Event::Leave),
        ];
        proptest::collection::vec(event, 0..80)
    }

    proptest! {
        #[test]
        fn no_stage_is_ever_over_its_bound_and_nobody_waits_beside_a_free_turn(events in events()) {
            let mut door = Door::new(BOUNDS);
            for event in events {
                match event {
                    Event::Arrive(last) => drop(door.arrive(origin(last))),
                    // A connection sends a first message only after its arrival, and only once.
                    Event::Spoke(ticket) => {
                        let arriving = door.guests.get(&Ticket(ticket)).map(|guest| guest.stage);
                        if arriving == Some(Stage::Arriving) {
                            drop(door.spoke(Ticket(ticket)));
                        }
                    }
                    Event::Leave(ticket) => drop(door.leave(Ticket(ticket))),
                }
                prop_assert!(door.count(Stage::Arriving) <= BOUNDS.arriving);
                prop_assert!(door.count(Stage::Waiting) <= BOUNDS.waiting);
                prop_assert!(door.count(Stage::Joining) <= BOUNDS.joining);
                let joining = door.by_origin(Stage::Joining);
                prop_assert!(joining.values().all(|held| *held <= BOUNDS.joining_each));
                let idle = door.count(Stage::Joining) < BOUNDS.joining;
                let waits = door.by_origin(Stage::Waiting).into_keys();
                for origin in waits {
                    prop_assert!(!idle || joining.contains_key(&origin));
                }
            }
        }
    }
}
