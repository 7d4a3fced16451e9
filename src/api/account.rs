//! `GET /account`: what the caller's account has. An extension of the interface.

use serde_json::json;

use crate::api::error::Failure;
use crate::api::gate::Request;
use crate::api::{key_view, view};
use crate::app::{App, accounts, keys};
use crate::domain::money::Amount;
use crate::inbound::Response;

/// Shows the account and the key of the request.
pub(in crate::api) fn show(app: &App, request: &Request) -> Result<Response, Failure> {
    let caller = &request.caller;
    let (account, wallet) = accounts::find(app, caller.account)?;
    let key = keys::find(app, caller.key)?;
    let spend = keys::spend(app, caller.key)?;
    // Chats under way hold money too, though not on disk.
    let promised = accounts::promised(app, caller.account);
    let held = wallet.balance.held().plus(promised).unwrap_or(Amount::MAX);
    let available = wallet.balance.available().minus(promised).unwrap_or(Amount::ZERO);
    let shown = json!({
        "id": account.id.to_string(),
        "name": account.name,
        "currency": account.currency.as_str(),
        "balance": wallet.balance.amount().to_string(),
        "held": held.to_string(),
        "available": available.to_string(),
        "created_at": account.created_at.to_string(),
        "key": key_view::of_caller(&key, &spend, app.clock().now()),
    });
    Ok(view::json(200, &shown))
}
