//! Random numbers that are the same for the same seed, on every machine and with every version of a
//! library.

/// A SplitMix64 generator.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// Creates the generator for a seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Self(seed ^ 0x5DEE_CE66_D1CE_CAFE);
        random.number();
        random
    }

    /// Returns a random number.
    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number from `low` to below `high`.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.number() % (high - low).max(1)
    }

    /// Returns true with a probability of `permille` in a thousand.
    pub(super) fn happens(&mut self, permille: u64) -> bool {
        permille > 0 && self.number() % 1000 < permille
    }

    /// Returns a random element of `items`.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let place = self.number() % items.len() as u64;
        &items[usize::try_from(place).expect("a place in a slice")]
    }

    /// Shuffles `items`.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.number() % (last as u64 + 1);
            items.swap(last, usize::try_from(other).expect("a place in a slice"));
        }
    }
}
