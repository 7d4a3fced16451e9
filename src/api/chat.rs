//! `/chat/completions`: one answer of a model, whole or piece by piece.
//!
//! A whole answer goes out after its charge is on disk. A streamed one begins with its first
//! piece; its end goes out after the charge, and an answer that breaks off ends with an error and
//! without `[DONE]`. Who hangs up stops the model, and pays for what was delivered.
//! Source: service interface, "Text models"; the contract, section 5.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use crate::api::chat_fault::{event, fault_event};
use crate::api::error::Failure;
use crate::api::gate::Request;
use crate::app::chats::{self, Chat};
use crate::app::{App, Error, operations};
use crate::domain::chat::{
    Answering, DONE_EVENT, HEARTBEAT_EVENT, Paid, Reply, Request as Ask, UnknownParameters,
};
use crate::domain::limits::CHAT_BYTES_MAX;
use crate::inbound::{BoxFuture, Gone, Head, Response, Sender};
use crate::models::{End, Fault, Piece};

/// Answers a chat.
pub(in crate::api) async fn complete(app: &App, request: Request) -> Result<Response, Failure> {
    let caller = request.caller.clone();
    let patience = patience(&request.head);
    let (head, body) = request.whole(CHAT_BYTES_MAX).await?;
    let unknown = match caller.restrictions.strict {
        true => UnknownParameters::Refuse,
        false => UnknownParameters::Ignore,
    };
    let ask = Ask::parse(body, unknown).map_err(Error::Chat)?;
    let offer = chats::find(app, &caller, &ask.model)?;
    let most = offer.model.times.total(ask.reply, patience);
    head.extend(most.saturating_add(SETTLE_MARGIN));
    let ignored = ask.ignored().join(",");
    let reply = ask.reply;
    let begun: Begun = {
        let app = app.clone();
        Box::pin(async move { chats::begin(&app, &caller, ask, patience).await })
    };
    let answer = match reply {
        Reply::Whole => {
            let chat = before_the_stop(app, begun).await??;
            whole(app, chat).await?
        }
        Reply::Stream(_) => {
            // The head goes out before the caller gives up.
            let first_wait = patience.map_or(FIRST_WAIT, |it| FIRST_WAIT.min(it / 2));
            stream(app, begun, first_wait).await?
        }
    };
    Ok(if ignored.is_empty() {
        answer
    } else {
        answer.with_header("x-service-ignored-params", &ignored)
    })
}

/// Gathers the answer, charges it, and gives it as one object.
async fn whole(app: &App, mut chat: Chat) -> Result<Response, Failure> {
    let answering = answering(app, &chat);
    let mut text = String::new();
    let end = loop {
        let piece = before_the_stop(app, chat.next()).await?;
        match piece.map_err(Error::Model)? {
            Some(Piece::Text(piece)) => text.push_str(&piece),
            Some(Piece::End(end)) => break end,
            None => return Err(Failure::App(Error::Model(Fault::Truncated))),
        }
    };
    chat.deliver(&text);
    // What is charged is charged as a whole, also when the caller hangs up now.
    let paid = operations::finish(app, async move { chat.settle(Some(&end)).await }).await?;
    let body = answering.whole(text, end.finish, &paid).to_json();
    Ok(Response::json(200, body).with_header("x-service-cost", &paid.cost.to_string()))
}

/// Waits for work, unless the daemon stops first: then nothing is charged.
async fn before_the_stop<T>(app: &App, work: impl Future<Output = T>) -> Result<T, Error> {
    tokio::select! {
        biased;
        done = work => Ok(done),
        () = app.stops() => Err(Error::Stopping),
    }
}

/// Begins to stream the answer: with its first piece, or without it when that takes long, so that
/// nobody on the way gives up. After that a fault can only be an event.
async fn stream(app: &App, mut begun: Begun, first_wait: Duration) -> Result<Response, Failure> {
    let first = before_the_stop(app, app.clock().within(first_wait, &mut begun)).await?;
    let (sender, response) = Response::stream("text/event-stream; charset=utf-8");
    let inside = app.clone();
    match first {
        Ok(chat) => operations::begin(app, Pump::of(inside, chat?, sender).run()),
        Err(_) => operations::begin(app, late(inside, begun, sender)),
    }
    Ok(response.with_header("x-accel-buffering", "no"))
}

