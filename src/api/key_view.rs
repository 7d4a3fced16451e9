//! The JSON form of a key: what it opens and what it is restricted to; never the key.

use serde_json::{Map, Value, json};

use crate::domain::account::KeyRecord;
use crate::domain::budget::Budget;
use crate::domain::restrictions::{Only, Restrictions};
use crate::domain::spend::Spend;
use crate::domain::time::Timestamp;

/// What the holder of a key sees of it.
pub(in crate::api) fn of_caller(key: &KeyRecord, spend: &Spend, now: Timestamp) -> Value {
    let facts = [
        ("id", json!(key.id.to_string())),
        ("name", json!(key.name)),
        ("rights", json!(key.rights.names())),
        ("created_at", json!(key.created_at.to_string())),
        ("expires_at", time(key.expires_at)),
        ("last_used_at", time(key.last_used_at)),
    ];
    with_restrictions(facts, &key.restrictions, spend, now)
}

/// What the operator sees of a key.
pub(in crate::api) fn of_operator(key: &KeyRecord, spend: &Spend, now: Timestamp) -> Value {
    let facts = [
        ("id", json!(key.id.to_string())),
        ("account", json!(key.account.to_string())),
        ("name", json!(key.name)),
        ("rights", json!(key.rights.names())),
        ("hint", json!(key.hint)),
        ("created_at", json!(key.created_at.to_string())),
        ("expires_at", time(key.expires_at)),
        ("revoked_at", time(key.revoked_at)),
        ("last_used_at", time(key.last_used_at)),
    ];
    with_restrictions(facts, &key.restrictions, spend, now)
}

/// The facts, and below them the restrictions: `null` where there is none.
fn with_restrictions<const N: usize>(
    facts: [(&str, Value); N],
    kept: &Restrictions,
    spend: &Spend,
    now: Timestamp,
) -> Value {
    let restrictions = [
        ("models", json!(kept.models.as_ref().map(Only::texts))),
        ("kinds", json!(kept.kinds.as_ref().map(Only::texts))),
        ("networks", json!(kept.networks.as_ref().map(Only::texts))),
        ("requests_per_minute", json!(kept.requests_per_minute)),
        ("concurrency", json!(kept.concurrency)),
        ("strict", json!(kept.strict)),
        ("budget", json!(kept.budget.map(|it| budget(it, spend, now)))),
    ];
    let fields = facts.into_iter().chain(restrictions);
    Value::Object(fields.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
}

/// A budget, what is spent or held of it, and when it begins anew.
fn budget(budget: Budget, spend: &Spend, now: Timestamp) -> Value {
    json!({
        "amount": budget.amount().to_string(),
        "period": budget.period().as_str(),
        "used": spend.used(budget, now).to_string(),
        "resets_at": time(budget.period().resets_at(now)),
    })
}

fn time(at: Option<Timestamp>) -> Value {
    json!(at.map(|it| it.to_string()))
}
