//! What a connection is doing, and until when it may: one small state for one timer.
//!
//! The wire, the exchange and the bodies of a connection report here. Deadlines are set when a
//! wait begins and looked at by the connection's one timer, which sleeps no longer than the
//! shortest of them; so a request that meets no obstacle touches no timer at all.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::inbound::edge::Edge;
use crate::sys::clock::Mark;

/// The state of one connection.
pub(super) struct Watch {
    edge: Edge,
    shortest: Duration,
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    /// When the phase is over.
    until: Option<Mark>,
    /// When a blocked write is over.
    write_until: Option<Mark>,
    /// Requests begun.
    requests: u64,
    /// The request that has two lengths.
    ambiguous: Option<u64>,
    closes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Between two requests.
    Idle,
    /// Within a request's head, or before the first one.
    Head,
    /// The service works.
    Working,
    /// The service has had its time.
    Late,
    /// The answer is complete and being written.
    Writing,
    /// The answer is being made and written.
    Streaming,
}

/// What the timer does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Closes the connection.
    Close,
    /// Looks again after a while.
    Look(Duration),
}

/// A request that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    /// When.
    pub(super) at: Mark,
    /// Its number in the connection, from zero.
    pub(super) nth: u64,
    /// Whether it has two lengths.
    pub(super) is_ambiguous: bool,
}

impl Watch {
    /// A connection that has just begun.
    pub(super) fn new(edge: &Edge) -> Self {
        let until = edge.clock().mark().after(edge.config().header_timeout);
        let state = State {
            phase: Phase::Head,
            until: Some(until),
            write_until: None,
            requests: 0,
            ambiguous: None,
            closes: false,
        };
        let shortest = edge.config().shortest();
        Self { edge: edge.clone(), shortest, state: Mutex::new(state) }
    }

    /// What the connection came in through.
    pub(super) const fn edge(&self) -> &Edge {
        &self.edge
    }

    /// Bytes have come; `ambiguous` is the request among them that has two lengths.
    pub(super) fn read(&self, ambiguous: Option<u64>) {
        let mut state = self.state();
        state.ambiguous = ambiguous;
        if state.phase == Phase::Idle {
            state.enter(Phase::Head);
        }
    }

    /// No bytes are there to be read.
    ///
    /// A head that comes in one piece is never waited for, and so needs no look at the clock.
    pub(super) fn read_blocked(&self) {
        let mut state = self.state();
        if state.phase == Phase::Head && state.until.is_none() {
            state.until = Some(self.after(self.edge.config().header_timeout));
        }
    }

    /// A request's head is complete.
    pub(super) fn begin(&self) -> Begun {
        let at = self.edge.clock().mark();
        let mut state = self.state();
        let nth = state.requests;
        state.requests = nth.saturating_add(1);
        state.enter(Phase::Working);
        state.until = Some(at.after(self.edge.config().request_timeout));
        Begun { at, nth, is_ambiguous: state.ambiguous == Some(nth) }
    }

    /// The answer may take `span` from now on.
    pub(super) fn extend(&self, span: Duration) {
        let until = self.after(span);
        let mut state = self.state();
        if state.phase == Phase::Working {
            state.until = Some(until);
        }
    }

    /// Whether the service has had its time.
    pub(super) fn is_late(&self) -> bool {
        self.state().phase == Phase::Late
    }

    /// The answer's head is made.
    pub(super) fn answered(&self) {
        self.state().enter(Phase::Writing);
    }

    /// More of the answer is to come.
    pub(super) fn stream_begins(&self) {
        self.state().enter(Phase::Streaming);
    }

    /// All of the answer has come.
    pub(super) fn stream_ends(&self) {
        let mut state = self.state();
        if state.phase == Phase::Streaming {
            state.enter(Phase::Writing);
        }
    }

    /// Some bytes could be written.
    pub(super) fn written(&self) {
        self.state().write_until = None;
    }

    /// No bytes can be written now.
    pub(super) fn write_blocked(&self) {
        let mut state = self.state();
        if state.write_until.is_none() {
            state.write_until = Some(self.after(self.edge.config().write_timeout));
        }
    }

    /// Everything is written that there was.
    pub(super) fn flushed(&self) {
        let mut state = self.state();
        state.write_until = None;
        if state.phase == Phase::Writing {
            state.enter(Phase::Idle);
            state.until = Some(self.after(self.edge.config().idle_timeout));
        }
    }

    /// Whether no request has begun that is not yet answered.
    pub(super) fn is_between_requests(&self) -> bool {
        matches!(self.state().phase, Phase::Idle | Phase::Head)
    }

    /// Lets the connection end with the answer, because not all of its input is understood.
    pub(super) fn close_after_answer(&self) {
        self.state().closes = true;
    }

    /// Whether the connection ends with the answer.
    pub(super) fn closes(&self) -> bool {
        self.state().closes
    }

    /// What is to be done now that the timer has fired.
    pub(super) fn look(&self) -> Next {
        let mut state = self.state();
        if state.write_until.is_some_and(|it| it.left().is_zero()) {
            return Next::Close;
        }
        let left = state.until.map(Mark::left);
        if left == Some(Duration::ZERO) {
            match state.phase {
                Phase::Working => state.enter(Phase::Late),
                Phase::Idle | Phase::Head => return Next::Close,
                Phase::Late | Phase::Writing | Phase::Streaming => state.until = None,
            }
        }
        let spans = [state.until, state.write_until].into_iter().flatten().map(Mark::left);
        Next::Look(spans.fold(self.shortest, Duration::min))
    }

    fn after(&self, span: Duration) -> Mark {
        self.edge.clock().mark().after(span)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    const fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.until = None;
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watch({:?})", self.state().phase)
    }
}
