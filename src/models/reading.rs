//! Reads an upstream's answer as pieces, whether it is a stream or one object.
//!
//! The first byte tells which: content types are often wrong. What an upstream sends after the
//! reason of the end is waited for only briefly.

use std::time::Duration;

use bytes::Bytes;

use crate::models::sse::EventReader;
use crate::models::transcript::Transcript;
use crate::models::{Fault, Piece, UpstreamTexts};
use crate::outbound::{Error, Stage, UpstreamAnswer};
use crate::sys::clock::{Clock, Mark};

/// An answer that is being read.
pub(super) struct Reading {
    /// `None` once all was read.
    answer: Option<UpstreamAnswer>,
    form: Form,
    transcript: Transcript,
    clock: Clock,
    /// When the rest is no longer waited for; set once the answer is whole.
    rest_until: Option<Mark>,
}

/// How an answer is written.
enum Form {
    /// Not known yet.
    Unknown,
    /// As events.
    Events(EventReader),
    /// As one JSON object; its bytes so far.
    Object(Vec<u8>),
}

impl Reading {
    pub(super) const fn new(answer: UpstreamAnswer, texts: UpstreamTexts, clock: Clock) -> Self {
        let transcript = Transcript::new(texts);
        Self { answer: Some(answer), form: Form::Unknown, transcript, clock, rest_until: None }
    }

    /// Waits for the next piece; `None` after the end.
    ///
    /// # Cancel safety
    ///
    /// Safe: no piece is lost.
    pub(super) async fn next(&mut self) -> Result<Option<Piece>, Fault> {
        let piece = self.advance().await;
        if piece.is_err() {
            // The connection closes, so that the upstream stops.
            self.answer = None;
        }
        piece
    }

    async fn advance(&mut self) -> Result<Option<Piece>, Fault> {
        loop {
            if let Some(text) = self.ready_text()? {
                return Ok(Some(Piece::Text(text)));
            }
            if self.answer.is_none() {
                return Ok(None);
            }
            if self.transcript.is_done() {
                return self.end().map(Some);
            }
            match self.chunk().await? {
                Some(bytes) => self.feed(&bytes)?,
                None => {
                    if let Some(text) = self.last_text()? {
                        return Ok(Some(Piece::Text(text)));
                    }
                    return self.end().map(Some);
                }
            }
        }
    }

    /// The text of the next event that has some.
    fn ready_text(&mut self) -> Result<Option<String>, Fault> {
        let Form::Events(events) = &mut self.form else { return Ok(None) };
        while let Some(event) = events.next_event() {
            let text = self.transcript.take(&event)?;
            if self.transcript.is_whole() && self.rest_until.is_none() {
                self.rest_until = Some(self.clock.mark().after(REST_SPAN));
            }
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// The next bytes; `None` at the end, and when an answer that is whole has no more to come.
    async fn chunk(&mut self) -> Result<Option<Bytes>, Fault> {
        let Some(answer) = &mut self.answer else { return Ok(None) };
        let chunk = match self.rest_until {
            None => answer.chunk().await,
            Some(until) => {
                let chunk = self.clock.within(until.left(), answer.chunk()).await;
                chunk.unwrap_or(Err(Error::Timeout(Stage::Body)))
            }
        };
        match chunk {
            Ok(chunk) => Ok(chunk),
            Err(_) if self.transcript.is_whole() => Ok(None),
            Err(error) => {
                tracing::debug!(%error, "an upstream's answer broke off");
                Err(Fault::of_body(error))
            }
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if matches!(self.form, Form::Unknown) {
            let mark = bytes.iter().find(|it| !it.is_ascii_whitespace());
            self.form = match mark {
                None => return Ok(()),
                Some(b'{') => Form::Object(Vec::new()),
                Some(b'<') => return Err(Fault::Invalid),
                Some(_) => Form::Events(EventReader::new()),
            };
        }
        match &mut self.form {
            Form::Unknown => Ok(()),
            Form::Events(events) => events.feed(bytes).map_err(|_| Fault::Invalid),
            Form::Object(json) if json.len().saturating_add(bytes.len()) > OBJECT_BYTES_MAX => {
                Err(Fault::Invalid)
            }
            Form::Object(json) => {
                json.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// What is left when the body has ended.
    fn last_text(&mut self) -> Result<Option<String>, Fault> {
        match &mut self.form {
            Form::Unknown => Ok(None),
            Form::Object(json) => {
                let json = std::mem::take(json);
                self.form = Form::Unknown;
                self.transcript.take_whole(&json).map(|it| Some(it).filter(|it| !it.is_empty()))
            }
            Form::Events(events) => {
                events.end().map_err(|_| Fault::Invalid)?;
                // An event without its end may be cut: then the answer is, not the event.
                match self.ready_text() {
                    Err(Fault::Invalid) => Err(Fault::Truncated),
                    text => text,
                }
            }
        }
    }

    fn end(&mut self) -> Result<Piece, Fault> {
        let end = self.transcript.end()?;
        if let Some(answer) = self.answer.take() {
            answer.release();
        }
        Ok(Piece::End(end))
    }
}

/// How long the rest of an answer that is whole is waited for: what was used may follow.
const REST_SPAN: Duration = Duration::from_secs(5);
/// Bytes of an answer in one object.
const OBJECT_BYTES_MAX: usize = 16 * 1024 * 1024;
