//! An answer that is known before it is given, told at a pace.

use std::collections::VecDeque;
use std::time::Duration;

use crate::domain::chat::{Count, CountSource, FinishReason, Usage};
use crate::models::{End, Piece};
use crate::sys::clock::{Clock, Mark};

/// What is still to be said.
#[derive(Debug)]
pub(in crate::models) struct Script {
    rest: VecDeque<String>,
    /// Time before each piece.
    pause: Duration,
    /// When the next piece is due; set when it is first waited for.
    due: Option<Mark>,
    /// `None` once it was given.
    end: Option<End>,
}

impl Script {
    /// Pieces of one token each, and the end after them.
    pub(super) fn new(
        pieces: VecDeque<String>,
        pause: Duration,
        finish: FinishReason,
        prompt_tokens: u64,
    ) -> Self {
        let completion_tokens = u64::try_from(pieces.len()).unwrap_or(u64::MAX);
        let usage = Usage { prompt_tokens, completion_tokens };
        let count = Some(Count { usage, source: CountSource::Upstream });
        Self { rest: pieces, pause, due: None, end: Some(End { finish, count }) }
    }

    /// Waits for the next piece; `None` after the end.
    ///
    /// # Cancel safety
    ///
    /// Safe: no piece is lost and no pause starts anew.
    pub(in crate::models) async fn next(&mut self, clock: &Clock) -> Option<Piece> {
        if self.rest.is_empty() {
            return self.end.take().map(Piece::End);
        }
        if !self.pause.is_zero() {
            let due = *self.due.get_or_insert_with(|| clock.mark().after(self.pause));
            clock.sleep(due.left()).await;
            self.due = Some(due.after(self.pause));
        }
        self.rest.pop_front().map(Piece::Text)
    }
}
