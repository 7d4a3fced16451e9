//! The one door to randomness, and the maker of ids.
//!
//! Ids made here grow: each sorts after all made before it, even when the clock goes back, so a
//! list in the order of ids is a list in the order of creation.

use std::sync::{Arc, Mutex, PoisonError};

use ring::rand::SecureRandom;

use crate::domain::id::Id;
use crate::domain::time::Timestamp;

/// Random bytes and new ids; cheap to clone, and clones share one sequence.
#[derive(Clone, Debug)]
pub struct Entropy(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    source: Source,
    last: Mutex<Last>,
}

#[derive(Debug)]
enum Source {
    System(ring::rand::SystemRandom),
    #[cfg(feature = "sim")]
    Seeded(Mutex<u64>),
}

/// The newest id's time and counter, and random bytes for the next ones.
#[derive(Debug, Default)]
struct Last {
    millis: i64,
    counter: u16,
    /// The latest time that was told; later ids are not of an earlier one.
    told: i64,
    /// Drawn many at a time, because a draw is a call of the kernel. Ids are no secrets.
    drawn: Vec<[u8; 8]>,
}

impl Entropy {
    /// The operating system's randomness.
    #[must_use]
    pub fn system() -> Self {
        #[expect(clippy::disallowed_methods, reason = "this is the door")]
        let source = Source::System(ring::rand::SystemRandom::new());
        Self(Arc::new(Shared { source, last: Mutex::default() }))
    }

    /// A sequence that is the same for the same seed. Not in the shipped binary.
    #[cfg(feature = "sim")]
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        let source = Source::Seeded(Mutex::new(seed));
        Self(Arc::new(Shared { source, last: Mutex::default() }))
    }

    /// Fills `out` with random bytes.
    ///
    /// # Panics
    ///
    /// When the operating system has no randomness to give: without it no secret can be made.
    pub fn fill(&self, out: &mut [u8]) {
        match &self.0.source {
            Source::System(system) => {
                system.fill(out).expect("the operating system gives random bytes");
            }
            #[cfg(feature = "sim")]
            Source::Seeded(state) => {
                let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                for chunk in out.chunks_mut(8) {
                    let bytes = split_mix(&mut state).to_le_bytes();
                    chunk.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
                }
            }
        }
    }

    /// Random bytes of a fixed number.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut out = [0; N];
        self.fill(&mut out);
        out
    }

    /// A number from zero up to, and without, `end`; zero when `end` is zero.
    #[must_use]
    pub fn below(&self, end: u64) -> u64 {
        u64::from_le_bytes(self.bytes()).checked_rem(end).unwrap_or(0)
    }

    /// Makes a new id, which sorts after all ids made before.
    pub fn id<T>(&self, now: Timestamp) -> Id<T> {
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        // As long as the clock is behind, it sorts after whatever has the time that was told last.
        let is_behind = now.millis() < last.told;
        let millis = if is_behind { last.told.saturating_add(1) } else { now.millis() };
        if millis > last.millis {
            (last.millis, last.counter) = (millis, 0);
        } else if last.counter < COUNTER_MAX {
            last.counter = last.counter.saturating_add(1);
        } else {
            (last.millis, last.counter) = (last.millis.saturating_add(1), 0);
        }
        if last.drawn.is_empty() {
            last.drawn.extend_from_slice(self.bytes::<DRAWN_BYTES>().as_chunks().0);
        }
        let random = last.drawn.pop().unwrap_or_default();
        Id::new(Timestamp::from_millis(last.millis), last.counter, random)
    }

    /// The time for an id that is made elsewhere: `now`, or later when the clock went back, so that
    /// it sorts after the ids and times that were told before.
    #[must_use]
    pub fn time_of_id(&self, now: Timestamp) -> Timestamp {
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.told.max(last.millis);
        // As long as the clock is behind, each gets a millisecond of its own.
        last.told = if now.millis() < known { known.saturating_add(1) } else { now.millis() };
        Timestamp::from_millis(last.told)
    }

    /// Makes all later ids sort after `newest`, which an earlier process made.
    pub fn continue_after<T>(&self, newest: Id<T>) {
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        let millis = newest.born_at().millis();
        if millis >= last.millis {
            (last.millis, last.counter) = (millis, COUNTER_MAX);
        }
    }
}

/// Sebastiano Vigna's `SplitMix64`: one addition and three multiplications a number.
#[cfg(feature = "sim")]
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Random bytes that are drawn at once for ids.
const DRAWN_BYTES: usize = 512;
/// The largest counter: twelve bits.
const COUNTER_MAX: u16 = 0xFFF;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id;

    #[test]
    fn ids_grow_even_when_the_clock_goes_back_and_when_a_millisecond_is_full() {
        let entropy = Entropy::seeded(1);
        let mut newest: Id<id::Run> = entropy.id(Timestamp::from_millis(10_000));
        for round in 0..20_000_i64 {
            let next = entropy.id(Timestamp::from_millis(10_000 - round));
            assert!(next > newest, "round {round}");
            newest = next;
        }
    }

    #[test]
    fn times_of_ids_go_forward_whatever_the_clock_does_and_ids_follow_them() {
        let entropy = Entropy::seeded(1);
        let (noon, hour) = (Timestamp::from_millis(43_200_000), std::time::Duration::from_hours(1));
        let times = [noon, noon, noon.before(hour), noon.before(hour)];
        let told = times.map(|it| entropy.time_of_id(it).millis() - noon.millis());
        assert_eq!(told, [0, 0, 1, 2]);
        let id: Id<id::Run> = entropy.id(noon.before(hour));
        assert_eq!(id.born_at().millis() - noon.millis(), 3);
        assert_eq!(entropy.time_of_id(noon).millis() - noon.millis(), 4);
        assert_eq!(entropy.time_of_id(noon.after(hour)), noon.after(hour));
    }

    #[test]
    fn ids_continue_after_those_of_an_earlier_process() {
        let earlier: Id<id::Run> = Id::new(Timestamp::from_millis(9_999), 0xFFF, [255; 8]);
        let entropy = Entropy::seeded(1);
        entropy.continue_after(earlier);
        assert!(entropy.id::<id::Run>(Timestamp::from_millis(5)) > earlier);
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let first: [u8; 33] = Entropy::seeded(7).bytes();
        assert_eq!(first, Entropy::seeded(7).bytes::<33>());
        assert_ne!(first, Entropy::seeded(8).bytes::<33>());
        assert_ne!(Entropy::system().bytes::<33>(), Entropy::system().bytes::<33>());
    }
}
