//! How large the parts of an upload are, so that the largest model fits into as many as there may
//! be. Pure.

use link_protocol::limits;

/// Parts that an upload may have; S3's own limit.
pub(super) const PARTS: u16 = 10_000;
/// The largest part that the store copies by itself, in bytes.
pub(super) const COPIED: u64 = 1024 * 1024 * 1024;

const MIB: u64 = 1024 * 1024;
/// The size of a part, unless the file is too large for it; a smaller file is sent in one piece.
const USUAL: u64 = 16 * MIB;
/// How many parts of a file of unknown size have the usual size.
const USUAL_PARTS: u16 = 1_000;

/// Returns the size of part `number`, which begin at 1, of a file of probably `size_bytes`. All
/// parts have one size when that is known, which some stores want.
pub(super) fn part(number: u16, size_bytes: Option<u64>) -> usize {
    let many = limits::MODEL_SIZE_LIMIT.div_ceil(u64::from(PARTS - USUAL_PARTS));
    let size = match size_bytes {
        Some(size) => size.min(limits::MODEL_SIZE_LIMIT).div_ceil(u64::from(PARTS)),
        None if number <= USUAL_PARTS => USUAL,
        None => many,
    };
    usize::try_from(size.next_multiple_of(MIB).max(USUAL)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(hint: Option<u64>) -> u64 {
        (1..=PARTS).map(|number| part(number, hint) as u64).sum()
    }

    #[test]
    fn the_largest_model_fits_whether_its_size_is_known_or_not() {
        for hint in [None, Some(limits::MODEL_SIZE_LIMIT), Some(u64::MAX)] {
            assert!(fits(hint) >= limits::MODEL_SIZE_LIMIT, "{hint:?}");
        }
        for size in [1, USUAL, 3 * USUAL + 1, 200 * 1024 * MIB] {
            assert!(fits(Some(size)) >= size, "{size}");
        }
    }

    #[test]
    fn parts_of_a_known_size_are_alike_and_none_is_large() {
        for hint in [1, 40 * MIB, limits::MODEL_SIZE_LIMIT] {
            assert_eq!(part(1, Some(hint)), part(PARTS, Some(hint)));
        }
        assert_eq!(part(1, Some(40 * MIB)) as u64, USUAL);
        assert!(part(PARTS, None) as u64 <= 128 * MIB);
    }

    #[test]
    fn a_copied_model_has_few_enough_parts() {
        assert!(limits::MODEL_SIZE_LIMIT.div_ceil(COPIED) <= u64::from(PARTS));
    }
}
