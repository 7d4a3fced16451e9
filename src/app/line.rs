//! Who is next: the accounts that have waiting work, in turn.
//!
//! Every account gets the next free worker in its turn, however many runs another one has queued,
//! and at most its share of the workers. The line is in memory; what waits is on disk. At start
//! the line is made from the queue, later each accepted run puts its account in.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::domain::account::AccountId;
use crate::domain::time::Timestamp;

/// The accounts that have waiting work.
#[derive(Debug)]
pub(in crate::app) struct Line {
    share: u32,
    inner: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    /// Accounts in the order of their turns; each is here at most once.
    turns: VecDeque<AccountId>,
    places: HashMap<AccountId, Place>,
}

#[derive(Debug, Default)]
struct Place {
    in_line: bool,
    /// Work was added since the account was last looked at.
    fresh: bool,
    /// When its next work is due, if none was when it was last looked at.
    due_at: Option<Timestamp>,
    /// Its runs under way.
    running: u32,
}

/// What was found when an account's work was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum Left {
    /// More that is due.
    Due,
    /// Only what is due later.
    Later(Timestamp),
    /// Nothing.
    Nothing,
}

impl Line {
    /// A line of those who have waiting work, each of whom gets at most `share` workers.
    pub(in crate::app) fn new(share: u32, accounts: Vec<AccountId>) -> Self {
        let line = Self { share: share.max(1), inner: Mutex::default() };
        accounts.into_iter().for_each(|it| line.join(it));
        line
    }

    /// Notes that an account has new work.
    pub(in crate::app) fn join(&self, account: AccountId) {
        let mut places = self.lock();
        let place = places.places.entry(account).or_default();
        place.fresh = true;
        if !std::mem::replace(&mut place.in_line, true) {
            places.turns.push_back(account);
        }
    }

    /// Gives `free` workers away in turn: accounts and how many workers each of them gets.
    ///
    /// The workers count as busy until [`Line::leave`] says otherwise.
    pub(in crate::app) fn pick(&self, free: usize, now: Timestamp) -> Vec<(AccountId, u32)> {
        let mut guard = self.lock();
        let Places { turns, places } = &mut *guard;
        let mut picked: Vec<(AccountId, u32)> = Vec::new();
        let mut index: HashMap<AccountId, usize> = HashMap::new();
        let (mut left, mut passed) = (free, 0_usize);
        // One full turn without anybody to pick means that nobody can be picked.
        while left > 0 && passed < turns.len() {
            let Some(account) = turns.pop_front() else { break };
            turns.push_back(account);
            let place = places.entry(account).or_default();
            let waits = !place.fresh && place.due_at.is_some_and(|it| !is_due(it, now));
            if waits || place.running >= self.share {
                passed = passed.saturating_add(1);
                continue;
            }
            (passed, left) = (0, left.saturating_sub(1));
            place.running = place.running.saturating_add(1);
            let at = *index.entry(account).or_insert(picked.len());
            match picked.get_mut(at) {
                Some(pick) => pick.1 = pick.1.saturating_add(1),
                None => picked.push((account, 1)),
            }
        }
        for (account, _) in &picked {
            if let Some(place) = places.get_mut(account) {
                place.fresh = false;
            }
        }
        picked
    }

    /// Notes what a look at an account's work has left; `unused` of its workers are free again.
    pub(in crate::app) fn looked(&self, account: AccountId, left: Left, unused: u32) {
        let mut guard = self.lock();
        let Places { turns, places } = &mut *guard;
        let Some(place) = places.get_mut(&account) else { return };
        place.running = place.running.saturating_sub(unused);
        match left {
            Left::Due => place.due_at = None,
            Left::Later(at) => place.due_at = Some(at),
            // What was added during the look is not nothing.
            Left::Nothing if place.fresh => place.due_at = None,
            Left::Nothing => {
                place.in_line = false;
                turns.retain(|it| *it != account);
                if place.running == 0 {
                    places.remove(&account);
                }
            }
        }
    }

