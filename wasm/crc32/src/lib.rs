//! The checksums of zip files, in place of the crate of this name, whose table of 16 KB does not pack and would be a hundredth of the module.
//! Its interface is the part of that crate that `zip` and `flate2` call.

/// The polynomial of the checksum, its lowest bit first.
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// What four bits add to a checksum.
const OF_BITS: [u32; 16] = {
    let mut table = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut sum = bits as u32;
        let mut bit = 0;
        while bit < 4 {
            sum = if sum & 1 == 1 { sum >> 1 ^ POLYNOMIAL } else { sum >> 1 };
            bit += 1;
        }
        table[bits] = sum;
        bits += 1;
    }
    table
};

/// The checksum of bytes.
pub fn hash(bytes: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(bytes);
    hasher.finalize()
}

/// Computes the checksum of bytes that come one after the other.
#[derive(Clone, Debug, Default)]
pub struct Hasher {
    sum: u32,
    length: u64,
}

impl Hasher {
    /// Nothing was read so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// So many bytes with this checksum were read so far.
    pub fn new_with_initial_len(sum: u32, length: u64) -> Self {
        Self { sum, length }
    }

    /// Reads bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let step = |sum: u32| sum >> 4 ^ OF_BITS[(sum & 15) as usize];
        let sum = bytes.iter().fold(!self.sum, |sum, byte| step(step(sum ^ u32::from(*byte))));
        self.sum = !sum;
        self.length += bytes.len() as u64;
    }

    /// The checksum of all that was read.
    pub fn finalize(self) -> u32 {
        self.sum
    }

    /// Begins anew.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Adds what another one has read behind this one.
    pub fn combine(&mut self, other: &Self) {
        // Each further byte multiplies a checksum by the eighth power of the variable.
        let mut power = shifted(1 << 31, 8);
        let mut length = other.length;
        while length > 0 {
            if length & 1 == 1 {
                self.sum = product(self.sum, power);
            }
            power = product(power, power);
            length >>= 1;
        }
        self.sum ^= other.sum;
        self.length += other.length;
    }
}

/// A polynomial times a power of its variable.
fn shifted(polynomial: u32, power: u32) -> u32 {
    (0..power).fold(polynomial, |it, _| if it & 1 == 1 { it >> 1 ^ POLYNOMIAL } else { it >> 1 })
}

/// The product of two polynomials.
fn product(one: u32, other: u32) -> u32 {
    let has = |power: &u32| one << power >> 31 == 1;
    (0..32).filter(has).fold(0, |sum, power| sum ^ shifted(other, power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_that_everybody_has() {
        assert_eq!(hash(b"123456789"), 0xCBF4_3926);
        assert_eq!(hash(b""), 0);
        let (mut first, mut second) = (Hasher::new(), Hasher::new());
        first.update(b"1234");
        second.update(b"56789");
        first.combine(&second);
        assert_eq!(first.finalize(), 0xCBF4_3926);
        let mut rest = Hasher::new_with_initial_len(hash(b"1234"), 4);
        rest.update(b"56789");
        assert_eq!(rest.clone().finalize(), 0xCBF4_3926);
        rest.reset();
        assert_eq!(rest.finalize(), 0);
    }
}
