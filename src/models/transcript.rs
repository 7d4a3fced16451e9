//! What an upstream has said so far, and whether that is an answer.
//!
//! An answer is whole when it says why it ended or that it is done; servers do either or both.
//! One that does neither broke off, however politely its connection was closed.

use crate::domain::chat::{Count, CountSource, FinishReason};
use crate::models::dialect::Said;
use crate::models::sse::Event;
use crate::models::{End, Fault, UpstreamTexts, refused};

/// What has been said so far.
#[derive(Debug)]
pub(super) struct Transcript {
    texts: UpstreamTexts,
    finish: Option<FinishReason>,
    is_done: bool,
    count: Option<Count>,
    /// Whether anything looked like a part of an answer.
    has_spoken: bool,
}

impl Transcript {
    pub(super) const fn new(texts: UpstreamTexts) -> Self {
        Self { texts, finish: None, is_done: false, count: None, has_spoken: false }
    }

    /// Whether nothing more is to be expected.
    pub(super) const fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether the answer is whole; what was used may still come.
    pub(super) const fn is_whole(&self) -> bool {
        self.finish.is_some() || self.is_done
    }

    /// Takes an event of a stream; gives back its text.
    pub(super) fn take(&mut self, event: &Event) -> Result<String, Fault> {
        let data = event.data.trim_ascii();
        if data == DONE {
            self.is_done = true;
            return Ok(String::new());
        }
        let result = if event.is_error { self.error(data) } else { self.lines(data) };
        // After the reason of the end there is nothing to lose.
        result.or_else(|fault| if self.is_whole() { Ok(String::new()) } else { Err(fault) })
    }

    /// Takes a whole answer; gives back its text.
    pub(super) fn take_whole(&mut self, json: &[u8]) -> Result<String, Fault> {
        let text = self.object(json)?;
        // Who answers in one piece and sends all of it has ended, whatever it says.
        self.is_done = self.has_spoken;
        Ok(text)
    }

    /// What came of it, at the end of the body.
    pub(super) fn end(&self) -> Result<End, Fault> {
        if !self.has_spoken {
            return Err(Fault::Invalid);
        }
        if !self.is_whole() {
            return Err(Fault::Truncated);
        }
        Ok(End { finish: self.finish.unwrap_or(FinishReason::Stop), count: self.count })
    }

    /// Objects on lines of their own, if they are not one object on several lines.
    fn lines(&mut self, data: &[u8]) -> Result<String, Fault> {
        let several = data.contains(&b'\n') && Said::read(data).is_none();
        if !several {
            return self.object(data);
        }
        let mut text = String::new();
        for line in data.split(|it| *it == b'\n').map(<[u8]>::trim_ascii) {
            if line == DONE {
                self.is_done = true;
            } else if !line.is_empty() {
                text.push_str(&self.object(line)?);
            }
        }
        Ok(text)
    }

    fn object(&mut self, json: &[u8]) -> Result<String, Fault> {
        match Said::read(json) {
            None => Err(Fault::Invalid),
            Some(Said::Error(error)) => Err(refused::of_error(&error, self.texts)),
            Some(Said::Part(part)) => {
                self.has_spoken |= part.is_known;
                self.finish = self.finish.or(part.finish);
                self.count = better(self.count, part.count);
                Ok(part.text)
            }
        }
    }

    fn error(&self, data: &[u8]) -> Result<String, Fault> {
        let error = match Said::read(data) {
            Some(Said::Error(error)) => error,
            Some(Said::Part(_)) | None => {
                serde_json::from_slice(data).unwrap_or(serde_json::Value::Null)
            }
        };
        Err(refused::of_error(&error, self.texts))
    }
}

/// The count to believe: the later one, but not the upstream's `timings` after its `usage`.
fn better(before: Option<Count>, now: Option<Count>) -> Option<Count> {
    let is_worse = |now: &Count| {
        now.source == CountSource::Timings
            && before.is_some_and(|it| it.source == CountSource::Upstream)
    };
    now.filter(|it| !is_worse(it)).or(before)
}

/// What ends a stream.
const DONE: &[u8] = b"[DONE]";
