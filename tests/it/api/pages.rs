//! Any page of any history, against a model that looks at every run.

use std::sync::Arc;
use std::time::Duration;

use errand::domain::money::Amount;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::support::{House, KIND, Lives, RUNS, Script, path_of};

/// What happens in a history.
#[derive(Clone, Debug)]
enum Deed {
    Create { kind: usize, what: usize, label: usize },
    Cancel(Index),
    Delete(Index),
    Wait(u64),
}

/// A question about it.
#[derive(Clone, Debug)]
struct Question {
    kind: Option<usize>,
    statuses: Vec<usize>,
    label: Option<usize>,
    after: Option<(Index, bool)>,
    before: Option<(Index, bool)>,
    cursor: Option<Index>,
    limit: usize,
    offset: usize,
}

const KINDS: [&str; 3] = [KIND, "other", "unheard-of"];
const WHATS: [&str; 4] = ["succeed", "no_signal", "fail", "hang"];
const LABELS: [&str; 3] = ["", "a", "a b"];
const STATUSES: [&str; 5] = ["pending", "running", "succeeded", "no_signal", "failed"];

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        8 => (0..2_usize, 0..4_usize, 0..3_usize)
            .prop_map(|(kind, what, label)| Deed::Create { kind, what, label }),
        1 => any::<Index>().prop_map(Deed::Cancel),
        2 => any::<Index>().prop_map(Deed::Delete),
        3 => (1..2_000_u64).prop_map(Deed::Wait),
    ]
}

fn question() -> impl Strategy<Value = Question> {
    let maybe = prop::option::of::<BoxedStrategy<(Index, bool)>>;
    let edge = || maybe((any::<Index>(), any::<bool>()).boxed());
    let window = (prop::option::of(any::<Index>()), 1..6_usize, 0..8_usize);
    let choice = (
        prop::option::of(0..3_usize),
        prop::collection::vec(0..5_usize, 0..4),
        prop::option::of(1..3_usize),
    );
    (choice, edge(), edge(), window).prop_map(|(choice, after, before, window)| {
        let ((kind, statuses, label), (cursor, limit, offset)) = (choice, window);
        Question { kind, statuses, label, after, before, cursor, limit, offset }
    })
}

/// Makes the history, and gives the records that are left, newest first.
async fn tell(house: &House, deeds: &[Deed]) -> Vec<Value> {
    let mut runs: Vec<Value> = Vec::new();
    for deed in deeds {
        match deed {
            Deed::Create { kind, what, label } => {
                let label = Some(LABELS[*label]).filter(|it| !it.is_empty());
                let input = json!({ "do": WHATS[*what] });
                let body = json!({ "kind": KINDS[*kind], "input": input, "external_id": label });
                let reply = house.ask("POST", RUNS, Some(body)).await;
                assert_eq!(reply.status, 201, "{}", reply.text);
                runs.push(reply.json());
            }
            Deed::Cancel(at) if !runs.is_empty() => {
                house.ask("POST", &format!("{}/cancel", path_of(at.get(&runs))), None).await;
            }
            Deed::Delete(at) if !runs.is_empty() => {
                let gone = runs.remove(at.index(runs.len()));
                assert_eq!(house.ask("DELETE", &path_of(&gone), None).await.status, 204);
            }
            Deed::Wait(ms) => house.clock.sleep(Duration::from_millis(*ms)).await,
            Deed::Cancel(_) | Deed::Delete(_) => {}
        }
    }
    house.settle().await;
    let mut records = Vec::new();
    for run in runs.iter().rev() {
        records.push(house.find(run).await);
    }
    records
}

/// The time of a run, or the millisecond after it.
fn time(records: &[Value], (at, is_later): (Index, bool)) -> String {
    let time = at.get(records)["created_at"].as_str().unwrap().to_owned();
    let millis: u32 = time[20..23].parse().unwrap();
    if !is_later || millis == 999 {
        return time;
    }
    format!("{}{:03}{}", &time[..20], millis + 1, &time[23..])
}

async fn check_page(house: &House, records: &[Value], question: &Question) {
    let mut query =
        vec![format!("limit={}", question.limit), format!("offset={}", question.offset)];
    let mut chosen: Vec<&Value> = records.iter().collect();
    if let Some(kind) = question.kind {
        query.push(format!("kind={}", KINDS[kind]));
        chosen.retain(|it| it["kind"] == KINDS[kind]);
    }
    if !question.statuses.is_empty() {
        let statuses: Vec<&str> = question.statuses.iter().map(|it| STATUSES[*it]).collect();
        query.extend(statuses.iter().map(|it| format!("status={it}")));
        chosen.retain(|it| statuses.contains(&it["status"].as_str().unwrap()));
    }
    if let Some(label) = question.label {
        query.push(format!("external_id={}", LABELS[label].replace(' ', "+")));
        chosen.retain(|it| it["external_id"] == LABELS[label]);
    }
    if let Some(at) = question.after.filter(|_| !records.is_empty()) {
        let time = time(records, at);
        query.push(format!("created_after={}", time.replace('+', "%2B")));
        chosen.retain(|it| it["created_at"].as_str().unwrap() >= time.as_str());
    }
    if let Some(at) = question.before.filter(|_| !records.is_empty()) {
        let time = time(records, at);
        query.push(format!("created_before={}", time.replace('+', "%2B")));
        chosen.retain(|it| it["created_at"].as_str().unwrap() < time.as_str());
    }
    let total = chosen.len();
    if let Some(at) = question.cursor.filter(|_| !records.is_empty()) {
        let id = at.get(records)["id"].as_str().unwrap();
        query.push(format!("before={id}"));
        chosen.retain(|it| it["id"].as_str().unwrap() < id);
    }
    let path = format!("{RUNS}?{}", query.join("&"));
    let page = house.ask("GET", &path, None).await.json();
    let data: Vec<&Value> =
        chosen.iter().skip(question.offset).take(question.limit).copied().collect();
    let has_more = chosen.len() > question.offset + question.limit;
    let expected = json!({
        "object": "list", "data": data, "total": total,
        "limit": question.limit, "offset": question.offset, "has_more": has_more,
    });
    assert_eq!(page, expected, "{path}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    /// Source: service interface, "Agents": filters, limit and offset; the contract, section 1:
    /// the total is counted in the transactions that change it.
    #[test]
    fn every_page_is_what_the_filter_leaves_of_the_history(
        deeds in prop::collection::vec(deed(), 0..25),
        questions in prop::collection::vec(question(), 12),
    ) {
        let mut lives = Lives::new(1, |config| {
            let price = Amount::parse("0.01").unwrap();
            config.agents.prices.insert("other".to_owned(), price);
        });
        lives.live(async |house| {
            house.agents.push(Arc::new(Script::of("other")));
            house.restart().await;
            let records = tell(house, &deeds).await;
            for question in &questions {
                check_page(house, &records, question).await;
            }
            house.examine().await;
        });
    }
}
