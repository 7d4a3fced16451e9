//! API keys: made, listed and revoked by the operator.

use std::time::Duration;

use crate::app::error::checked_name;
use crate::app::{App, Error};
use crate::domain::account::{AccountId, KeyId, KeyRecord, Rights};
use crate::domain::limits::LIVE_KEYS_MAX;
use crate::domain::secret::ApiKey;
use crate::store::{accounts, keys};

/// Makes a key. It is in the answer and nowhere else.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such account; [`Error::Input`] when the name cannot be
/// used or no right is given; [`Error::TooManyKeys`].
pub async fn create(
    app: &App,
    account: AccountId,
    name: &str,
    rights: Rights,
    lifetime: Option<Duration>,
) -> Result<(ApiKey, KeyRecord), Error> {
    let name = checked_name(name)?;
    if rights.is_empty() {
        return Err(Error::value("rights", "must name at least one right"));
    }
    let now = app.0.clock.now();
    let is_live =
        |it: &KeyRecord| it.revoked_at.is_none() && it.expires_at.is_none_or(|at| at > now);
    let live = app.0.keys.list(Some(account)).iter().filter(|it| is_live(it)).count();
    if live >= LIVE_KEYS_MAX {
        return Err(Error::TooManyKeys { limit: LIVE_KEYS_MAX });
    }
    let key = ApiKey::generate(|out| app.0.entropy.fill(out));
    let record = KeyRecord {
        id: app.0.entropy.id(now),
        account,
        name,
        rights,
        hint: key.hint(),
        created_at: now,
        expires_at: lifetime.map(|it| now.after(it)),
        revoked_at: None,
    };
    let (hash, kept) = (key.hash(), record.clone());
    let insert = app.0.store.write(move |txn| {
        accounts::find(txn, account)?.ok_or(Error::NotFound)?;
        Ok::<_, Error>(keys::put(txn, &hash, &kept)?)
    });
    insert.await?;
    app.0.keys.put(hash, record.clone());
    Ok((key, record))
}

/// The keys of an account, or of all, oldest first, revoked ones included.
#[must_use]
pub fn list(app: &App, account: Option<AccountId>) -> Vec<KeyRecord> {
    app.0.keys.list(account)
}

/// Ends a key from the next request on; what it has started goes on.
///
/// Source: service interface, "Authentication", rule 7.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such key.
pub async fn revoke(app: &App, id: KeyId) -> Result<KeyRecord, Error> {
    let (hash, mut record) = app.0.keys.find(id).ok_or(Error::NotFound)?;
    if record.revoked_at.is_some() {
        return Ok(record);
    }
    record.revoked_at = Some(app.0.clock.now());
    let kept = record.clone();
    app.0.store.write(move |txn| Ok::<_, Error>(keys::put(txn, &hash, &kept)?)).await?;
    app.0.keys.put(hash, record.clone());
    Ok(record)
}
