//! A table of what readers get, and the property that a reader who obeys the feed knows the truth.

use std::collections::BTreeMap;

use link_protocol::id::DeviceId;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

const BOUNDS: Bounds = Bounds { events: 4, bytes: 100, waiting: 5 };

#[test]
fn a_newer_event_about_a_thing_replaces_the_older_one() {
    let mut feed = Feed::new(BOUNDS);
    for (thing, event) in [(1, "a"), (2, "b"), (1, "c")] {
        feed.publish(device(thing), 1, event);
    }
    assert_eq!(events(&feed, 0), [(2, "b"), (3, "c")]);
    assert_eq!(events(&feed, 2), [(3, "c")]);
    assert!(feed.has(0) && feed.has(3) && !feed.has(4));
}

#[test]
fn changes_of_one_thing_wait_once() {
    let mut feed: Feed<()> = Feed::new(BOUNDS);
    for thing in [1, 2, 1, 1] {
        feed.note(device(thing));
    }
    assert_eq!(feed.take().into_iter().collect::<Vec<_>>(), [device(1), device(2)]);
    assert!(!feed.is_waiting());
}

#[test]
fn a_reader_behind_dropped_events_cannot_go_on() {
    let mut feed = Feed::new(BOUNDS);
    for thing in 1..=5 {
        feed.publish(device(thing), 1, "x");
    }
    assert_eq!(feed.next(0, &all(), 9), Next::Behind);
    assert!(!feed.has(0) && feed.has(1));
    assert_eq!(events(&feed, 1).len(), 4);
    feed.publish(device(6), 98, "large");
    assert_eq!(feed.next(1, &all(), 9), Next::Behind);
    assert_eq!(events(&feed, 4), [(5, "x"), (6, "large")]);
}

#[test]
fn too_many_changes_or_a_loss_reset_every_reader() {
    let mut feed: Feed<&str> = Feed::new(BOUNDS);
    feed.publish(device(1), 1, "x");
    for thing in 1..=6 {
        feed.note(device(thing));
    }
    assert!(!feed.is_waiting() && !feed.has(1) && feed.has(2));
    assert_eq!(feed.next(1, &all(), 9), Next::Reset { read: 2 });
    feed.publish(device(2), 1, "y");
    assert_eq!(events(&feed, 2), [(3, "y")]);
}

#[test]
fn a_reader_gets_a_bounded_number_of_events_at_once_and_skips_the_others() {
    let mut feed = Feed::new(BOUNDS);
    for thing in 1..=4 {
        feed.publish(device(thing), 1, "x");
    }
    let Next::Events { events, read } = feed.next(0, &all(), 3) else { panic!("has events") };
    assert_eq!((events.len(), read), (3, 3));
    let other = Filter::new(Some("key"), None, |_| Ok(())).unwrap();
    assert_eq!(feed.next(0, &other, 3), Next::Events { events: vec![], read: 4 });
}

/// A step of a schedule. Things are numbered from 0 to 7.
#[derive(Clone, Debug)]
enum Step {
    /// The state of a thing changes, or the thing is removed.
    Write(u8, Option<u8>),
    /// The waiting changes are read and published.
    Flush,
    /// Changes of another backend may have been lost.
    Lose,
    /// A reader reads up to this number of events.
    Read(usize, usize),
    /// A reader loses its connection, and resumes.
    Reconnect(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..8_u8, proptest::option::of(any::<u8>())).prop_map(|(thing, to)| Step::Write(thing, to)),
        3 => Just(Step::Flush),
        1 => Just(Step::Lose),
        4 => (0..2_usize, 1..4_usize).prop_map(|(who, most)| Step::Read(who, most)),
        2 => (0..2_usize).prop_map(Step::Reconnect),
    ]
}

type Things = BTreeMap<Subject, u8>;

/// A page: what it shows, and the position of the last event that it has applied.
#[derive(Clone, Debug, Default)]
struct Page {
    shows: Things,
    read: u64,
    is_cut: bool,
}

impl Page {
    fn read(&mut self, feed: &Feed<Option<u8>>, truth: &Things, most: usize) -> bool {
        if self.is_cut {
            return false;
        }
        match feed.next(self.read, &all(), most) {
            Next::Events { events, read } => {
                let is_over = events.is_empty();
                for (_, thing, state) in events {
                    match state {
                        Some(state) => self.shows.insert(thing, state),
                        None => self.shows.remove(&thing),
                    };
                }
                self.read = read;
                !is_over
            }
            Next::Reset { read } => {
                (self.shows, self.read) = (truth.clone(), read);
                true
            }
            Next::Behind => {
                self.is_cut = true;
                false
            }
        }
    }

    fn reconnect(&mut self, feed: &Feed<Option<u8>>, truth: &Things) {
        self.is_cut = false;
        if !feed.has(self.read) {
            (self.shows, self.read) = (truth.clone(), feed.last());
        }
    }
}

fn flush(feed: &mut Feed<Option<u8>>, truth: &Things) {
    for thing in feed.take() {
        feed.publish(thing, 30, truth.get(&thing).copied());
    }
}

proptest! {
    #[test]
    fn a_page_that_applies_events_and_loads_anew_when_told_shows_the_truth(
        steps in proptest::collection::vec(step(), 0..200),
    ) {
        let mut feed = Feed::new(BOUNDS);
        let mut truth = Things::new();
        let mut pages = [Page::default(), Page::default()];
        for step in steps {
            match step {
                Step::Write(thing, to) => {
                    let thing = device(thing.into());
                    match to {
                        Some(to) => truth.insert(thing, to),
                        None => truth.remove(&thing),
                    };
                    feed.note(thing);
                }
                Step::Flush => flush(&mut feed, &truth),
                Step::Lose => feed.lose(),
                Step::Read(who, most) => {
                    pages[who].read(&feed, &truth, most);
                }
                Step::Reconnect(who) => pages[who].reconnect(&feed, &truth),
            }
            prop_assert!(feed.events.len() <= BOUNDS.events && feed.bytes <= BOUNDS.bytes);
            prop_assert!(feed.waiting.len() <= BOUNDS.waiting);
            prop_assert_eq!(feed.events.len(), feed.newest.len());
        }
        flush(&mut feed, &truth);
        for page in &mut pages {
            while page.read(&feed, &truth, 2) {}
            if page.is_cut {
                page.reconnect(&feed, &truth);
                while page.read(&feed, &truth, 2) {}
            }
            prop_assert_eq!(&page.shows, &truth);
        }
    }
}

fn events<'e>(feed: &Feed<&'e str>, read: u64) -> Vec<(u64, &'e str)> {
    let Next::Events { events, .. } = feed.next(read, &all(), 9) else { panic!("has events") };
    events.into_iter().map(|(position, _, event)| (position, event)).collect()
}

fn all() -> Filter {
    Filter::new(None, None, |_| Ok(())).unwrap()
}

fn device(number: u128) -> Subject {
    Subject::Device(DeviceId::from_uuid(Uuid::from_u128(number)))
}
