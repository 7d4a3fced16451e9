//! Ledgers and wallets: every entry leads to the next, and the last one to what the account has.

use crate::domain::account::AccountId;
use crate::domain::ledger::{Entry, EntryKind};
use crate::domain::money::Amount;
use crate::store::codec;
use crate::store::doctor::charges::{self, charged};
use crate::store::doctor::findings::{Fault, Findings};
use crate::store::doctor::runs::Tally;
use crate::store::entry_row;
use crate::store::error::Error;
use crate::store::key::Key;
use crate::store::ledger::{self, Wallet, WalletRow};
use crate::store::tables::Table;
use crate::store::view::{self, Tables as _, View};

/// What was seen of a ledger.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ledger {
    /// The number of its last entry.
    pub(super) entries: u64,
    /// Whether nothing was charged twice.
    charged_once: bool,
}

/// What the ledger of one account adds up to.
#[derive(Clone, Copy, Debug)]
struct Sum {
    /// The sum of the entries; `None` when one of them is missing or cannot be read.
    amount: Option<Amount>,
    /// The number of the last entry.
    entries: u64,
    /// Entries that charge something named.
    charges: u64,
}

/// Looks at the ledger of one account and at what its wallet says of it.
///
/// # Errors
///
/// What the disk says.
pub(super) fn check_ledger(
    view: &View,
    account: AccountId,
    findings: &mut Findings,
) -> Result<Ledger, Error> {
    let sum = add_up(view, account, findings)?;
    let charged_once = charges::check_once(view, account, sum.charges, findings)?;
    let mut note = |fault| findings.note(Table::Wallets, Key::of(account).as_slice(), fault);
    match find_wallet(view, account)? {
        Found::Wallet(wallet) => {
            Fault::differs("number of entries", &wallet.entries, &sum.entries).map(&mut note);
            let amount = wallet.balance.amount();
            sum.amount.and_then(|it| Fault::differs("amount", &amount, &it)).map(note);
        }
        Found::Unsound => note(Fault::Rule("it holds less than nothing, or more than there is")),
        Found::Nothing => {
            let key = Key::of(account);
            findings.note(Table::Accounts, key.as_slice(), Fault::missing(Table::Wallets));
        }
        Found::Unreadable => {}
    }
    Ok(Ledger { entries: sum.entries, charged_once })
}

/// Compares the runs of one account with its wallet and with the charges in its ledger.
///
/// # Errors
///
/// What the disk says.
pub(super) fn check_runs(
    view: &View,
    account: AccountId,
    ledger: Ledger,
    tally: Tally,
    findings: &mut Findings,
) -> Result<(), Error> {
    let paid = charges::check_prices(view, account, findings)?;
    if !tally.whole {
        return Ok(());
    }
    let mut note = |fault| findings.note(Table::Wallets, Key::of(account).as_slice(), fault);
    if let Found::Wallet(wallet) = find_wallet(view, account)? {
        Fault::differs("held amount", &wallet.balance.held(), &tally.held).map(&mut note);
        let active = u64::from(wallet.active_runs);
        Fault::differs("number of active runs", &active, &tally.active).map(&mut note);
    }
    if let Some(paid) = paid.filter(|_| ledger.charged_once) {
        Fault::differs("number of paid runs", &paid, &tally.charged).map(note);
    }
    Ok(())
}

