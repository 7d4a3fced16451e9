//! Ids that lead nowhere: own and deleted, foreign, absent, malformed.

use serde_json::json;

use crate::support::{House, path_of};

/// The routes that have an id in them.
const ROUTES: [(&str, &str); 4] =
    [("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("GET", "/result")];

/// Source: service interface, "What the service does": resources belong to the account; the
/// contract, section 2: the same 404, byte for byte apart from the request id.
#[tokio::test(start_paused = true)]
async fn ids_that_lead_nowhere_get_the_same_answer() {
    let house = House::new().await;
    let foreign = house.run(json!({})).await;
    let (account, stranger) = house.tenant("second", "1").await;
    let deleted = house.run_as(&stranger, json!({})).await;
    assert_eq!(house.ask_as(&stranger, "DELETE", &path_of(&deleted), None).await.status, 204);
    let ghost = house.run_as(&stranger, json!({ "ms": 50_000 })).await;
    house.settle().await;
    assert_eq!(house.ask_as(&stranger, "DELETE", &path_of(&ghost), None).await.status, 204);

    let text = |run: &serde_json::Value| run["id"].as_str().unwrap().to_owned();
    let ids = [
        text(&foreign),
        text(&deleted),
        text(&ghost),
        "019b7680-0000-7000-8000-000000000000".to_owned(),
        "00000000-0000-0000-0000-000000000000".to_owned(),
        "ffffffff-ffff-ffff-ffff-ffffffffffff".to_owned(),
        account.to_string(),
        text(&foreign).to_uppercase(),
        text(&foreign).replace('-', ""),
        format!("%7B{}%7D", text(&foreign)),
        format!("{}%20", text(&foreign)),
        "nonsense".to_owned(),
        "..".to_owned(),
        "%41".to_owned(),
        "%2F".to_owned(),
        "-1".to_owned(),
        "x".repeat(4000),
    ];
    let mut answers = Vec::new();
    for id in ids {
        for (method, tail) in ROUTES {
            let path = format!("/v1/agents/runs/{id}{tail}");
            let reply = house.ask_as(&stranger, method, &path, None).await;
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (404, "not_found"),
                "{method} {path}"
            );
            answers.push(reply.without_id());
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert_eq!(house.over(&foreign).await["status"], "succeeded");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn nothing_of_another_account_is_listed_or_counted() {
    let house = House::new().await;
    let (_, stranger) = house.tenant("second", "1").await;
    let body = json!({ "kind": "script", "input": {}, "external_id": "same" });
    for key in [&house.key, &house.key, &stranger] {
        assert_eq!(
            house.ask_as(key, "POST", crate::support::RUNS, Some(body.clone())).await.status,
            201
        );
    }
    house.settle().await;
    for query in [
        "",
        "?status=succeeded",
        "?kind=script",
        "?external_id=same",
        "?created_after=1970-01-01T00:00:00Z",
    ] {
        let path = format!("{}{query}", crate::support::RUNS);
        assert_eq!(house.ask("GET", &path, None).await.json()["total"], 2, "{query}");
        assert_eq!(house.ask_as(&stranger, "GET", &path, None).await.json()["total"], 1, "{query}");
    }
    house.examine().await;
}
