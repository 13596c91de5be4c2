//! The orders of lists, and the places in them.

use std::{fmt, str::FromStr};

use link_protocol::{
    backend_api::{
        device::DeviceSort,
        model::{Model, ModelSort},
    },
    id::{DeviceId, ModelId},
};

use crate::domain::{device::DeviceRecord, refusal::Refusal};

/// What separates the parts of a place.
const SEPARATOR: char = ':';

/// An order of a list.
pub trait Order: Copy + fmt::Debug + Eq {
    /// What identifies an item.
    type Id: Copy + fmt::Display + FromStr;

    /// Returns the order's name on the wire.
    fn word(self) -> &'static str;

    /// Tells whether this is the newest first: the order of the ids, in which a cursor is an id alone.
    fn is_newest(self) -> bool;

    /// Tells whether the items are ordered by a number.
    fn is_numeric(self) -> bool;
}

impl Order for DeviceSort {
    type Id = DeviceId;

    fn word(self) -> &'static str {
        self.as_str()
    }

    fn is_newest(self) -> bool {
        self == Self::Newest
    }

    fn is_numeric(self) -> bool {
        matches!(self, Self::LastSeen | Self::LastSeenDescending)
    }
}

impl Order for ModelSort {
    type Id = ModelId;

    fn word(self) -> &'static str {
        self.as_str()
    }

    fn is_newest(self) -> bool {
        self == Self::Newest
    }

    fn is_numeric(self) -> bool {
        matches!(self, Self::Size | Self::SizeDescending)
    }
}

/// An item of a list that has several orders.
pub trait Ordered<S: Order> {
    /// Returns the id.
    fn id(&self) -> S::Id;

    /// Returns what the item is ordered by: its name, or a number, as the store has it.
    fn key(&self, sort: S) -> String;
}

impl Ordered<DeviceSort> for DeviceRecord {
    fn id(&self) -> DeviceId {
        self.id
    }

    fn key(&self, sort: DeviceSort) -> String {
        match sort {
            DeviceSort::Newest | DeviceSort::Oldest => String::new(),
            DeviceSort::Name | DeviceSort::NameDescending => self.name.clone(),
            DeviceSort::LastSeen | DeviceSort::LastSeenDescending => {
                self.last_seen_at.map_or(0, |seen| seen.as_millisecond()).to_string()
            }
        }
    }
}

impl Ordered<ModelSort> for Model {
    fn id(&self) -> ModelId {
        self.model_id
    }

    fn key(&self, sort: ModelSort) -> String {
        match sort {
            ModelSort::Newest | ModelSort::Oldest => String::new(),
            ModelSort::Name | ModelSort::NameDescending => self.name.clone(),
            ModelSort::Size | ModelSort::SizeDescending => {
                self.size_bytes.unwrap_or_default().to_string()
            }
        }
    }
}

/// A place in a list: what its item is ordered by, and its id.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place<S: Order> {
    pub sort: S,
    /// The name, or the number. Empty in the orders of the ids.
    pub key: String,
    pub id: S::Id,
}

/// Returns the cursor of the page after an item.
pub fn cursor<S: Order>(item: &impl Ordered<S>, sort: S) -> String {
    Place { sort, key: item.key(sort), id: item.id() }.to_string()
}

impl<S: Order> Place<S> {
    /// Reads the place in a cursor of a list in this order.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the cursor belongs to another list.
    pub fn read(cursor: &str, sort: S) -> Result<Self, Refusal> {
        let place = || {
            if sort.is_newest() {
                return Some(Self { sort, key: String::new(), id: cursor.parse().ok()? });
            }
            let (word, rest) = cursor.split_once(SEPARATOR)?;
            let (id, key) = rest.split_once(SEPARATOR)?;
            let whole = word == sort.word() && (!sort.is_numeric() || key.parse::<i64>().is_ok());
            whole.then_some(Self { sort, key: key.to_owned(), id: id.parse().ok()? })
        };
        place().ok_or_else(|| {
            Refusal::invalid(format!(
                "cursor: belongs to another list than `sort={}`; leave it out to start at the first page",
                sort.word()
            ))
        })
    }
}

impl<S: Order> fmt::Display for Place<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sort, key, id } = self;
        if sort.is_newest() {
            return write!(f, "{id}");
        }
        write!(f, "{}{SEPARATOR}{id}{SEPARATOR}{key}", sort.word())
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
        assert!(Place::read(&cursor, ModelSort::Name).is_err(), "the id of a device");
        let newest = Place { sort: DeviceSort::Newest, key: String::new(), id };
        let id = newest.to_string();
        assert_eq!(Place::read(&id, DeviceSort::Newest), Ok(newest));
        assert!(Place::read(&id, DeviceSort::Name).is_err());
        for cursor in [&cursor, &format!("-registered:{id}:")] {
            assert!(Place::read(cursor, DeviceSort::Newest).is_err(), "{cursor}");
        }
        assert!(Place::read(&id, ModelSort::Newest).is_err(), "the id of a device");
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