/// Goes along the entries: their numbers, and the balance after each of them.
fn add_up(view: &View, account: AccountId, findings: &mut Findings) -> Result<Sum, Error> {
    let mut sum = Sum { amount: Some(Amount::ZERO), entries: 0, charges: 0 };
    let mut balance = Some(Amount::ZERO);
    for row in view::rows_of(view, Table::Ledger, &Key::of(account))? {
        let (key, value) = row?;
        let mut note = |fault| findings.note(Table::Ledger, key.value(), fault);
        let expected = sum.entries.saturating_add(1);
        let Ok(entry) = entry_row::entry(key.value(), value.value()) else {
            (sum.amount, balance, sum.entries) = (None, None, expected);
            continue;
        };
        if let Some(gap) = Fault::differs("number", &entry.seq, &expected) {
            note(gap);
            (sum.amount, balance) = (None, None);
        }
        // After a wrong balance the next one may go on from it or from the right one.
        let before = [balance, sum.amount];
        let fits = |it: Amount| it.plus(entry.amount) == Some(entry.balance_after);
        if before.iter().any(Option::is_some) && !before.into_iter().flatten().any(fits) {
            let right = sum.amount.or(balance).and_then(|it| it.plus(entry.amount));
            let right = right.unwrap_or(Amount::MAX);
            Fault::differs("balance after it", &entry.balance_after, &right).map(&mut note);
        }
        if !has_its_sign(&entry) {
            note(Fault::Rule("its amount does not go with its kind"));
        }
        if let (EntryKind::Chat, Some(it)) = (entry.kind, entry.usage) {
            let cost = Amount::ZERO.minus(entry.amount).unwrap_or(Amount::MAX);
            Fault::differs("cost", &cost, &it.price.cost(it.usage)).map(&mut note);
        }
        sum.amount = sum.amount.and_then(|it| it.plus(entry.amount));
        sum.entries = entry.seq;
        sum.charges = sum.charges.saturating_add(u64::from(charged(&entry).is_some()));
        balance = Some(entry.balance_after);
    }
    Ok(sum)
}

/// The wallet of an account, as far as it can be read.
enum Found {
    Wallet(Wallet),
    /// Its record is whole and no balance can be like that.
    Unsound,
    Nothing,
    /// The look at all rows has told so.
    Unreadable,
}

fn find_wallet(view: &View, account: AccountId) -> Result<Found, Error> {
    let key = Key::of(account);
    let is_whole = |bytes: &[u8]| {
        Ok(codec::decode::<WalletRow>(Table::Wallets, key.as_slice(), bytes).is_ok())
    };
    Ok(match view.row(Table::Wallets, key.as_slice(), is_whole)? {
        None => Found::Nothing,
        Some(false) => Found::Unreadable,
        Some(true) => match ledger::find(view, account) {
            Ok(wallet) => Found::Wallet(wallet),
            Err(error) if error.is_disk() => return Err(error),
            Err(_) => Found::Unsound,
        },
    })
}

