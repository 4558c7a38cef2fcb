//! Owns chance: the `ChaCha20` stream of RFC 8439 and the draws made of it. Nothing here may change: recorded seeds mean what they meant.

use num_bigint::BigUint;
use num_traits::Zero as _;

/// Words of a block.
const WORDS: usize = 16;
/// "expand 32-byte k", as in the RFC.
const CONSTANT: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
/// The first half of every key: another generator would use another word.
const NAME: [u8; 16] = *b"seedgate.draw/1\0";

/// Numbers without end, the same for the same seed and number.
pub(super) struct Stream {
    key: [u32; 8],
    counter: u32,
    block: [u32; WORDS],
    at: usize,
}

impl Stream {
    /// The stream of input `n` of a seed: key = name, seed, n (little endian); nonce 0; counter from 0.
    pub(super) fn new(seed: u64, n: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&NAME);
        bytes[16..24].copy_from_slice(&seed.to_le_bytes());
        bytes[24..].copy_from_slice(&n.to_le_bytes());
        let mut key = [0; 8];
        for (word, four) in key.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        }
        Stream { key, counter: 0, block: [0; WORDS], at: WORDS }
    }

    fn word(&mut self) -> u32 {
        if self.at == WORDS {
            self.block = block(&self.key, self.counter, [0; 3]);
            self.counter = self.counter.wrapping_add(1);
            self.at = 0;
        }
        self.at += 1;
        self.block[self.at - 1]
    }

    /// 64 bits: two words, the low one first.
    pub(super) fn bits(&mut self) -> u64 {
        let low = u64::from(self.word());
        low | u64::from(self.word()) << 32
    }

    /// A number below `end`, each as likely (0 when `end` is 0): the high half of a product, drawn again where that would not be fair.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        if end <= 1 {
            return 0;
        }
        let unfair = end.wrapping_neg() % end;
        loop {
            let product = u128::from(self.bits()) * u128::from(end);
            #[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
            if product as u64 >= unfair {
                return u64::try_from(product >> 64).unwrap_or(0);
            }
        }
    }

    /// The same for a number of any size: as many words as it has, the top one masked, drawn again while not below.
    pub(super) fn below_big(&mut self, end: &BigUint) -> BigUint {
        if end.is_zero() {
            return BigUint::zero();
        }
        if let Ok(end) = u64::try_from(end) {
            return BigUint::from(self.below(end));
        }
        loop {
            let drawn = self.magnitude((end - 1u8).bits());
            if drawn < *end {
                return drawn;
            }
        }
    }

    /// A number of at most so many bits.
    pub(super) fn magnitude(&mut self, bits: u64) -> BigUint {
        let words = bits.div_ceil(32);
        let mut digits: Vec<u32> = (0..words).map(|_| self.word()).collect();
        if let (Some(top), spare @ 1..) = (digits.last_mut(), words * 32 - bits) {
            *top >>= spare;
        }
        BigUint::new(digits)
    }

    /// True once in `times`.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

fn block(key: &[u32; 8], counter: u32, nonce: [u32; 3]) -> [u32; WORDS] {
    let mut start = [0; WORDS];
    start[..4].copy_from_slice(&CONSTANT);
    start[4..12].copy_from_slice(key);
    start[12] = counter;
    start[13..].copy_from_slice(&nonce);
    let mut state = start;
    for _ in 0..10 {
        for [a, b, c, d] in [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]] {
            quarter(&mut state, a, b, c, d);
        }
        for [a, b, c, d] in [[0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]] {
            quarter(&mut state, a, b, c, d);
        }
    }
    for (word, first) in state.iter_mut().zip(start) {
        *word = word.wrapping_add(first);
    }
    state
}

fn quarter(state: &mut [u32; WORDS], a: usize, b: usize, c: usize, d: usize) {
    for (sum, with, turned, by) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        state[sum] = state[sum].wrapping_add(state[with]);
        state[turned] = (state[turned] ^ state[sum]).rotate_left(by);
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::{Stream, block};

    #[test]
    fn a_block_is_that_of_the_rfc() {
        let key: Vec<u32> = (0..8_u8).map(|n| u32::from_le_bytes([0, 1, 2, 3].map(|b| 4 * n + b))).collect();
        let found = block(&key.try_into().unwrap(), 1, [0x0900_0000, 0x4a00_0000, 0]);
        assert_eq!(found[..4], [0xe4e7_f110, 0x1559_3bd1, 0x1fdd_0f50, 0xc471_20a3]);
        assert_eq!(found[12..], [0xd19c_12b5, 0xb94e_16de, 0xe883_d0cb, 0x4e3c_50a2]);
    }

    #[test]
    fn the_same_seed_and_number_give_the_same_bits_for_ever() {
        let golden = |seed, n| {
            let mut stream = Stream::new(seed, n);
            [stream.bits(), stream.bits(), stream.below(1000)]
        };
        assert_eq!(golden(0, 0), golden(0, 0));
        assert_ne!(golden(0, 0), golden(0, 1));
        assert_ne!(golden(0, 1), golden(1, 0));
        assert_eq!([golden(0, 0), golden(184_729, 3)], GOLDEN);
    }

    const GOLDEN: [[u64; 3]; 2] =
        [[1_369_156_277_295_222_204, 10_135_589_599_387_965_150, 416], [4_377_220_771_094_443_580, 7_606_970_849_744_038_581, 912]];

    #[test]
    fn draws_keep_below_their_end_and_reach_all_of_it() {
        let mut stream = Stream::new(1, 1);
        for end in [1_u64, 2, 3, 7, 1 << 40, u64::MAX] {
            assert!((0..200).all(|_| stream.below(end) < end));
        }
        let mut seen = [0_u32; 7];
        (0..7_000).for_each(|_| seen[usize::try_from(stream.below(7)).unwrap()] += 1);
        assert!(seen.iter().all(|count| (800..1_200).contains(count)), "{seen:?}");
        let end = BigUint::from(3_u8) << 100;
        assert!((0..200).all(|_| stream.below_big(&end) < end));
        assert!((0..200).any(|_| stream.below_big(&end) >= BigUint::from(1_u8) << 101));
        assert!((0..200).all(|_| stream.magnitude(33) < BigUint::from(1_u8) << 33));
        assert_eq!(stream.magnitude(0), BigUint::ZERO);
    }
}
