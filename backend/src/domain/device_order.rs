//! The order of a list of devices, and the places in it.

use link_protocol::{backend_api::device::DeviceSort, id::DeviceId};

use crate::domain::{device::DeviceRecord, refusal::Refusal};

/// What separates the parts of a place.
const SEPARATOR: char = ':';

/// A place in a list in an order other than that of the ids: what its device is sorted by, and its id.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place {
    pub sort: DeviceSort,
    /// The name, or the time in milliseconds, as the store has it.
    pub key: String,
    pub id: DeviceId,
}

impl Place {
    /// Returns the place of a device.
    fn of(device: &DeviceRecord, sort: DeviceSort) -> Self {
        let key = match sort {
            DeviceSort::Newest | DeviceSort::Oldest => String::new(),
            DeviceSort::Name | DeviceSort::NameDescending => device.name.clone(),
            DeviceSort::LastSeen | DeviceSort::LastSeenDescending => {
                device.last_seen_at.map_or(0, |seen| seen.as_millisecond()).to_string()
            }
        };
        Self { sort, key, id: device.id }
    }

    /// Returns the cursor of the page after a device. In the order of the ids it is the id alone.
    #[must_use]
    pub fn cursor(device: &DeviceRecord, sort: DeviceSort) -> String {
        if sort == DeviceSort::Newest {
            return device.id.to_string();
        }
        Self::of(device, sort).to_string()
    }

    /// Checks that a cursor belongs to a list in this order.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if it belongs to another list.
    pub fn check(cursor: &str, sort: DeviceSort) -> Result<(), Refusal> {
        if sort == DeviceSort::Newest {
            return cursor.parse::<DeviceId>().map(drop).map_err(|_| foreign(sort));
        }
        Self::read(cursor, sort).map(drop)
    }

    /// Reads the place in a cursor of a list in this order.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the cursor belongs to another list.
    pub fn read(cursor: &str, sort: DeviceSort) -> Result<Self, Refusal> {
        let place = || {
            let (word, rest) = cursor.split_once(SEPARATOR)?;
            let (id, key) = rest.split_once(SEPARATOR)?;
            let numeric = matches!(sort, DeviceSort::LastSeen | DeviceSort::LastSeenDescending);
            let whole = word == sort.as_str() && (!numeric || key.parse::<i64>().is_ok());
            whole.then_some(Self { sort, key: key.to_owned(), id: id.parse().ok()? })
        };
        place().ok_or_else(|| foreign(sort))
    }
}

fn foreign(sort: DeviceSort) -> Refusal {
    Refusal::invalid(format!("cursor: is not of a list with `sort={}`", sort.as_str()))
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { sort, key, id } = self;
        write!(f, "{}{SEPARATOR}{id}{SEPARATOR}{key}", sort.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_again_in_its_own_order_alone() {
        let id: DeviceId = "dev_00000000000000000000000000000001".parse().unwrap();
        let place = Place { sort: DeviceSort::Name, key: "a: b".to_owned(), id };
        let cursor = place.to_string();
        assert_eq!(Place::read(&cursor, DeviceSort::Name), Ok(place));
        for sort in [DeviceSort::NameDescending, DeviceSort::LastSeen, DeviceSort::Oldest] {
            assert!(Place::read(&cursor, sort).is_err(), "{sort:?}");
        }
        let id = id.to_string();
        assert_eq!(Place::check(&id, DeviceSort::Newest), Ok(()));
        let newest = format!("-registered:{id}:");
        for (cursor, sort) in
            [(&cursor, DeviceSort::Newest), (&newest, DeviceSort::Newest), (&id, DeviceSort::Name)]
        {
            assert!(Place::check(cursor, sort).is_err(), "{cursor}");
        }
    }

    #[test]
    fn what_is_no_place_is_refused() {
        let id = "dev_00000000000000000000000000000001";
        for cursor in ["", id, "name", "name:", "name:dev_1:x", &format!("last_seen:{id}:soon")] {
            for sort in [DeviceSort::Name, DeviceSort::LastSeen] {
                assert!(Place::read(cursor, sort).is_err(), "{cursor}");
            }
        }
    }
}
