//! Receivers, as their owner handles them: connect, look at, test, disable.
//!
//! Source: service interface, "Webhook receiver" and "Events", rules 1 to 3; the contract,
//! section 8.

use crate::app::news::cancel_all;
use crate::app::{App, Error};
use crate::delivery::Vetted;
use crate::domain::account::Caller;
use crate::domain::fault::Fault;
use crate::domain::receiver::{Receiver, ReceiverId, ReceiverUrl, UrlReason};
use crate::domain::signature::SigningSecret;
use crate::outbound::Reached;
use crate::store::receivers::{self, Standing};

/// A receiver and how it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullReceiver {
    /// The receiver.
    pub receiver: Receiver,
    /// How it does.
    pub standing: Standing,
}

/// A receiver that was just connected.
#[derive(Debug)]
pub struct Connected {
    /// The receiver.
    pub receiver: Receiver,
    /// Its secret; it is never shown again.
    pub secret: SigningSecret,
    /// Whether its name has an address yet.
    pub is_resolved: bool,
}

/// Whose secret a new receiver gets.
#[derive(Clone, Debug)]
pub enum Secret {
    /// A fresh one.
    Fresh,
    /// One that the operator of a development daemon brings.
    Given(SigningSecret),
}

/// Connects a receiver: from this commit on it is sent every event of the account.
///
/// Nothing is sent to the URL now. Its name is looked up, and an answer that is not public refuses
/// it; a name without an answer does not, because DNS may be set up later.
///
/// # Errors
///
/// [`Error::ReceiverUrl`] with the first rule that is broken, [`Error::TooManyReceivers`].
pub async fn connect(
    app: &App,
    caller: &Caller,
    url: &str,
    secret: Secret,
) -> Result<Connected, Error> {
    let policy = app.0.settings.webhooks.urls;
    let url = ReceiverUrl::parse(url, policy).map_err(Error::ReceiverUrl)?;
    let is_resolved = match app.0.sender.vet(&url).await {
        Vetted::Allowed => true,
        Vetted::Unresolved => false,
        Vetted::Forbidden => return Err(Error::ReceiverUrl(UrlReason::AddressNotAllowed)),
    };
    let (now, entropy) = (app.0.clock.now(), &app.0.entropy);
    let secret = match secret {
        Secret::Fresh => SigningSecret::new(entropy.bytes()),
        Secret::Given(secret) => secret,
    };
    let receiver = Receiver {
        id: entropy.id(now),
        account: caller.account,
        url: url.as_str().to_owned(),
        fingerprint: secret.fingerprint(),
        created_at: now,
        disabled_at: None,
    };
    let sealed = app.0.seal.seal(receiver.id.as_bytes(), entropy.bytes(), secret.reveal())?;
    let (kept, limit) = (receiver.clone(), app.0.settings.webhooks.receivers);
    let connect = app.0.store.write(move |txn| {
        if receivers::active(txn, kept.account)?.len() >= limit as usize {
            return Err(Error::TooManyReceivers { limit });
        }
        Ok(receivers::put(txn, &kept, &sealed)?)
    });
    connect.await?;
    Ok(Connected { receiver, secret, is_resolved })
}

/// Which receivers are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that are sent to.
    Active,
    /// Also those that were disabled and whose log is still kept.
    All,
}

/// The caller's receivers, oldest first.
///
/// # Errors
///
/// What the store says.
pub fn list(app: &App, caller: &Caller, which: Which) -> Result<Vec<FullReceiver>, Error> {
    app.0.store.read(|view| {
        let mut found = Vec::new();
        for receiver in receivers::scan(view, caller.account)? {
            if which == Which::All || receiver.disabled_at.is_none() {
                let standing = receivers::standing(view, caller.account, receiver.id)?;
                found.push(FullReceiver { receiver, standing });
            }
        }
        Ok(found)
    })
}

/// The caller's receiver of that id.
///
/// # Errors
///
/// [`Error::NotFound`] when there is none.
pub fn find(app: &App, caller: &Caller, id: ReceiverId) -> Result<FullReceiver, Error> {
    app.0.store.read(|view| {
        let found = receivers::find(view, caller.account, id)?;
        let (receiver, _) = found.ok_or(Error::NotFound)?;
        let standing = receivers::standing(view, caller.account, id)?;
        Ok(FullReceiver { receiver, standing })
    })
}

/// Disables the caller's receiver; what waits for it is cancelled in the same commit.
///
/// An attempt that is under way may finish. Doing it again changes nothing. Source: service
/// interface, "Webhook receivers".
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such receiver.
pub async fn disable(app: &App, caller: &Caller, id: ReceiverId) -> Result<(), Error> {
    let (account, now) = (caller.account, app.0.clock.now());
    let disable = app.0.store.write(move |txn| {
        let found = receivers::find(txn, account, id)?;
        let (mut receiver, secret) = found.ok_or(Error::NotFound)?;
        if receiver.disabled_at.is_some() {
            return Ok(());
        }
        receiver.disabled_at = Some(now);
        receivers::put(txn, &receiver, &secret)?;
        cancel_all(txn, account, id, now)
    });
    disable.await?;
    app.0.outbox.clear(id, app.0.clock.mark());
    Ok(())
}

/// Tries whether the caller's receiver can be reached: DNS, address, connection, TLS. It sends no
/// event and no request.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such receiver.
pub async fn test(
    app: &App,
    caller: &Caller,
    id: ReceiverId,
) -> Result<Result<Reached, Fault>, Error> {
    let FullReceiver { receiver, .. } = find(app, caller, id)?;
    Ok(app.0.sender.reach(&receiver.url).await)
}
