//! The JSON forms of what the operator's API shows.

use serde_json::{Value, json};

use crate::app::accounts::Wallet;
use crate::domain::account::Account;

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
