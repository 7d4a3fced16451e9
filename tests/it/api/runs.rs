//! `/v1/agents/runs`: create, look at, list, cancel, delete.

use serde_json::json;

use crate::support::{House, KIND};

/// Source: service interface, "Agents": `POST /agents/runs`, `GET /agents/runs/{run_id}`.
#[tokio::test(start_paused = true)]
async fn a_run_is_accepted_done_and_charged_once() {
    let house = House::new().await;
    let run = house.run(json!({ "say": "a report", "ms": 500 })).await;
    assert_eq!(run["status"], "pending");
    assert_eq!(run["cost"], "0");
    assert_eq!(run["cost_reserved"], "0.02");
    assert_eq!(house.money().await, ("10".into(), "0.02".into(), "9.98".into()));

    let over = house.over(&run).await;
    assert_eq!(over["status"], "succeeded");
    assert_eq!(over["output"], "a report");
    assert_eq!((&over["cost"], &over["cost_reserved"]), (&json!("0.02"), &json!("0")));
    assert_eq!(house.money().await, ("9.98".into(), "0".into(), "9.98".into()));
    house.examine().await;
}

/// Source: service interface, "What the service does": resources belong to the account.
#[tokio::test(start_paused = true)]
async fn a_foreign_an_absent_and_a_malformed_id_get_the_same_answer() {
    let house = House::new().await;
    let run = house.run(json!({})).await;
    let (_, stranger) = house.tenant("second", "0").await;
    let foreign = run["id"].as_str().unwrap().to_owned();
    let absent = "019b7680-0000-7000-8000-000000000000".to_owned();
    let mut answers = Vec::new();
    for id in [foreign, absent, "nonsense".into(), "..".into(), "%00".replace("00", "41")] {
        for (method, tail) in [("GET", ""), ("DELETE", ""), ("POST", "/cancel"), ("GET", "/result")]
        {
            let path = format!("/v1/agents/runs/{id}{tail}");
            let reply = house.ask_as(&stranger, method, &path, None).await;
            assert_eq!(reply.status, 404, "{method} {path}: {}", reply.text);
            let request_id = reply.header("x-request-id").unwrap().to_owned();
            answers.push(reply.raw.replace(&request_id, "(id)"));
        }
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_kind_and_wrong_fields_are_named() {
    let house = House::new().await;
    let cases = [
        (json!({}), "missing_field", "kind"),
        (json!({ "kind": KIND }), "missing_field", "input"),
        (json!({ "kind": 7, "input": {} }), "invalid_type", "kind"),
        (json!({ "kind": KIND, "input": [] }), "invalid_type", "input"),
        (json!({ "kind": "nothing", "input": {} }), "unknown_kind", "kind"),
        (json!({ "kind": KIND, "input": {}, "x": 1 }), "unknown_parameter", "x"),
        (json!({ "kind": KIND, "input": { "x": 1 } }), "unknown_parameter", "input.x"),
        (json!({ "kind": KIND, "input": {}, "external_id": "" }), "invalid_value", "external_id"),
    ];
    for (body, code, param) in cases {
        let reply = house.ask("POST", "/v1/agents/runs", Some(body.clone())).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, code), "{body}");
        assert_eq!(reply.json()["error"]["param"], param, "{body}");
    }
    assert_eq!(house.money().await.1, "0");
}
