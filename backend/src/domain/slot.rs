//! The slots of a zenoh router: how many there should be, and when the router is restarted for more.
//!
//! The users of a router are fixed while it runs. A restart takes about a second, in which every device of the router
//! reconnects, so the router is restarted rarely, and at a quiet moment unless a device waits.

use std::time::Duration;

/// How the slots of a router are used.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Slots {
    pub free: u32,
    /// Slots of registered devices.
    pub taken: u32,
    /// Slots of devices that were removed or registered again: their old users can still join.
    pub spent: u32,
}

/// How many slots a router may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    /// The fewest free slots at the start of a router.
    pub reserve: u32,
    pub most: u32,
}

/// The state of the running router.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Moment {
    pub open_for: Duration,
    /// Whether a device was told that no slot is free.
    pub awaited: bool,
    /// Whether no command is on its way to a device.
    pub quiet: bool,
}

/// The shortest time between restarts while a device waits.
const SHORTEST: Duration = Duration::from_secs(10);
/// The shortest time between restarts while few slots are free.
const LOW: Duration = Duration::from_secs(60);
/// The longest time for which the user of a removed device can still join.
const CUT_OFF: Duration = Duration::from_secs(15 * 60);

/// Returns how many slots a router starts with when devices have `taken` slots.
#[must_use]
pub fn wanted(taken: u32, bounds: Bounds) -> u32 {
    taken.saturating_add(bounds.reserve.max(taken / 2)).min(bounds.most)
}

/// Tells whether the router should be restarted now.
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
    fn a_router_has_a_reserve_that_grows_with_its_devices() {
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
        fn a_router_is_opened_anew_only_for_more_free_slots_or_to_cut_somebody_off(
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
