//! Chats from the caller to the upstream and back, with their money.

mod admission;
mod answers;
mod bodies;
mod faults;
mod keys;
mod leaving;
mod limits;
mod money;
mod narratives;
mod shop;
mod streams;
mod times;

use errand::app::entries::{self, Filter};
use errand::domain::ledger::Entry;
use serde_json::Value;

use crate::support::upstream::{Script, ask};
use crate::support::{House, Plan, Reply, Upstream};

/// Where chats are.
const CHATS: &str = "/v1/chat/completions";
/// The host of the only upstream.
const HOST: &str = "a.example";
/// The name of the only model with a price.
const MODEL: &str = "ours";

/// A house with a priced model, whose upstream always does `then`.
async fn house(then: Script) -> (House, Upstream) {
    house_with(&[Plan::priced(MODEL, &[HOST])], then).await
}

/// The same with other models.
async fn house_with(models: &[Plan], then: Script) -> (House, Upstream) {
    let house = House::offering(1, models, |_| {}).await;
    let upstream = Upstream::at(&house.internet, HOST, then);
    (house, upstream)
}

/// Asks the priced model, with more members.
async fn chat(house: &House, extra: &Value) -> Reply {
    house.ask("POST", CHATS, Some(ask(MODEL, extra))).await
}

/// The entries of the house's account but the first credit, oldest first.
async fn entries(house: &House) -> Vec<Entry> {
    let all = Filter::default();
    let page = entries::list(house.daemon().app(), house.account, all, None, 1000).await.unwrap();
    let mut found = page.entries;
    found.reverse();
    found.split_off(1)
}

/// Nothing was charged and nothing is held.
async fn check_nothing_charged(house: &House) {
    assert_eq!(house.money().await, ("10".into(), "0".into(), "10".into()));
    assert_eq!(entries(house).await.len(), 0);
    house.examine().await;
}

/// So much was charged, in one entry, and nothing is held.
async fn check_charged(house: &House, amount: &str) {
    let found = entries(house).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].amount.to_string(), format!("-{amount}"));
    let (balance, held, available) = house.money().await;
    assert_eq!((balance.as_str(), held.as_str()), (available.as_str(), "0"));
    assert_eq!(found[0].balance_after.to_string(), balance);
    house.examine().await;
}

/// The texts of the events of a stream, without their frames.
fn events(text: &str) -> Vec<&str> {
    text.split("\n\n").filter_map(|it| it.strip_prefix("data: ")).collect()
}
