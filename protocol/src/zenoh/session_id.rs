//! The identifier of a device's session, which names the slot of the device.
//!
//! A backend divides its slots among several routers. The first message of a connection has the identifier but no user,
//! so the slot in it tells which router the connection needs. The identifier proves nothing: a router admits only its own
//! users, each with a password.

use std::fmt;

/// The identifier of a device's session: a marker, the number of the slot, and a random number.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct SessionId(u128);

/// The highest bytes of an identifier that names a slot. zenoh's own identifiers are random.
const MARKER: u32 = u32::from_be_bytes(*b"link");

impl SessionId {
    /// Returns an identifier for a session of the slot with this number. Each session needs another `random`.
    #[must_use]
    pub fn of_slot(number: u32, random: u64) -> Self {
        Self(u128::from(MARKER) << 96 | u128::from(number) << 64 | u128::from(random))
    }

    /// Returns the identifier with these bytes, in the order of zenoh: the lowest byte first.
    #[must_use]
    pub const fn from_le_bytes(bytes: [u8; 16]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// Returns the number of the slot that the identifier names, or `None` for a random identifier.
    #[must_use]
    pub fn slot(self) -> Option<u32> {
        let [a, b, c, d, slot @ .., _, _, _, _, _, _, _, _] = self.0.to_be_bytes();
        (u32::from_be_bytes([a, b, c, d]) == MARKER).then(|| u32::from_be_bytes(slot))
    }
}

/// Writes the identifier as zenoh's configuration expects it.
impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_identifier_has_one_form_in_configurations_and_on_the_wire() {
        let id = SessionId::of_slot(0x0102_0304, 0x0506_0708_090a_0b0c);
        assert_eq!(id.to_string(), "6c696e6b0102030405060708090a0b0c");
        let wire = [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, b'k', b'n', b'i', b'l'];
        assert_eq!(SessionId::from_le_bytes(wire), id);
        assert_eq!(SessionId::of_slot(0, 0).to_string(), "6c696e6b000000000000000000000000");
    }

    #[test]
    fn an_identifier_without_the_marker_names_no_slot() {
        for bytes in [[0; 16], [1; 16], [0xff; 16]] {
            assert_eq!(SessionId::from_le_bytes(bytes).slot(), None);
        }
    }

    proptest! {
        #[test]
        fn an_identifier_names_its_slot(number in any::<u32>(), random in any::<u64>()) {
            let id = SessionId::of_slot(number, random);
            prop_assert_eq!(id.slot(), Some(number));
            prop_assert_eq!(SessionId::of_slot(number, !random).slot(), Some(number));
            prop_assert_ne!(SessionId::of_slot(number, !random), id);
        }
    }
}
