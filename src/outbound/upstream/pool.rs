//! Connections that wait for their next request.
//!
//! The newest goes first, so that the others grow old and are closed. One that the other side
//! has closed meanwhile is dropped when it is taken, not used.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::outbound::upstream::ask::Origin;
use crate::outbound::upstream::wired::Wired;
use crate::sys::clock::{Clock, Mark};

/// The idle connections of all origins.
pub(super) struct Pool {
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The newest last; never an empty list.
    idle: HashMap<Origin, Vec<Idle>>,
    count: usize,
    /// Whether a task closes what has grown old.
    is_swept: bool,
}

struct Idle {
    wired: Wired,
    since: Mark,
}

impl Pool {
    pub(super) fn new(clock: Clock) -> Arc<Self> {
        Arc::new(Self { clock, state: Mutex::default() })
    }

    /// Takes a connection that can be used at once.
    pub(super) fn take(&self, origin: &Origin) -> Option<Wired> {
        loop {
            let mut idle = self.state().pop(origin)?;
            if idle.since.elapsed() < IDLE_MAX && idle.wired.is_ready() {
                return Some(idle.wired);
            }
        }
    }

    /// Keeps a connection for the next request, if it can have one and there is room.
    pub(super) fn put(self: &Arc<Self>, origin: &Origin, mut wired: Wired) {
        if !wired.is_ready() {
            return;
        }
        let idle = Idle { wired, since: self.clock.mark() };
        let mut state = self.state();
        let is_full = state.count >= CONNECTIONS_MAX
            || state.idle.get(origin).is_some_and(|it| it.len() >= ORIGIN_CONNECTIONS_MAX);
        if is_full {
            return;
        }
        state.idle.entry(origin.clone()).or_default().push(idle);
        state.count += 1;
        if !state.is_swept {
            state.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(self), self.clock.clone()));
        }
    }

    /// Closes what has grown old; says whether something is left.
    fn close_old(&self) -> bool {
        let mut state = self.state();
        state.idle.retain(|_, them| {
            them.retain(|it| it.since.elapsed() < IDLE_MAX);
            !them.is_empty()
        });
        state.count = state.idle.values().map(Vec::len).sum();
        state.is_swept = state.count > 0;
        state.is_swept
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn pop(&mut self, origin: &Origin) -> Option<Idle> {
        let them = self.idle.get_mut(origin)?;
        let idle = them.pop();
        if them.is_empty() {
            self.idle.remove(origin);
        }
        self.count = self.count.saturating_sub(usize::from(idle.is_some()));
        idle
    }
}

/// Closes old connections until there are none, or the pool is gone.
async fn sweep(pool: Weak<Pool>, clock: Clock) {
    loop {
        clock.sleep(IDLE_MAX).await;
        if !pool.upgrade().is_some_and(|it| it.close_old()) {
            return;
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({} idle)", self.state().count)
    }
}

/// How long a connection waits for its next request.
const IDLE_MAX: Duration = Duration::from_secs(30);
/// Connections that wait, of one origin.
const ORIGIN_CONNECTIONS_MAX: usize = 64;
/// Connections that wait, of all origins.
const CONNECTIONS_MAX: usize = 256;
