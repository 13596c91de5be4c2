//! The state of an unfinished SHA-256 as a storable text.

use sha2::{
    Sha256,
    digest::common::hazmat::{SerializableState, SerializedState},
};

/// Returns the state in hexadecimal digits.
pub(super) fn to_text(hasher: &Sha256) -> String {
    hasher.serialize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Parses the text of [`to_text`]. Returns `None` if the text is damaged.
pub(super) fn from_text(text: &str) -> Option<Sha256> {
    let digits: Vec<u8> = text.chars().map(digit).collect::<Option<_>>()?;
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
    let state: &SerializedState<Sha256> = bytes.as_slice().try_into().ok()?;
    Sha256::deserialize(state).ok()
}

fn digit(letter: char) -> Option<u8> {
    letter.to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use sha2::Digest as _;

    use super::*;

    #[test]
    fn a_hash_goes_on_from_its_text_and_a_damaged_text_is_none() {
        let mut first = Sha256::new();
        first.update(b"abc");
        let mut second = from_text(&to_text(&first)).unwrap();
        second.update(b"xyz");
        assert_eq!(second.finalize(), Sha256::digest(b"abcxyz"));
        for damaged in ["", "zz", "é", "00", &to_text(&first)[1..]] {
            assert!(from_text(damaged).is_none(), "{damaged}");
        }
    }
}