    /// Notes that `account` has a worker less.
    pub(in crate::app) fn leave(&self, account: AccountId) {
        let mut guard = self.lock();
        let Some(place) = guard.places.get_mut(&account) else { return };
        place.running = place.running.saturating_sub(1);
        if place.running == 0 && !place.in_line {
            guard.places.remove(&account);
        }
    }

    /// When the next work is due of accounts that could have a worker; `None` when none waits.
    pub(in crate::app) fn next_due(&self) -> Option<Timestamp> {
        let guard = self.lock();
        let waiting = guard.places.values().filter(|it| it.in_line && it.running < self.share);
        waiting.map(|it| it.due_at.filter(|_| !it.fresh).unwrap_or(Timestamp::EPOCH)).min()
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether work that was put off until `due_at` may begin.
///
/// Nothing is put off for long, so a time that is far away was told by a clock that has been set
/// back since, and would hold the work up for as long as that step.
pub(in crate::app) fn is_due(due_at: Timestamp, now: Timestamp) -> bool {
    due_at <= now || due_at > now.after(PUT_OFF_MAX)
}

/// The longest time for which work is put off: the last of `domain::limits::LOST_RUN_PAUSES`.
const PUT_OFF_MAX: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;
    use crate::domain::limits::LOST_RUN_PAUSES;

    const NOW: Timestamp = Timestamp::from_millis(1_000);
    const LATER: Timestamp = Timestamp::from_millis(2_000);

    fn account(number: u8) -> AccountId {
        Id::from_bytes([number; 16])
    }

    fn line(share: u32, numbers: &[u8]) -> Line {
        Line::new(share, numbers.iter().map(|it| account(*it)).collect())
    }

    #[track_caller]
    fn check_pick(line: &Line, free: usize, wanted: &[(u8, u32)]) {
        let wanted: Vec<_> = wanted.iter().map(|(it, n)| (account(*it), *n)).collect();
        assert_eq!(line.pick(free, NOW), wanted);
    }

    #[test]
    fn workers_are_given_away_in_turn() {
        let line = line(10, &[1, 2, 3]);
        check_pick(&line, 4, &[(1, 2), (2, 1), (3, 1)]);
        check_pick(&line, 1, &[(2, 1)]);
    }

    #[test]
    fn nobody_gets_more_than_a_share() {
        let line = line(2, &[1, 2]);
        check_pick(&line, 10, &[(1, 2), (2, 2)]);
        check_pick(&line, 10, &[]);
        line.leave(account(2));
        check_pick(&line, 10, &[(2, 1)]);
    }

    #[test]
    fn who_has_nothing_leaves_the_line_until_there_is_new_work() {
        let line = line(2, &[1]);
        check_pick(&line, 1, &[(1, 1)]);
        line.looked(account(1), Left::Nothing, 1);
        check_pick(&line, 1, &[]);
        assert_eq!(line.next_due(), None);
        line.join(account(1));
        check_pick(&line, 1, &[(1, 1)]);
    }

    #[test]
    fn work_that_is_added_during_a_look_is_not_forgotten() {
        let line = line(2, &[1]);
        check_pick(&line, 1, &[(1, 1)]);
        line.join(account(1));
        line.looked(account(1), Left::Nothing, 1);
        check_pick(&line, 1, &[(1, 1)]);
    }

    #[test]
    fn work_that_is_due_later_waits_and_is_announced() {
        let line = line(2, &[1]);
        check_pick(&line, 1, &[(1, 1)]);
        line.looked(account(1), Left::Later(LATER), 1);
        check_pick(&line, 1, &[]);
        assert_eq!(line.next_due(), Some(LATER));
        assert_eq!(line.pick(1, LATER), [(account(1), 1)]);
    }

    #[test]
    fn no_pause_is_longer_than_the_longest_one() {
        assert!(LOST_RUN_PAUSES.iter().all(|it| *it <= PUT_OFF_MAX));
        let minute = NOW.after(PUT_OFF_MAX);
        assert!(is_due(NOW, NOW) && !is_due(LATER, NOW) && !is_due(minute, NOW));
        assert!(is_due(minute.after(Duration::from_millis(1)), NOW));
    }
}
