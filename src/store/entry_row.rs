//! The record of an entry of a ledger, and its way into memory and back.

use serde::{Deserialize, Serialize};

use crate::domain::account::KeyId;
use crate::domain::chat::{CountSource, Price, Usage};
use crate::domain::ledger::{Balance, ChatUsage, Entry, EntryKind};
use crate::domain::money::Amount;
use crate::domain::time::Timestamp;
use crate::store::codec::{self, Record};
use crate::store::error::Error;
use crate::store::key::Parts;
use crate::store::ledger::Line;
use crate::store::schedules::{code, meant};
use crate::store::tables::Table;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EntryRow {
    at: Timestamp,
    kind: EntryKindRow,
    pub(in crate::store) amount: Amount,
    pub(in crate::store) balance_after: Amount,
    reference: Option<[u8; 16]>,
    key: Option<KeyId>,
    note: String,
    usage: Option<UsageRow>,
}

impl Record for EntryRow {}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct UsageRow {
    prompt_tokens: u64,
    completion_tokens: u64,
    source: u8,
    unbilled: Amount,
    /// For a million tokens read, a million written, and the request.
    price: [Amount; 3],
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum EntryKindRow {
    Credit,
    Debit,
    Charge,
    Chat,
}

/// One entry, read from its row.
pub(crate) fn entry(key: &[u8], value: &[u8]) -> Result<Entry, Error> {
    let row: EntryRow = codec::decode(Table::Ledger, key, value)?;
    let mut parts = Parts(key);
    let seq = parts.take::<16>().and_then(|_| parts.take::<8>()).map(u64::from_be_bytes);
    Ok(Entry {
        seq: seq.ok_or(Error::Damaged { table: Table::Ledger.name() })?,
        at: row.at,
        kind: match row.kind {
            EntryKindRow::Credit => EntryKind::Credit,
            EntryKindRow::Debit => EntryKind::Debit,
            EntryKindRow::Charge => EntryKind::Charge,
            EntryKindRow::Chat => EntryKind::Chat,
        },
        amount: row.amount,
        balance_after: row.balance_after,
        reference: row.reference,
        key: row.key,
        note: row.note,
        usage: row.usage.map(usage).transpose()?,
    })
}

/// The row of an entry that changes the balance by `amount`, to `after`.
pub(in crate::store) fn entry_row(line: &Line, amount: Amount, after: Balance) -> EntryRow {
    EntryRow {
        at: line.at,
        kind: match line.kind {
            EntryKind::Credit => EntryKindRow::Credit,
            EntryKind::Debit => EntryKindRow::Debit,
            EntryKind::Charge => EntryKindRow::Charge,
            EntryKind::Chat => EntryKindRow::Chat,
        },
        amount,
        balance_after: after.amount(),
        reference: line.reference,
        key: line.key,
        note: line.note.clone(),
        usage: line.usage.map(|it| UsageRow {
            prompt_tokens: it.usage.prompt_tokens,
            completion_tokens: it.usage.completion_tokens,
            source: code(&CountSource::ALL, it.source),
            unbilled: it.unbilled,
            price: [
                it.price.input_per_million(),
                it.price.output_per_million(),
                it.price.per_request(),
            ],
        }),
    }
}

fn usage(row: UsageRow) -> Result<ChatUsage, Error> {
    let UsageRow { prompt_tokens, completion_tokens, source, unbilled, price } = row;
    let usage = Usage { prompt_tokens, completion_tokens };
    let [input, output, request] = price;
    let damaged = Error::Damaged { table: Table::Ledger.name() };
    let price = Price::new(input, output, request).ok_or(damaged)?;
    Ok(ChatUsage { usage, source: meant(&CountSource::ALL, source)?, price, unbilled })
}
