//! Divides the slots of the zenoh transport among routers.
//!
//! A device that joins a router costs time in proportion to the users of that router, because zenoh copies the rules of
//! all of them for each session. So a router has a bounded number of users. A router whose users have not changed stays
//! open, with its sessions.

use std::collections::{HashMap, HashSet};

use super::slot::SlotTurn;

/// What to close and to open so that each slot has a router that knows its current password.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Division {
    /// The places of the routers to close, in ascending order.
    pub stale: Vec<usize>,
    /// The users of the routers to open. Their slots have consecutive numbers.
    pub missing: Vec<Vec<SlotTurn>>,
}

/// Divides `slots`, in ascending order, among the `running` routers and new ones with at most `each` slots.
#[must_use]
pub fn divide(running: &[&[SlotTurn]], slots: &[SlotTurn], each: u32) -> Division {
    let current: HashMap<u32, u64> = slots.iter().map(|one| (one.slot, one.turn)).collect();
    let is_current = |one: &SlotTurn| current.get(&one.slot) == Some(&one.turn);
    let mut division = Division::default();
    let mut served = HashSet::new();
    for (place, users) in running.iter().enumerate() {
        if users.iter().all(is_current) {
            served.extend(users.iter().map(|one| one.slot));
        } else {
            division.stale.push(place);
        }
    }
    for one in slots.iter().filter(|one| !served.contains(&one.slot)) {
        let open = division.missing.last_mut().filter(|users| {
            let follows = |last: &SlotTurn| last.slot.checked_add(1) == Some(one.slot);
            users.len() < each.max(1) as usize && users.last().is_some_and(follows)
        });
        match open {
            Some(users) => users.push(*one),
            None => division.missing.push(vec![*one]),
        }
    }
    division
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slots(turns: &[u64]) -> Vec<SlotTurn> {
        let numbered = (0..).zip(turns);
        numbered.map(|(slot, turn)| SlotTurn { slot, turn: *turn }).collect()
    }

    #[test]
    fn further_slots_get_further_routers_and_the_others_stay_open() {
        let slots = slots(&[0; 7]);
        let first = divide(&[], &slots[..4], 3);
        assert_eq!(first.stale, [0_usize; 0]);
        assert_eq!(first.missing, [slots[..3].to_vec(), slots[3..4].to_vec()]);
        let running: Vec<_> = first.missing.iter().map(Vec::as_slice).collect();
        let second = divide(&running, &slots, 3);
        assert_eq!(second, Division { stale: vec![], missing: vec![slots[4..].to_vec()] });
        assert_eq!(divide(&running, &slots[..4], 3), Division::default());
    }

    #[test]
    fn a_router_with_a_new_password_is_opened_anew_and_no_other() {
        let before = slots(&[0; 6]);
        let running: Vec<_> = before.chunks(2).collect();
        let after = slots(&[0, 0, 0, 1, 0, 0]);
        let division = divide(&running, &after, 2);
        assert_eq!(division, Division { stale: vec![1], missing: vec![after[2..4].to_vec()] });
    }

    proptest! {
        #[test]
        fn each_slot_has_one_router_that_knows_its_password(
            before in proptest::collection::vec(0_u64..2, 0..40),
            changes in proptest::collection::vec(0_u64..8, 40),
            more in 0_usize..20,
            (each_before, each) in (1_u32..10, 0_u32..10),
        ) {
            let old = slots(&before);
            let opened = divide(&[], &old, each_before).missing;
            let running: Vec<_> = opened.iter().map(Vec::as_slice).collect();
            let turns: Vec<_> = before
                .iter()
                .zip(&changes)
                .map(|(turn, change)| turn + change / 7)
                .chain(std::iter::repeat_n(0, more))
                .collect();
            let new = slots(&turns);
            let division = divide(&running, &new, each);
            prop_assert!(division.missing.iter().all(|users| users.len() <= each.max(1) as usize));
            let kept = (0..running.len()).filter(|place| !division.stale.contains(place));
            let mut served: Vec<_> = kept.flat_map(|place| running[place].to_vec()).collect();
            served.extend(division.missing.concat());
            served.sort_by_key(|one| one.slot);
            prop_assert_eq!(served, new);
        }
    }
}
