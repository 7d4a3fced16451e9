//! An answer that has begun.

use std::sync::Arc;

use crate::domain::chat::{Count, FinishReason};
use crate::models::Fault;
use crate::models::breaker::Breaker;
use crate::models::offline::Script;
use crate::models::reading::Reading;
use crate::sys::clock::Clock;

/// An answer, piece by piece; dropping it stops the upstream.
pub struct Answer {
    pub(in crate::models) first: Option<Piece>,
    pub(in crate::models) flow: Flow,
    pub(in crate::models) clock: Clock,
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
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let piece = match &mut self.flow {
            Flow::Upstream(reading, _) => reading.next().await,
            Flow::Offline(script) => Ok(script.next(&self.clock).await),
            Flow::Over => return Ok(None),
        };
        let is_over = match &piece {
            Ok(Some(Piece::Text(_))) => false,
            Ok(Some(Piece::End(_)) | None) => true,
            Err(fault) => {
                self.blame(fault);
                true
            }
        };
        if is_over {
            self.flow = Flow::Over;
        }
        piece
    }

    fn blame(&self, fault: &Fault) {
        if let Flow::Upstream(_, breaker) = &self.flow
            && fault.is_breakage()
        {
            breaker.fail(&self.clock);
        }
    }
}
