//! The sizes of the parts of an upload, chosen so that the largest model fits into the maximum number of parts.

use link_protocol::limits;

/// The maximum number of parts of an upload, a limit of S3.
pub(super) const PARTS: u16 = 10_000;
/// The size of the parts that the store copies, in bytes.
pub(super) const COPIED: u64 = 1024 * 1024 * 1024;

const MIB: u64 = 1024 * 1024;
/// The usual size of a part. A smaller file is sent in one piece.
const USUAL: u64 = 16 * MIB;
/// The number of parts with the usual size in a file of unknown size. Later parts are larger.
const USUAL_PARTS: u16 = 1_000;

/// Returns the size of part `number`, counted from 1, of a file of about `size_bytes`. If the size is known, all parts have
/// the same size, which some stores require.
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
