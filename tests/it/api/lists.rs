//! The history of runs as a list: its envelope, its edges, its filters.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{House, KIND, RUNS, golden, path_of, shown};

async fn list(house: &House, query: &str) -> Value {
    let reply = house.ask("GET", &format!("{RUNS}?{query}"), None).await;
    assert_eq!(reply.status, 200, "{query}: {}", reply.text);
    reply.json()
}

/// The outputs of the runs on a page.
async fn outputs(house: &House, query: &str) -> Vec<String> {
    let page = list(house, query).await;
    let data = page["data"].as_array().unwrap();
    data.iter().map(|it| it["output"].as_str().unwrap_or("-").to_owned()).collect()
}

/// A house in whose history stand `count` runs, whose outputs are their numbers from 1.
async fn history(count: u32) -> House {
    let house = House::new().await;
    for number in 1..=count {
        house.run(json!({ "say": number.to_string() })).await;
        house.clock.sleep(Duration::from_secs(1)).await;
    }
    house
}

/// Source: service interface, "Agents": `GET /agents/runs`; the contract, section 1: one envelope.
#[tokio::test(start_paused = true)]
async fn a_history_has_one_envelope_also_when_there_is_nothing_in_it() {
    let house = House::new().await;
    golden("api/runs-empty.txt", &shown(&house.ask("GET", RUNS, None).await));
    house.run(json!({ "say": "one" })).await;
    house.settle().await;
    let body = json!({ "kind": KIND, "input": { "do": "fail" }, "external_id": "two" });
    house.ask("POST", RUNS, Some(body)).await;
    house.settle().await;
    golden("api/runs.txt", &shown(&house.ask("GET", &format!("{RUNS}?limit=10"), None).await));
    house.examine().await;
}