/// Waits for the first piece of a stream whose head has gone out.
async fn late(app: App, mut begun: Begun, sender: Sender) {
    let told = loop {
        tokio::select! {
            biased;
            chat = &mut begun => match chat {
                Ok(chat) => return Pump::of(app, chat, sender).run().await,
                Err(Error::Model(fault)) => break fault_event(&fault),
                Err(error) => {
                    tracing::error!(%error, "a chat ended before its first piece");
                    break event("An internal error occurred.", "api_error", "internal_error");
                }
            },
            // The model is stopped, and nothing is charged.
            () = sender.gone() => return,
            () = app.stops() => break stopping(),
            () = app.clock().sleep(HEARTBEAT_PAUSE) => {
                if sender.send(HEARTBEAT_EVENT).await.is_err() {
                    return;
                }
            }
        }
    };
    let _ = sender.send(told).await;
    let _ = sender.finish().await;
}

/// The event that ends a stream because the daemon does.
fn stopping() -> Vec<u8> {
    event(STOP_MESSAGE, "overloaded_error", "shutting_down")
}

/// A chat that begins.
type Begun = BoxFuture<'static, Result<Chat, Error>>;

/// Brings the pieces of an answer to the caller.
struct Pump {
    app: App,
    chat: Chat,
    answering: Answering,
    sender: Sender,
    /// The texts of the last chunks that were sent, of which the connection may have taken some.
    under_way: VecDeque<String>,
}

/// What happens next to a stream.
enum Next {
    Piece(Result<Option<Piece>, Fault>),
    /// Nothing for a while.
    Silence,
    /// Nobody reads any more.
    Gone,
    /// The daemon stops.
    Stop,
}

/// How far gathering got.
enum Gathered {
    /// More text will come.
    More,
    /// The answer is whole.
    End(End),
    /// The answer broke off.
    Fault(Fault),
}

impl Pump {
    fn of(app: App, chat: Chat, sender: Sender) -> Self {
        let answering = answering(&app, &chat);
        Self { app, chat, answering, sender, under_way: VecDeque::new() }
    }

    async fn run(mut self) {
        let mut out = self.answering.first().to_event();
        let mut text = String::new();
        loop {
            let piece = match self.next().await {
                Next::Piece(piece) => piece,
                Next::Silence => {
                    if self.send(HEARTBEAT_EVENT, String::new()).await.is_err() {
                        return self.leave().await;
                    }
                    continue;
                }
                Next::Gone => return self.leave().await,
                Next::Stop => {
                    return self.break_off(out, &text, stopping()).await;
                }
            };
            let gathered = self.gather(piece, &mut out, &mut text).await;
            match gathered {
                Gathered::More => {
                    let sent = self.send(std::mem::take(&mut out), std::mem::take(&mut text));
                    if sent.await.is_err() {
                        return self.leave().await;
                    }
                }
                Gathered::End(end) => return self.end(out, &text, end).await,
                Gathered::Fault(fault) => {
                    let told = fault_event(&fault);
                    return self.break_off(out, &text, told).await;
                }
            }
        }
    }

    /// Sends a chunk with so much text in it.
    async fn send(&mut self, chunk: impl Into<Bytes>, text: String) -> Result<(), Gone> {
        self.sender.send(chunk).await?;
        self.under_way.push_back(text);
        self.note_taken();
        Ok(())
    }

    /// Notes what the connection has taken: that much was delivered.
    fn note_taken(&mut self) {
        while self.under_way.len() > self.sender.waiting() {
            let Some(text) = self.under_way.pop_front() else { return };
            self.chat.deliver(&text);
        }
    }

    async fn next(&mut self) -> Next {
        let Self { app, chat, sender, .. } = self;
        tokio::select! {
            biased;
            piece = chat.next() => Next::Piece(piece),
            () = sender.gone() => Next::Gone,
            () = app.stops() => Next::Stop,
            () = app.clock().sleep(HEARTBEAT_PAUSE) => Next::Silence,
        }
    }

