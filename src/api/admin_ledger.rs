//! The operator's look at a ledger: every change of a balance, newest first.

use serde_json::{Value, json};

use crate::api::error::Failure;
use crate::api::paging::{Query, wrong};
use crate::api::view;
use crate::app::App;
use crate::app::entries::{self, Filter};
use crate::domain::account::AccountId;
use crate::domain::id::{Id, Run};
use crate::domain::ledger::{Entry, EntryKind};
use crate::inbound::{Head, Response};

/// Lists the lines that the query wants; `next_before` says where the next ones begin.
pub(in crate::api) async fn list(
    app: &App,
    account: AccountId,
    head: &Head,
) -> Result<Response, Failure> {
    let mut query = Query::of(head)?;
    let limit = query.limit()? as usize;
    let before = query.take("before")?.map(|it| it.parse());
    let before = before.transpose().map_err(|_| wrong("before", "must be a whole number"))?;
    let filter = Filter {
        kind: match query.take("kind")? {
            Some(text) => Some(EntryKind::parse(&text).ok_or_else(unknown_kind)?),
            None => None,
        },
        key: match query.take("key")? {
            Some(text) => Some(Id::parse(&text).ok_or_else(|| wrong("key", "must be a key's id"))?),
            None => None,
        },
        since: query.time("since")?,
        until: query.time("until")?,
    };
    query.finish()?;
    let page = entries::list(app, account, filter, before, limit).await?;
    let data: Vec<_> = page.entries.iter().map(line).collect();
    Ok(view::json(200, &json!({ "data": data, "next_before": page.next_before })))
}

/// One line.
fn line(entry: &Entry) -> Value {
    json!({
        "seq": entry.seq,
        "at": entry.at.to_string(),
        "kind": entry.kind.as_str(),
        "amount": entry.amount.to_string(),
        "balance_after": entry.balance_after.to_string(),
        // Runs and chats have ids of one form.
        "reference": entry.reference.map(|it| Id::<Run>::from_bytes(it).to_string()),
        "key_id": entry.key.map(|it| it.to_string()),
        "note": entry.note,
        "usage": entry.usage.map(|it| json!({
            "prompt_tokens": it.usage.prompt_tokens,
            "completion_tokens": it.usage.completion_tokens,
            "source": it.source.as_str(),
            "input_per_million": it.price.input_per_million().to_string(),
            "output_per_million": it.price.output_per_million().to_string(),
            "per_request": it.price.per_request().to_string(),
            "unbilled": it.unbilled.to_string(),
        })),
    })
}

fn unknown_kind() -> Failure {
    let words = EntryKind::ALL.map(EntryKind::as_str).join(", ");
    wrong("kind", &format!("must be one of {words}"))
}
