//! Generates random numbers that are the same on every platform and in every version.

/// A random number generator that its seed determines: SplitMix64 (Steele, Lea and Flood, 2014).
///
/// ```
/// use cuvee_sat::solve::random::Random;
///
/// let mut random = Random::new(1_234_567);
/// assert_eq!(random.next(), 6_457_827_717_110_365_317);
/// ```
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Creates a generator with a seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next number. Each of the 2⁶⁴ numbers comes once before any is repeated.
    pub const fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those published with the algorithm.
    #[test]
    fn gives_the_numbers_it_always_gave() {
        let mut random = Random::new(1_234_567);
        let numbers = std::array::from_fn(|_| random.next());
        assert_eq!(
            numbers,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }
}
