//! API keys: made, listed and revoked by the operator.

use std::sync::Arc;
use std::time::Duration;

use crate::app::error::checked_name;
use crate::app::{App, Error};
use crate::domain::account::{AccountId, KeyId, KeyRecord, Rights};
use crate::domain::limits::LIVE_KEYS_MAX;
use crate::domain::restrictions::{Change, Restrictions};
use crate::domain::secret::ApiKey;
use crate::domain::spend::Spend;
use crate::store::{accounts, keys, spends};

/// What an operator asks for.
#[derive(Clone, Debug)]
pub struct NewKey<'a> {
    /// Whose it is to be.
    pub account: AccountId,
    /// What people call it.
    pub name: &'a str,
    /// What it opens.
    pub rights: Rights,
    /// How long it is good for; for ever when `None`.
    pub lifetime: Option<Duration>,
    /// What it is restricted to.
    pub restrictions: Restrictions,
}

/// Makes a key without restrictions. It is in the answer and nowhere else.
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
    let restrictions = Restrictions::default();
    create_restricted(app, NewKey { account, name, rights, lifetime, restrictions }).await
}

/// Makes a key. It is in the answer and nowhere else.
///
/// # Errors
///
/// As [`create`].
pub async fn create_restricted(app: &App, new: NewKey<'_>) -> Result<(ApiKey, KeyRecord), Error> {
    let NewKey { account, name, rights, lifetime, restrictions } = new;
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
        last_used_at: None,
        restrictions: Arc::new(restrictions),
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

/// The key of that id.
///
/// # Errors
///
/// [`Error::NotFound`] when there is none.
pub fn find(app: &App, id: KeyId) -> Result<KeyRecord, Error> {
    app.0.keys.find(id).map(|(_, record)| record).ok_or(Error::NotFound)
}

/// What a key has spent and holds, chats under way aside.
///
/// # Errors
///
/// What the disk says.
pub fn spend(app: &App, id: KeyId) -> Result<Spend, Error> {
    Ok(app.0.store.read(|view| spends::find(view, id))?)
}

/// Changes what a key is called and restricted to, from the next request on.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such key; [`Error::Input`] when the name cannot be used.
pub async fn update(
    app: &App,
    id: KeyId,
    name: Option<&str>,
    change: Change,
) -> Result<KeyRecord, Error> {
    let name = name.map(checked_name).transpose()?;
    let (hash, _) = app.0.keys.find(id).ok_or(Error::NotFound)?;
    let put = app.0.store.write(move |txn| {
        let mut record = keys::find(txn, &hash)?.ok_or(Error::NotFound)?;
        record.restrictions = Arc::new(record.restrictions.changed(&change));
        if let Some(name) = &name {
            record.name.clone_from(name);
        }
        Ok::<_, Error>(keys::put(txn, &hash, &record)?)
    });
    put.await?;
    // Whoever changed it meanwhile has put in the same, or puts in more after us.
    app.0
        .keys
        .reload(hash, || app.0.store.read(|view| keys::find(view, &hash)?.ok_or(Error::NotFound)))
}

/// Ends a key from the next request on; what it has started goes on.
///
/// Source: service interface, "Authentication", rule 7.
///
/// # Errors
///
/// [`Error::NotFound`] when there is no such key.
pub async fn revoke(app: &App, id: KeyId) -> Result<KeyRecord, Error> {
    let (hash, record) = app.0.keys.find(id).ok_or(Error::NotFound)?;
    if record.revoked_at.is_some() {
        return Ok(record);
    }
    let now = app.0.clock.now();
    let put = app.0.store.write(move |txn| {
        let mut record = keys::find(txn, &hash)?.ok_or(Error::NotFound)?;
        record.revoked_at.get_or_insert(now);
        Ok::<_, Error>(keys::put(txn, &hash, &record)?)
    });
    put.await?;
    app.0.keys.revoke(&hash, now);
    find(app, id)
}

/// Writes down when keys were last used; how many there were.
///
/// The time is kept in memory and is on disk only after this, so a crash can lose the last uses.
/// Each transaction takes few, so that nobody waits long behind it.
///
/// # Errors
///
/// What the store says; what was not written is written the next time.
pub async fn save_uses(app: &App) -> Result<usize, Error> {
    let mut saved = 0_usize;
    loop {
        let uses: Arc<[_]> = app.0.keys.unsaved_uses(USES_MAX).into();
        if uses.is_empty() {
            return Ok(saved);
        }
        let kept = Arc::clone(&uses);
        let put = app.0.store.write(move |txn| {
            for (hash, used_at) in kept.iter() {
                if let Some(mut record) = keys::find(txn, hash)? {
                    record.last_used_at = record.last_used_at.max(Some(*used_at));
                    keys::put(txn, hash, &record)?;
                }
            }
            Ok::<_, Error>(())
        });
        put.await?;
        app.0.keys.saved_uses(&uses);
        saved = saved.saturating_add(uses.len());
        // Those of meanwhile are for the next time.
        if uses.len() < USES_MAX {
            return Ok(saved);
        }
    }
}

impl App {
    /// Refuses a kind that the key of an owner is not meant for. Operators may run every kind.
    ///
    /// # Errors
    ///
    /// [`Error::KindNotAllowed`]
    pub(in crate::app) fn check_kind(&self, key: Option<KeyId>, kind: &str) -> Result<(), Error> {
        let restrictions = key.and_then(|it| self.0.keys.restrictions(it));
        match restrictions {
            Some(it) if !it.allows_kind(kind) => Err(Error::KindNotAllowed),
            Some(_) | None => Ok(()),
        }
    }
}

/// Keys whose use is written down in one transaction.
const USES_MAX: usize = 200;
