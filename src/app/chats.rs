//! Chats: admitted against the balance, answered by a model, charged before their end goes out.
//!
//! A chat is admitted when the most that it can cost is there; so much is promised to it until it
//! is over. What it has used is charged in one commit, before the caller sees the end, so an
//! answer with a cost is a charge on disk. A chat that delivers nothing costs nothing.
//! Source: service interface, "Text models"; the contract, sections 4 and 5.

use std::sync::Arc;
use std::time::Duration;

use crate::app::in_flight::Place;
use crate::app::{App, Error};
use crate::domain::account::Caller;
use crate::domain::chat::{Bound, Count, FinishReason, Paid, Price, Request};
use crate::domain::id::{self, Id};
use crate::domain::ledger::{ChatUsage, Entry, EntryKind};
use crate::domain::money::{Amount, Currency};
use crate::models::{self, Answer, Ask, End, Fault, Model, Piece};
use crate::store::ledger::{self, Line};
use crate::store::{self, Health, NotReserved, Reservation, Spender};

/// The name of a chat.
pub type ChatId = Id<id::Chat>;

/// A model as an account sees it.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The model.
    pub model: Arc<Model>,
    /// What it costs, in the currency of the account.
    pub price: Price,
}

/// A chat that has begun.
pub struct Chat {
    /// Its name.
    pub id: ChatId,
    /// The request.
    pub request: Arc<Request>,
    app: App,
    caller: Caller,
    offer: Offer,
    bound: Bound,
    answer: Answer,
    /// Bytes of text that the model has given.
    gathered: u64,
    /// Whether the model said more than can be paid for.
    is_cut: bool,
    /// Bytes of text that went out.
    delivered: u64,
    /// What is promised to it, until it is charged.
    hold: Option<Reservation>,
    _place: Place,
}

/// The models that the caller can talk to, in the order of their names.
#[must_use]
pub fn offers(app: &App, caller: &Caller) -> Vec<Offer> {
    let allowed = app.0.models.list().filter(|it| caller.restrictions.allows_model(it.id.as_str()));
    allowed.filter_map(|it| app.offer(caller.currency, it)).collect()
}

/// The model of that name.
///
/// # Errors
///
/// [`Error::ModelNotAllowed`] when the key is not meant for a model of that name, whether there is
/// one or not; [`Error::UnknownModel`] when there is none, or it has no price in the caller's
/// currency.
pub fn find(app: &App, caller: &Caller, id: &str) -> Result<Offer, Error> {
    if !caller.restrictions.allows_model(id) {
        return Err(Error::ModelNotAllowed);
    }
    let model = app.0.models.find(id);
    model.and_then(|it| app.offer(caller.currency, it)).ok_or(Error::UnknownModel)
}

/// Begins a chat: when this returns, the model has begun to answer.
///
/// `patience` is how long the caller waits for the whole answer, if it says so.
///
/// # Errors
///
/// [`Error::ModelNotAllowed`], [`Error::UnknownModel`], [`Error::Chat`], [`Error::TooManyChats`],
/// [`Error::ChatBalance`], [`Error::KeyBudget`], [`Error::Model`]. Nothing is charged then.
///
/// # Cancel safety
///
/// A dropped call stops the upstream and gives the promise back.
pub async fn begin(
    app: &App,
    caller: &Caller,
    request: Request,
    patience: Option<Duration>,
) -> Result<Chat, Error> {
    let offer = find(app, caller, &request.model)?;
    request.check(offer.model.capabilities).map_err(Error::Chat)?;
    let bound = offer.model.sizes.bound(&request);
    if Count::estimate(&request, 0).usage.prompt_tokens > offer.model.sizes.context_window() {
        return Err(Error::Model(Fault::ContextLength));
    }
    let at_once = caller.restrictions.concurrency.or(app.0.settings.chats_in_flight);
    let place = app.0.in_flight.enter(caller.key, at_once)?;
    let hold = app.promise(caller, &offer, &bound)?;
    let id = app.0.entropy.id(app.0.clock.now());
    let request = Arc::new(request);
    let ask = Ask { model: &offer.model, request: &request, bound, client_timeout: patience };
    let answer = models::chat(&app.0.models, &ask).await.map_err(Error::Model)?;
    Ok(Chat {
        id,
        request,
        app: app.clone(),
        caller: caller.clone(),
        offer,
        bound,
        answer,
        gathered: 0,
        is_cut: false,
        delivered: 0,
        hold,
        _place: place,
    })
}

impl Chat {
    /// The next piece of the answer; `None` after its end.
    ///
    /// # Errors
    ///
    /// [`Fault`]: the answer broke off.
    ///
    /// # Cancel safety
    ///
    /// Safe: no piece is lost.
    pub async fn next(&mut self) -> Result<Option<Piece>, Fault> {
        if self.is_cut {
            return Ok(Some(Piece::End(CUT)));
        }
        Ok(match self.answer.next().await? {
            Some(Piece::Text(text)) => Some(self.fit(text)),
            other => other,
        })
    }

    /// Cuts an answer that is longer than what is promised for it can ever pay for.
    fn fit(&mut self, mut text: String) -> Piece {
        let room = self.bound.text_bytes().saturating_sub(self.gathered);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        if text.len() > room {
            text.truncate(text.floor_char_boundary(room));
            self.is_cut = true;
            self.answer.stop();
            self.app.0.metrics.usage_clamped.add(1);
            tracing::warn!(
                model.id = %self.offer.model.id,
                max_tokens = self.bound.max_tokens,
                "an upstream says more than it was asked for; it was stopped"
            );
        }
        if text.is_empty() {
            return Piece::End(CUT);
        }
        self.gathered = self.gathered.saturating_add(u64::try_from(text.len()).unwrap_or(u64::MAX));
        Piece::Text(text)
    }