/// Source: service interface, "Limits": limit in run history up to 200; the contract, section 1:
/// default 50, never clamped.
#[tokio::test(start_paused = true)]
async fn a_page_has_a_default_and_edges_and_is_never_clamped() {
    let house = House::with(1, |it| it.queue.workers = 0).await;
    for _ in 0..201 {
        house.run(json!({})).await;
    }
    for (query, items, has_more) in [
        ("", 50, true),
        ("limit=1", 1, true),
        ("limit=200", 200, true),
        ("limit=200&offset=1", 200, false),
        ("offset=200", 1, false),
        ("offset=201", 0, false),
        ("offset=100000", 0, false),
        ("offset=151", 50, false),
        ("offset=150", 50, true),
    ] {
        let page = list(&house, query).await;
        assert_eq!(page["data"].as_array().unwrap().len(), items, "{query}");
        assert_eq!((&page["total"], &page["has_more"]), (&201.into(), &has_more.into()), "{query}");
    }
    for query in [
        "limit=0",
        "limit=201",
        "limit=-1",
        "limit=",
        "limit=1.0",
        "limit=%201",
        "limit=+1",
        "limit=1e2",
        "limit=99999999999999999999",
        "limit=x",
        "limit=1&limit=1",
        "offset=100001",
        "offset=-1",
        "offset=",
        "offset=0&offset=0",
    ] {
        let refused = house.ask("GET", &format!("{RUNS}?{query}"), None).await;
        assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_query"), "{query}");
        let param = query.split('=').next().unwrap();
        assert_eq!(refused.json()["error"]["param"], param, "{query}");
    }
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_list_does_not_know_it_refuses_by_name() {
    let house = House::new().await;
    for (query, param) in [
        ("state=failed", "state"),
        ("Limit=1", "Limit"),
        ("limit=1&x", "x"),
        ("schedule=1", "schedule"),
        ("status=done", "status"),
        ("status=", "status"),
        ("status=failed,succeeded", "status"),
        ("status=failed&status=Failed", "status"),
        ("kind=a&kind=b", "kind"),
        ("external_id=a&external_id=a", "external_id"),
        ("created_after=yesterday", "created_after"),
        ("created_after=2026-01-01", "created_after"),
        ("created_before=2026-13-01T00:00:00Z", "created_before"),
        ("created_before=2026-01-01T00:00:00", "created_before"),
        ("before=nonsense", "before"),
        ("before=", "before"),
        ("kind=%zz", "query"),
        ("kind=%ff", "query"),
    ] {
        let refused = house.ask("GET", &format!("{RUNS}?{query}"), None).await;
        assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_query"), "{query}");
        assert_eq!(refused.json()["error"]["param"], param, "{query}");
    }
}

/// Source: service interface, "Agents": query kind and status.
#[tokio::test(start_paused = true)]
async fn a_history_is_filtered_by_kind_and_by_one_or_more_statuses() {
    let house = House::new().await;
    for (what, say) in [("succeed", "1"), ("no_signal", "2"), ("fail", "3"), ("succeed", "4")] {
        house.run(json!({ "do": what, "say": say })).await;
        house.settle().await;
    }
    house.run(json!({ "do": "hang" })).await;
    house.settle().await;
    for (query, expected) in [
        ("status=succeeded", vec!["4", "1"]),
        ("status=no_signal", vec!["2"]),
        ("status=failed", vec!["-"]),
        ("status=pending", vec![]),
        ("status=running", vec!["-"]),
        ("status=succeeded&status=no_signal", vec!["4", "2", "1"]),
        ("status=no_signal&status=succeeded&limit=2", vec!["4", "2"]),
        ("status=succeeded&status=succeeded", vec!["4", "1"]),
        ("kind=script", vec!["-", "4", "-", "2", "1"]),
        ("kind=script&status=succeeded", vec!["4", "1"]),
        // Kinds can be retired, so an unknown one is an empty list.
        ("kind=nothing", vec![]),
        ("kind=", vec![]),
    ] {
        assert_eq!(outputs(&house, query).await, expected, "{query}");
        if !query.contains("limit") {
            assert_eq!(list(&house, query).await["total"], expected.len(), "{query}");
        }
    }
    house.examine().await;
}

/// A caller may send a time back in the form in which it was given.
#[tokio::test(start_paused = true)]
async fn a_history_is_filtered_by_the_time_of_creation() {
    let house = history(4).await;
    for (query, expected) in [
        ("created_after=2026-01-01T00:00:02Z", vec!["4", "3"]),
        ("created_after=2026-01-01T00:00:02.001Z", vec!["4"]),
        ("created_before=2026-01-01T00:00:02Z", vec!["2", "1"]),
        ("created_before=2026-01-01T00:00:02.001Z", vec!["3", "2", "1"]),
        ("created_after=2026-01-01T00:00:01Z&created_before=2026-01-01T00:00:03Z", vec!["3", "2"]),
        ("created_after=2026-01-01T00:00:03Z&created_before=2026-01-01T00:00:01Z", vec![]),
        ("created_after=2026-01-01T02:00:02%2B02:00", vec!["4", "3"]),
        ("created_after=2026-01-01T00:00:02.000%2B00:00", vec!["4", "3"]),
        ("created_after=2026-01-01T00:00:02.000+00:00", vec!["4", "3"]),
        ("created_after=1969-01-01T00:00:00Z", vec!["4", "3", "2", "1"]),
        ("created_before=1969-01-01T00:00:00Z", vec![]),
        ("created_after=9999-12-31T23:59:59Z", vec![]),
    ] {
        assert_eq!(outputs(&house, query).await, expected, "{query}");
        assert_eq!(list(&house, query).await["total"], expected.len(), "{query}");
    }
}

#[tokio::test(start_paused = true)]
async fn pages_by_cursor_show_every_run_once_while_new_ones_come_and_old_ones_go() {
    let house = history(7).await;
    let mut seen = Vec::new();
    let mut query = "limit=2".to_owned();
    loop {
        let page = list(&house, &query).await;
        let data = page["data"].as_array().unwrap();
        seen.extend(data.iter().map(|it| it["output"].as_str().unwrap().to_owned()));
        let last = data.last().unwrap();
        house.run(json!({ "say": "new" })).await;
        // The cursor need not stand in the history any more.
        house.ask("DELETE", &path_of(last), None).await;
        if page["has_more"] == false {
            break;
        }
        query = format!("limit=2&before={}", last["id"].as_str().unwrap());
    }
    assert_eq!(seen, ["7", "6", "5", "4", "3", "2", "1"]);
    house.examine().await;
}
