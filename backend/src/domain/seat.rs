//! Allows one session for each user of the router. A newer session replaces the older one, because a device with a
//! broken link reconnects while the router still holds the old link.
//!
//! A user that reconnects too often keeps its session, and further attempts are refused before they reach the router.

use std::{collections::HashMap, time::Duration};

use super::{
    allowance::{Allowance, Purse},
    door::{Origin, Ticket},
};

/// How often a user may join: a burst of 30, then once in five seconds.
const JOINS: Allowance = Allowance { burst: 150, each_second: 1 };
const JOIN: u32 = 5;

/// The sessions by user name. The number of users of the router bounds the map.
#[derive(Debug, Default)]
pub struct Seats(HashMap<String, Seat>);

#[derive(Debug)]
struct Seat {
    held: Option<Ticket>,
    /// The network address of the latest session.
    origin: Origin,
    joins: Purse,
}

/// The effect of a new session on the older session of the user.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Seated {
    /// The user has no other session.
    Alone,
    /// The older session is closed.
    InPlaceOf(Ticket, Origin),
    /// The user joins too often: the new session is closed.
    TooOften,
}

impl Seats {
    /// Tells whether a client at `origin` that claims to be `user` may try to join the router. The claim is not
    /// verified yet, so only attempts from the origin of the user's latest session are limited.
    #[must_use]
    pub fn may_try(&mut self, user: &str, origin: Origin, now: Duration) -> bool {
        let Some(seat) = self.0.get_mut(user) else { return true };
        seat.origin != origin || seat.joins.has(JOIN, now)
    }

    /// Adds a session of `user` that has joined the router.
    #[must_use]
    pub fn take(&mut self, user: &str, origin: Origin, ticket: Ticket, now: Duration) -> Seated {
        let new = || Seat { held: None, origin, joins: Purse::full(JOINS, now) };
        let seat = self.0.entry(user.to_owned()).or_insert_with(new);
        let before = seat.origin;
        seat.origin = origin;
        if !seat.joins.has(JOIN, now) {
            return Seated::TooOften;
        }
        let _paid = seat.joins.spend(JOIN, now);
        match seat.held.replace(ticket) {
            Some(held) => Seated::InPlaceOf(held, before),
            None => Seated::Alone,
        }
    }

    /// Records the end of a session.
    pub fn leave(&mut self, user: &str, ticket: Ticket) {
        if let Some(seat) = self.0.get_mut(user)
            && seat.held == Some(ticket)
        {
            seat.held = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::domain::door::{Bounds, Door};

    const NOW: Duration = Duration::from_secs(100);

    fn tickets() -> Vec<Ticket> {
        let bounds = Bounds { arriving: 100, waiting: 1, joining: 1, joining_each: 1 };
        let mut door = Door::new(bounds);
        (0..60).map(|_| door.arrive(origin(1)).0).collect()
    }

    fn origin(last: u8) -> Origin {
        Origin::of(IpAddr::from([10, 0, 0, last]))
    }

    #[test]
    fn a_newer_session_takes_the_place_of_the_one_before() {
        let (mut seats, tickets) = (Seats::default(), tickets());
        assert_eq!(seats.take("s1", origin(1), tickets[0], NOW), Seated::Alone);
        assert_eq!(seats.take("s2", origin(1), tickets[1], NOW), Seated::Alone);
        let taken = seats.take("s1", origin(2), tickets[2], NOW);
        assert_eq!(taken, Seated::InPlaceOf(tickets[0], origin(1)));
        seats.leave("s1", tickets[0]);
        let taken = seats.take("s1", origin(1), tickets[3], NOW);
        assert_eq!(
            taken,
            Seated::InPlaceOf(tickets[2], origin(2)),
            "the end of an old one frees none"
        );
        seats.leave("s1", tickets[3]);
        assert_eq!(seats.take("s1", origin(1), tickets[4], NOW), Seated::Alone);
    }

    #[test]
    fn whoever_joins_too_often_keeps_what_it_has_and_shuts_out_itself_alone() {
        let (mut seats, tickets) = (Seats::default(), tickets());
        for ticket in &tickets[..30] {
            assert!(seats.may_try("s1", origin(1), NOW));
            assert_ne!(seats.take("s1", origin(1), *ticket, NOW), Seated::TooOften);
        }
        assert!(!seats.may_try("s1", origin(1), NOW), "the router is not asked");
        assert!(seats.may_try("s1", origin(2), NOW), "a name alone proves nothing");
        assert!(seats.may_try("s2", origin(1), NOW));
        assert_eq!(seats.take("s1", origin(2), tickets[30], NOW), Seated::TooOften);
        let later = NOW + Duration::from_secs(6);
        assert!(seats.may_try("s1", origin(2), later));
        let taken = seats.take("s1", origin(2), tickets[31], later);
        assert_eq!(taken, Seated::InPlaceOf(tickets[29], origin(2)));
    }
}
