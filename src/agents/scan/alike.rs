//! Pairs what went with what came in its place, within a bounded amount of work.
//!
//! Equal keys are paired in one pass. Texts that are only alike have to be looked at in pairs:
//! their words become numbers once, and pairs beyond a limit stay apart.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::agents::parsers::Patience;

/// Finds texts that are alike; one for all texts of a page.
#[derive(Debug)]
pub struct Alike<'a> {
    patience: &'a Patience,
    looks: usize,
}

/// A text by its words.
#[derive(Debug)]
struct Words(Vec<u64>);

/// Positions that belong together: in what went, and in what came.
pub type Pairs = Vec<(usize, usize)>;

impl<'a> Alike<'a> {
    /// Begins with all the work allowed that there is, and no more time than `patience` has.
    #[must_use]
    pub const fn new(patience: &'a Patience) -> Self {
        Self { patience, looks: 0 }
    }

    /// The pairs of texts that share at least half of their words, and for which `fits` holds.
    pub fn pairs(
        &mut self,
        gone: &[&str],
        new: &[&str],
        fits: impl Fn(usize, usize) -> bool,
    ) -> Pairs {
        let gone: Vec<Words> = gone.iter().map(|it| Words::of(it)).collect();
        let mut new: Vec<(usize, Words)> = new.iter().map(|it| Words::of(it)).enumerate().collect();
        let mut pairs = Pairs::new();
        for (old, words) in gone.iter().enumerate() {
            if self.patience.is_over() {
                break;
            }
            let twin = new.iter().position(|(at, other)| {
                fits(old, *at)
                    && words.can_be_like(other)
                    && self.may_look()
                    && words.is_like(other)
            });
            pairs.extend(twin.map(|it| (old, new.remove(it).0)));
        }
        pairs
    }

    /// Counts a look at a pair; says whether there may be one more.
    fn may_look(&mut self) -> bool {
        let may = self.looks < LOOKS_MAX;
        self.looks += usize::from(may);
        may
    }
}

impl Words {
    fn of(text: &str) -> Self {
        let number = |word: &str| {
            let mut hasher = DefaultHasher::new();
            word.hash(&mut hasher);
            hasher.finish()
        };
        let mut words: Vec<u64> = text.split(' ').map(number).collect();
        words.sort_unstable();
        words.dedup();
        Self(words)
    }

    /// Whether the counts alone do not rule it out.
    const fn can_be_like(&self, other: &Self) -> bool {
        let (one, other) = (self.0.len(), other.0.len());
        one.saturating_mul(2) >= other && other.saturating_mul(2) >= one
    }

    /// Whether two texts share at least half of their words.
    fn is_like(&self, other: &Self) -> bool {
        let shared = self.0.iter().filter(|it| other.0.binary_search(it).is_ok()).count();
        shared > 0 && shared.saturating_mul(2) >= self.0.len().max(other.0.len())
    }
}

/// The pairs with equal keys, in their order; what has no key stays alone.
pub fn by_key<K: Eq + Hash>(
    gone: impl Iterator<Item = Option<K>>,
    new: impl Iterator<Item = Option<K>>,
) -> Pairs {
    let mut places: HashMap<K, VecDeque<usize>> = HashMap::new();
    for (at, key) in new.enumerate() {
        if let Some(key) = key {
            places.entry(key).or_default().push_back(at);
        }
    }
    let twin = |(old, key): (usize, Option<K>)| Some((old, places.get_mut(&key?)?.pop_front()?));
    gone.enumerate().filter_map(twin).collect()
}

/// Takes pairs out of two lists.
pub fn take<'a, T>(
    gone: &mut Vec<&'a T>,
    new: &mut Vec<&'a T>,
    pairs: Pairs,
) -> Vec<(&'a T, &'a T)> {
    let both = |it: &(usize, usize)| Some((*gone.get(it.0)?, *new.get(it.1)?));
    let found = pairs.iter().filter_map(both).collect();
    let (of_gone, of_new): (HashSet<usize>, HashSet<usize>) = pairs.into_iter().unzip();
    leave(gone, &of_gone);
    leave(new, &of_new);
    found
}

fn leave<T>(list: &mut Vec<T>, taken: &HashSet<usize>) {
    let mut at = 0..;
    list.retain(|_| at.next().is_none_or(|it| !taken.contains(&it)));
}

/// Pairs of texts of a page whose words are compared.
const LOOKS_MAX: usize = 20_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(gone: &[&str], new: &[&str]) -> Pairs {
        let patience = Patience::endless();
        Alike::new(&patience).pairs(gone, new, |_, _| true)
    }

    #[test]
    fn texts_that_share_half_of_their_words_are_paired() {
        assert_eq!(pairs(&["a b c d"], &["x y z", "a b x y"]), [(0, 1)]);
        assert_eq!(pairs(&["a b c d"], &["a x y z", "a b x y z"]), []);
        assert_eq!(pairs(&["a b", "a b"], &["a b"]), [(0, 0)]);
    }

    #[test]
    fn two_pages_without_a_word_in_common_are_given_up_after_a_limit() {
        let text = |side: &str, at: usize| {
            (0..60).map(|it| format!("{side}{at}-{it}")).collect::<Vec<_>>().join(" ")
        };
        let side = |it: &str| (0..480).map(|at| text(it, at)).collect::<Vec<_>>();
        let (one, other) = (side("a"), side("b"));
        let [one, other] =
            [&one, &other].map(|it| it.iter().map(String::as_str).collect::<Vec<_>>());
        let patience = Patience::endless();
        let mut alike = Alike::new(&patience);
        assert_eq!(alike.pairs(&one, &other, |_, _| true), []);
        assert_eq!(alike.looks, LOOKS_MAX);
        // What is left of the page is not looked at either.
        assert_eq!(alike.pairs(&["a"], &["a"], |_, _| true), []);
    }

    #[test]
    fn nothing_is_looked_at_when_patience_is_over() {
        let over = Patience::until(crate::sys::clock::Clock::host().mark());
        let mut alike = Alike::new(&over);
        assert_eq!(alike.pairs(&["a"], &["a"], |_, _| true), []);
        assert_eq!(alike.looks, 0);
    }

    #[test]
    fn equal_keys_are_paired_in_order_and_taken_out() {
        let keys = |it: &[&'static str]| it.iter().map(|it| Some(*it)).collect::<Vec<_>>();
        let (gone, new) = (keys(&["a", "b", "a", "a"]), keys(&["x", "a", "a"]));
        let pairs = by_key(gone.into_iter(), new.into_iter());
        assert_eq!(pairs, [(0, 1), (2, 2)]);
        let (mut gone, mut new) = (vec![&1, &2, &3, &4], vec![&7, &8, &9]);
        assert_eq!(take(&mut gone, &mut new, pairs), [(&1, &8), (&3, &9)]);
        assert_eq!((gone, new), (vec![&2, &4], vec![&7]));
    }
}