    /// Notes that text went out to the caller.
    pub fn deliver(&mut self, text: &str) {
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.delivered = self.delivered.saturating_add(bytes);
    }

    /// Whether text went out.
    #[must_use]
    pub const fn has_delivered(&self) -> bool {
        self.delivered > 0
    }

    /// What the account's balance counts in.
    #[must_use]
    pub const fn currency(&self) -> Currency {
        self.caller.currency
    }

    /// Charges what was used, and ends the promise: when this returns, the charge is on disk.
    ///
    /// `end` is how the answer ended; without one, what was delivered is estimated. What was
    /// delivered to nobody costs nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Uncharged`]; nothing is charged then.
    ///
    /// # Cancel safety
    ///
    /// A dropped call may have charged.
    pub async fn settle(&mut self, end: Option<&End>) -> Result<Paid, Error> {
        let counted = end.and_then(|it| it.count);
        let count = counted.unwrap_or_else(|| Count::estimate(&self.request, self.delivered));
        let bill = self.offer.price.bill(&self.bound, &count);
        let currency = self.caller.currency;
        let free = Paid { usage: bill.usage, source: bill.source, cost: Amount::ZERO, currency };
        if bill.is_clamped {
            self.app.0.metrics.usage_clamped.add(1);
            tracing::warn!(
                model.id = %self.offer.model.id,
                unbilled = %bill.unbilled,
                "an upstream claims more tokens than can have been used"
            );
        }
        // A caller who was given nothing pays nothing.
        let is_for_nothing = end.is_none() && !self.has_delivered();
        let Some(hold) = self.hold.take().filter(|_| !is_for_nothing) else { return Ok(free) };
        if bill.charge == Amount::ZERO {
            return Ok(free);
        }
        let line = Line {
            at: self.app.0.clock.now(),
            kind: EntryKind::Chat,
            reference: Some(*self.id.as_bytes()),
            key: Some(self.caller.key),
            note: self.offer.model.id.as_str().to_owned(),
            usage: Some(ChatUsage {
                usage: bill.usage,
                source: bill.source,
                price: self.offer.price,
                unbilled: bill.unbilled,
            }),
        };
        let (account, reservation, charge) = (self.caller.account, hold.id(), bill.charge);
        let write = self
            .app
            .0
            .store
            .write(move |txn| ledger::charge(txn, account, reservation, charge, &line));
        let written: Result<(), store::Error> = write.await;
        if let Err(error) = written
            && !self.is_charged()
        {
            tracing::error!(%error, chat.id = %self.id, "a chat could not be charged");
            return Err(Error::Uncharged);
        }
        drop(hold);
        Ok(Paid { cost: bill.charge, ..free })
    }

    /// Whether the charge is on disk although its commit failed: the last sync broke, and what it
    /// should have made sure of was there already. Then the caller has paid, and gets the answer.
    fn is_charged(&self) -> bool {
        let (account, reference) = (self.caller.account, Some(*self.id.as_bytes()));
        let last =
            self.app.0.store.read(|view| ledger::scan(view, account, u64::MAX, LAST_ENTRIES));
        last.is_ok_and(|it: Vec<Entry>| it.iter().any(|it| it.reference == reference))
    }
}

impl App {
    /// A model, with what it costs an account; `None` when it is not offered to it.
    pub(in crate::app) fn offer(&self, currency: Currency, model: &Arc<Model>) -> Option<Offer> {
        let prices = &self.0.prices;
        let price = if currency == prices.currency || model.price.is_free() {
            model.price
        } else {
            model.price.converted(*prices.rates.get(&currency)?)?
        };
        Some(Offer { model: Arc::clone(model), price })
    }

    /// Promises the most that a chat can cost; nothing for what is free.
    fn promise(
        &self,
        caller: &Caller,
        offer: &Offer,
        bound: &Bound,
    ) -> Result<Option<Reservation>, Error> {
        if offer.price.is_free() {
            return Ok(None);
        }
        let refused = |required, available| {
            let affordable = offer.price.affordable(bound.prompt_tokens, available);
            Error::ChatBalance { required, available, currency: caller.currency, affordable }
        };
        let Some(most) = offer.price.hold(bound) else {
            return Err(refused(Amount::MAX, Amount::ZERO));
        };
        // A disk that takes no charge takes no order; the upkeep finds out when it does again.
        if let Health::Failing(error) = self.0.store.health() {
            return Err(error.into());
        }
        let (now, budget) = (self.0.clock.now(), caller.restrictions.budget);
        let spender = Spender { account: caller.account, key: caller.key, budget, now };
        match self.0.store.reserve(spender, most) {
            Ok(reservation) => Ok(Some(reservation)),
            Err(NotReserved::Short(available)) => Err(refused(most, available)),
            Err(NotReserved::Budget(available)) => Err(Error::KeyBudget {
                required: most,
                available,
                currency: caller.currency,
                resets_at: budget.and_then(|it| it.period().resets_at(now)),
            }),
            Err(NotReserved::Store(error)) => Err(error.into()),
        }
    }
}

/// Entries of an account among which the charge of a failed commit is looked for: more than one
/// The end of an answer that was cut.
const CUT: End = End { finish: FinishReason::Length, count: None };
/// commit writes.
const LAST_ENTRIES: usize = 1_000;