fn has_its_sign(entry: &Entry) -> bool {
    match entry.kind {
        EntryKind::Credit => entry.amount >= Amount::ZERO,
        EntryKind::Debit | EntryKind::Charge | EntryKind::Chat => entry.amount <= Amount::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chat::{CountSource, Price, Usage};
    use crate::domain::ledger::ChatUsage;
    use crate::store::Txn;
    use crate::store::doctor::sample;
    use crate::store::doctor::sample::{ALICE, append, check_problems};
    use crate::store::entry_row::EntryRow;

    fn wallet(account: AccountId, fault: &str) -> String {
        format!("wallets-1 {account}: {fault}")
    }

    fn entry(account: AccountId, seq: u64, fault: &str) -> String {
        format!("ledger-1 {account}/{seq}: {fault}")
    }

    fn nanos(text: &str) -> Amount {
        Amount::parse(text).unwrap()
    }

    /// Changes a wallet and nothing else.
    #[track_caller]
    fn check_wallet(change: fn(&mut WalletRow), faults: &[&str]) {
        let problems = faults.iter().map(|it| wallet(ALICE, it));
        let damage = move |txn: &mut Txn<'_>| {
            let mut row = txn.wallet(ALICE)?.unwrap();
            change(&mut row);
            txn.put_wallet(ALICE, row);
            Ok(())
        };
        check_problems(damage, &problems.collect::<Vec<_>>());
    }

    /// Changes an entry of Alice's ledger and nothing else.
    #[track_caller]
    fn check_entry(seq: u64, change: fn(&mut EntryRow), problems: &[String]) {
        let damage = move |txn: &mut Txn<'_>| {
            let key = Key::of(ALICE).u64(seq);
            let mut row: EntryRow = view::record(txn, Table::Ledger, &key)?.unwrap();
            change(&mut row);
            txn.put(Table::Ledger, &key, &row)
        };
        check_problems(damage, problems);
    }

    #[test]
    fn a_wallet_that_contradicts_its_ledger_or_its_runs_is_found() {
        let more = |it: &mut WalletRow| it.amount = nanos("9.5");
        check_wallet(more, &["its amount is 9.5, and should be 9"]);
        let entries = |it: &mut WalletRow| it.entries = 3;
        check_wallet(entries, &["its number of entries is 3, and should be 2"]);
        let held = |it: &mut WalletRow| it.held = nanos("2");
        check_wallet(held, &["its held amount is 2, and should be 3"]);
        let active = |it: &mut WalletRow| it.active_runs = 2;
        check_wallet(active, &["its number of active runs is 2, and should be 3"]);
    }

    #[test]
    fn a_balance_that_cannot_be_is_found() {
        let fault = "it holds less than nothing, or more than there is";
        check_wallet(|it| it.held = nanos("9.1"), &[fault]);
        check_wallet(|it| it.held = nanos("-1"), &[fault]);
        check_wallet(|it| it.amount = nanos("-1"), &[fault]);
    }

    #[test]
    fn an_entry_that_is_missing_is_found() {
        let remove = |seq| {
            move |txn: &mut Txn<'_>| txn.remove(Table::Ledger, &Key::of(ALICE).u64(seq)).map(|_| ())
        };
        let gap = entry(ALICE, 2, "its number is 2, and should be 1");
        check_problems(remove(1), &[gap]);
        check_problems(
            remove(2),
            &[
                wallet(ALICE, "its number of entries is 2, and should be 1"),
                wallet(ALICE, "its amount is 9, and should be 10"),
                wallet(ALICE, "its number of paid runs is 0, and should be 1"),
            ],
        );
    }

    #[test]
    fn an_entry_that_does_not_lead_to_the_next_is_found() {
        let fault = "its balance after it is 9.5, and should be 10";
        check_entry(1, |it| it.balance_after = nanos("9.5"), &[entry(ALICE, 1, fault)]);
        let fault = "its balance after it is 9, and should be 8.5";
        let changed = [
            entry(ALICE, 2, fault),
            wallet(ALICE, "its amount is 9, and should be 8.5"),
            entry(ALICE, 2, "its price is 1.5, and should be 1"),
        ];
        check_entry(2, |it| it.amount = nanos("-1.5"), &changed);
    }

    #[test]
    fn an_entry_that_charges_something_else_than_its_tokens_cost_is_found() {
        let price = Price::new(nanos("1"), nanos("2"), nanos("0.5")).unwrap();
        let usage = Usage { prompt_tokens: 1_000_000, completion_tokens: 500_000 };
        let source = CountSource::Upstream;
        let chat = move |txn: &mut Txn<'_>, cost: &str| {
            let usage = Some(ChatUsage { usage, source, price, unbilled: Amount::ZERO });
            let line = ledger::Line { usage, ..sample::line(EntryKind::Chat, None) };
            let now = ledger::find_in(txn, ALICE)?;
            let after = now.balance.credit(Amount::ZERO.minus(nanos(cost)).unwrap())?;
            ledger::append(txn, ALICE, after, now.active_runs, &line)
        };
        check_problems(move |txn| chat(txn, "2.5"), &[]);
        let fault = "its cost is 2.4, and should be 2.5";
        check_problems(move |txn| chat(txn, "2.4"), &[entry(ALICE, 3, fault)]);
    }

    #[test]
    fn an_entry_with_the_sign_of_another_kind_is_found() {
        let fault = "its amount does not go with its kind";
        check_problems(|txn| append(txn, EntryKind::Credit, "8", None), &[entry(ALICE, 3, fault)]);
        for kind in [EntryKind::Debit, EntryKind::Charge] {
            check_problems(move |txn| append(txn, kind, "10", None), &[entry(ALICE, 3, fault)]);
        }
    }
}
