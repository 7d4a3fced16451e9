//! The JSON forms of what the operator's API shows.

use serde_json::{Value, json};

use crate::app::accounts::Wallet;
use crate::domain::account::{Account, KeyRecord};
use crate::domain::id::{Id, Run};
use crate::domain::ledger::Entry;

/// An account and what it has.
pub(in crate::api) fn account(account: &Account, wallet: &Wallet) -> Value {
    json!({
        "id": account.id.to_string(),
        "name": account.name,
        "currency": account.currency.as_str(),
        "balance": wallet.balance.amount().to_string(),
        "held": wallet.balance.held().to_string(),
        "available": wallet.balance.available().to_string(),
        "created_at": account.created_at.to_string(),
    })
}

/// What an account has.
pub(in crate::api) fn balance(account: &Account, wallet: &Wallet) -> Value {
    json!({
        "balance": wallet.balance.amount().to_string(),
        "held": wallet.balance.held().to_string(),
        "available": wallet.balance.available().to_string(),
        "currency": account.currency.as_str(),
    })
}

/// One line of a ledger.
pub(in crate::api) fn entry(entry: &Entry) -> Value {
    json!({
        "seq": entry.seq,
        "at": entry.at.to_string(),
        "kind": entry.kind.as_str(),
        "amount": entry.amount.to_string(),
        "balance_after": entry.balance_after.to_string(),
        "run_id": entry.reference.map(|it| Id::<Run>::from_bytes(it).to_string()),
        "key_id": entry.key.map(|it| it.to_string()),
        "note": entry.note,
    })
}

/// What is known of a key; never the key.
pub(in crate::api) fn key(key: &KeyRecord) -> Value {
    json!({
        "id": key.id.to_string(),
        "account": key.account.to_string(),
        "name": key.name,
        "rights": key.rights.names(),
        "hint": key.hint,
        "created_at": key.created_at.to_string(),
        "expires_at": key.expires_at.map(|it| it.to_string()),
        "revoked_at": key.revoked_at.map(|it| it.to_string()),
    })
}
