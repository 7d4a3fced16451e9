//! An answer that has begun.

use std::sync::Arc;

use crate::domain::chat::{Count, FinishReason};
use crate::models::Fault;
use crate::models::breaker::Breaker;
use crate::models::offline::Script;
use crate::models::reading::Reading;
use crate::sys::clock::{Clock, Mark};

/// An answer, piece by piece; dropping it stops the upstream.
pub struct Answer {
    pub(in crate::models) first: Option<Piece>,
    pub(in crate::models) flow: Flow,
    pub(in crate::models) clock: Clock,
    /// The end of it all; running into it is nobody's failure.
    pub(in crate::models) until: Mark,
}

/// Where the pieces come from.
pub(in crate::models) enum Flow {
    /// An upstream, and the breaker that wants to know how it went.
    Upstream(Box<Reading>, Arc<Breaker>),
    /// This process.
    Offline(Script),
    /// Nowhere: it is over.
    Over,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text; never empty.
    Text(String),
    /// The end of an answer that is whole.
    End(End),
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Why.
    pub finish: FinishReason,
    /// What was used; `None` when nobody counted, so that it must be estimated.
    pub count: Option<Count>,
}

impl Answer {
    /// Waits for the next piece; `None` after the end or a fault.
    ///
    /// # Errors
    ///
    /// [`Fault`]: the answer broke off. What came before it was delivered and is all there is.
    ///
    /// # Cancel safety
    ///
    /// Safe: no piece is lost, and no deadline starts anew.
    pub async fn next(&mut self) -> Result<Option<Piece>, Fault> {
        let piece = match (self.first.take(), &mut self.flow) {
            (Some(first), _) => Ok(Some(first)),
            (None, Flow::Upstream(reading, _)) => reading.next().await,
            (None, Flow::Offline(script)) => {
                let piece = self.clock.within(self.until.left(), script.next(&self.clock)).await;
                piece.map_err(|_| Fault::Timeout)
            }
            (None, Flow::Over) => return Ok(None),
        };
        if !matches!(piece, Ok(Some(Piece::Text(_)))) {
            self.judge(&piece);
            self.flow = Flow::Over;
        }
        piece
    }

    /// Stops the upstream; nothing comes any more.
    pub fn stop(&mut self) {
        (self.first, self.flow) = (None, Flow::Over);
    }

    /// Tells the breaker how it went.
    fn judge(&self, last: &Result<Option<Piece>, Fault>) {
        let Flow::Upstream(_, breaker) = &self.flow else { return };
        match last {
            Ok(_) => breaker.succeed(),
            Err(fault) if fault.is_breakage() && !self.until.left().is_zero() => {
                breaker.fail(&self.clock);
            }
            Err(_) => {}
        }
    }
}