    /// Writes a piece into `out`, and all others that are there already.
    async fn gather(
        &mut self,
        piece: Result<Option<Piece>, Fault>,
        out: &mut Vec<u8>,
        text: &mut String,
    ) -> Gathered {
        let mut piece = piece;
        loop {
            match piece {
                Ok(Some(Piece::Text(more))) => {
                    self.answering.text(&more).write_event(out);
                    text.push_str(&more);
                }
                Ok(Some(Piece::End(end))) => return Gathered::End(end),
                Ok(None) => return Gathered::Fault(Fault::Truncated),
                Err(fault) => return Gathered::Fault(fault),
            }
            if out.len() >= GATHER_BYTES {
                return Gathered::More;
            }
            // The connection to the upstream hands over one chunk at a time: it has its turn here.
            piece = tokio::select! {
                biased;
                piece = self.chat.next() => piece,
                () = tokio::task::yield_now() => return Gathered::More,
            };
        }
    }

    /// Charges the whole answer and sends its end.
    async fn end(mut self, mut out: Vec<u8>, text: &str, end: End) {
        self.deliver_all(text);
        match self.chat.settle(Some(&end)).await {
            Ok(paid) => {
                self.last(&mut out, &end, &paid);
                let _ = self.sender.send(out).await;
                let _ = self.sender.finish().await;
            }
            Err(error) => {
                tracing::error!(%error, "a chat could not be charged");
                out.extend_from_slice(&event(UNCHARGED_MESSAGE, "api_error", "internal_error"));
                let _ = self.sender.send(out).await;
                let _ = self.sender.finish().await;
            }
        }
    }

    fn last(&self, out: &mut Vec<u8>, end: &End, paid: &Paid) {
        for chunk in self.answering.last(end.finish, paid) {
            chunk.write_event(out);
        }
        out.extend_from_slice(DONE_EVENT.as_bytes());
    }

    /// Sends what there is and why there is no more, and charges what was delivered.
    async fn break_off(mut self, mut out: Vec<u8>, text: &str, told: Vec<u8>) {
        self.deliver_all(text);
        self.charge_delivered().await;
        out.extend_from_slice(&told);
        let _ = self.sender.send(out).await;
        let _ = self.sender.finish().await;
    }

    /// Takes what is under way and what comes now for delivered.
    fn deliver_all(&mut self, text: &str) {
        for text in std::mem::take(&mut self.under_way) {
            self.chat.deliver(&text);
        }
        self.chat.deliver(text);
    }

    /// Charges what was delivered before the caller went away.
    async fn leave(mut self) {
        self.note_taken();
        self.charge_delivered().await;
    }

    async fn charge_delivered(&mut self) {
        if let Err(error) = self.chat.settle(None).await {
            tracing::error!(%error, chat.id = %self.chat.id, "a chat could not be charged");
        }
    }
}

fn answering(app: &App, chat: &Chat) -> Answering {
    Answering::new(&chat.request, &chat.id.to_string(), app.clock().now())
}

/// How long the caller waits for the whole answer, as client libraries say it.
fn patience(head: &Head) -> Option<Duration> {
    let told = PATIENCE_HEADERS.iter().find_map(|it| head.header(it))?;
    let seconds: u64 = told.split('.').next()?.trim().parse().ok()?;
    (1..=PATIENCE_MAX).contains(&seconds).then(|| Duration::from_secs(seconds))
}

/// Time for a charge, beyond that of the answer.
const SETTLE_MARGIN: Duration = Duration::from_secs(15);
/// How long the head of a stream waits for the first piece.
const FIRST_WAIT: Duration = Duration::from_secs(10);
/// Silence after which a comment keeps the connection awake. Source: the contract, section 5.
const HEARTBEAT_PAUSE: Duration = Duration::from_secs(10);
/// Bytes of events that are sent at once.
const GATHER_BYTES: usize = 16 * 1024;
/// Where client libraries say how many seconds they wait.
const PATIENCE_HEADERS: [&str; 2] = ["x-stainless-read-timeout", "x-stainless-timeout"];
/// A patience that means none: a day.
const PATIENCE_MAX: u64 = 86_400;
const STOP_MESSAGE: &str = "The server is stopping. What was delivered is all there is.";
const UNCHARGED_MESSAGE: &str = "The answer could not be charged, and so is not complete.";
