//! The slots of the zenoh transport: how many there are, and when they change.
//!
//! The users of a router are fixed while it runs. New slots get a router of their own, but a slot with a new password
//! restarts its router, and the devices of that router reconnect. So changes are rare, and wait for a quiet moment unless a
//! device needs a slot.

use std::time::Duration;

/// A slot, and the number of its password changes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SlotTurn {
    pub slot: u32,
    pub turn: u64,
}

/// The use of the slots.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Slots {
    pub free: u32,
    /// Slots of registered devices.
    pub taken: u32,
    /// Slots of devices that were removed or registered again: their old users can still join.
    pub spent: u32,
}

/// The limits for the number of slots.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    /// The minimum number of free slots after a change.
    pub reserve: u32,
    pub most: u32,
}

/// The state of the running routers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Moment {
    /// The time since the latest change of the slots.
    pub open_for: Duration,
    /// Whether a device was refused because no slot was free.
    pub awaited: bool,
    /// Whether no command is in flight.
    pub quiet: bool,
}

/// The minimum time between changes while a device waits for a slot.
const SHORTEST: Duration = Duration::from_secs(10);
/// The minimum time between changes while few slots are free.
const LOW: Duration = Duration::from_secs(60);
/// The maximum time for which the user of a removed device can still join.
const CUT_OFF: Duration = Duration::from_secs(15 * 60);

/// Returns the number of slots after a change when devices use `taken` slots.
#[must_use]
pub fn wanted(taken: u32, bounds: Bounds) -> u32 {
    taken.saturating_add(bounds.reserve.max(taken / 2)).min(bounds.most)
}

/// Tells whether the slots should change now.
#[must_use]
pub fn is_due(slots: Slots, bounds: Bounds, moment: Moment) -> bool {
    let after = wanted(slots.taken, bounds).saturating_sub(slots.taken);
    let helps = after > slots.free;
    let low = slots.free < (bounds.reserve / 4).max(slots.taken / 8);
    let urgent = slots.free == 0 && moment.awaited && helps && moment.open_for >= SHORTEST;
    let soon = low && helps && moment.quiet && moment.open_for >= LOW;
    let stale = slots.spent > 0 && moment.quiet && moment.open_for >= CUT_OFF;
    urgent || soon || stale
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOUNDS: Bounds = Bounds { reserve: 64, most: 1000 };

    const fn moment(seconds: u64, awaited: bool, quiet: bool) -> Moment {
        Moment { open_for: Duration::from_secs(seconds), awaited, quiet }
    }

    const fn slots(free: u32, taken: u32, spent: u32) -> Slots {
        Slots { free, taken, spent }
    }

    #[test]
    fn there_is_a_reserve_that_grows_with_the_devices() {
        assert_eq!(wanted(0, BOUNDS), 64);
        assert_eq!(wanted(100, BOUNDS), 164);
        assert_eq!(wanted(400, BOUNDS), 600);
        assert_eq!(wanted(900, BOUNDS), 1000);
    }

    #[test]
    fn a_device_that_waits_is_served_soon_and_others_at_a_quiet_moment() {
        let table = [
            (slots(64, 0, 0), moment(9999, false, true), false),
            (slots(0, 64, 0), moment(9, true, true), false),
            (slots(0, 64, 0), moment(10, true, false), true),
            (slots(0, 64, 0), moment(59, false, true), false),
            (slots(0, 64, 0), moment(60, false, true), true),
            (slots(0, 64, 0), moment(60, false, false), false),
            (slots(15, 49, 0), moment(60, false, true), true),
            (slots(16, 48, 0), moment(60, false, true), false),
            (slots(0, 1000, 0), moment(9999, true, true), false),
            (slots(0, 999, 1), moment(10, true, true), true),
            (slots(63, 0, 1), moment(899, false, true), false),
            (slots(63, 0, 1), moment(900, false, true), true),
            (slots(63, 0, 1), moment(900, false, false), false),
        ];
        for (slots, moment, due) in table {
            assert_eq!(is_due(slots, BOUNDS, moment), due, "{slots:?} {moment:?}");
        }
    }

    proptest! {
        #[test]
        fn slots_change_only_for_more_free_ones_or_to_cut_somebody_off(
            (free, taken, spent) in (0_u32..2000, 0_u32..2000, 0_u32..50),
            seconds in 0_u64..2000,
            (awaited, quiet) in (any::<bool>(), any::<bool>()),
        ) {
            let due = is_due(slots(free, taken, spent), BOUNDS, moment(seconds, awaited, quiet));
            let after = wanted(taken, BOUNDS).saturating_sub(taken);
            prop_assert!(!due || after > free || spent > 0);
            prop_assert!(!due || seconds >= 10);
            prop_assert!(wanted(taken, BOUNDS) <= BOUNDS.most);
        }
    }
}
