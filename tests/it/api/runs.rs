//! `/v1/agents/runs`: create, look at, cancel, delete; the shape of each answer.

use serde_json::{Value, json};

use crate::support::{House, KIND, RUNS, golden, path_of, shown};

/// Asks for a run and compares the answer to the look at it, once it is over, with a golden file.
async fn check_ended(name: &str, input: Value) {
    let house = House::new().await;
    let run = house.run(input).await;
    house.over(&run).await;
    golden(&format!("api/{name}.txt"), &shown(&house.ask("GET", &path_of(&run), None).await));
    house.examine().await;
}

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

/// Source: service interface, "Agents": the answer to `POST /agents/runs` is an object with id;
/// the contract, section 6: 201 with the whole record and `Location`.
#[tokio::test(start_paused = true)]
async fn the_answer_to_a_create_is_the_record_and_where_it_is() {
    let house = House::new().await;
    let body = json!({ "kind": KIND, "input": { "say": "é\n" }, "external_id": "order 7" });
    let reply = house.ask("POST", RUNS, Some(body)).await;
    golden("api/run-created.txt", &shown(&reply));
    let location = reply.header("location").unwrap().to_owned();
    let over = house.over(&reply.json()).await;
    assert_eq!(house.ask("GET", &location, None).await.json(), over);
    assert_eq!(over["external_id"], "order 7");
    house.examine().await;
}

/// Source: service interface, "Run status": pending, running; "Limits": poll every 5 seconds.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_not_over_says_when_to_look_again() {
    let house = House::with(1, |it| it.queue.workers = 1).await;
    let first = house.run(json!({ "ms": 60_000 })).await;
    house.settle().await;
    let second = house.run(json!({})).await;
    house.settle().await;
    golden("api/run-running.txt", &shown(&house.ask("GET", &path_of(&first), None).await));
    golden("api/run-pending.txt", &shown(&house.ask("GET", &path_of(&second), None).await));
    house.examine().await;
}

/// Source: service interface, "Run": output is meaningful when status is succeeded.
#[tokio::test(start_paused = true)]
async fn a_run_that_succeeded_shows_its_output_and_its_cost() {
    check_ended("run-succeeded", json!({ "say": "# Report\n\n\"quoted\" \u{1F600}", "ms": 1500 }))
        .await;
}

/// Source: service interface, "Run status": `no_signal`.
#[tokio::test(start_paused = true)]
async fn a_run_without_a_signal_shows_why_and_is_charged() {
    check_ended("run-no-signal", json!({ "do": "no_signal", "say": "nothing new" })).await;
}

/// Source: service interface, "Errors": a generic code, no internal stack; section 4 of the
/// contract: a failed run costs nothing.
#[tokio::test(start_paused = true)]
async fn a_run_that_failed_shows_a_generic_code_and_costs_nothing() {
    check_ended("run-failed", json!({ "do": "fail", "say": "half of it" })).await;
}

#[tokio::test(start_paused = true)]
async fn the_result_for_programs_is_there_when_the_run_is_over() {
    let house = House::new().await;
    let run = house.run(json!({ "ms": 1000 })).await;
    let path = format!("{}/result", path_of(&run));
    let early = house.ask("GET", &path, None).await;
    assert_eq!((early.status, early.code().as_str()), (404, "not_found"));
    house.over(&run).await;
    golden("api/run-result.txt", &shown(&house.ask("GET", &path, None).await));
    let failed = house.run(json!({ "do": "fail" })).await;
    house.over(&failed).await;
    let none = house.ask("GET", &format!("{}/result", path_of(&failed)), None).await;
    assert_eq!((none.status, none.code().as_str()), (404, "not_found"));
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_fails_and_says_that_it_was_cancelled() {
    let house = House::with(1, |it| it.queue.workers = 1).await;
    let running = house.run(json!({ "do": "hang" })).await;
    house.settle().await;
    let pending = house.run(json!({})).await;
    for (name, run) in [("pending", &pending), ("running", &running)] {
        let reply = house.ask("POST", &format!("{}/cancel", path_of(run)), None).await;
        golden(&format!("api/run-canceled-{name}.txt"), &shown(&reply));
    }
    let over = house.over(&running).await;
    assert_eq!((&over["status"], &over["error"]), (&json!("failed"), &json!("agent_failed")));
    assert_eq!(over["error_detail"]["reason"], "canceled");
    assert_eq!(house.money().await, ("10".into(), "0".into(), "10".into()));
    house.examine().await;
}

/// Source: service interface, "Agents": `DELETE /agents/runs/{run_id}` removes the run.
#[tokio::test(start_paused = true)]
async fn a_deleted_run_is_gone_with_everything_it_left() {
    let house = House::new().await;
    let run = house.run(json!({})).await;
    house.over(&run).await;
    golden("api/run-deleted.txt", &shown(&house.ask("DELETE", &path_of(&run), None).await));
    for (method, tail) in [("GET", ""), ("GET", "/result"), ("DELETE", ""), ("POST", "/cancel")] {
        let path = format!("{}{tail}", path_of(&run));
        assert_eq!(house.ask(method, &path, None).await.status, 404, "{method} {path}");
    }
    assert_eq!(house.ask("GET", RUNS, None).await.json()["total"], 0);
    assert_eq!(house.money().await.0, "9.98");
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_kind_and_wrong_fields_are_named() {
    let house = House::new().await;
    let long = "x".repeat(129);
    let cases = [
        (json!({}), "missing_field", "kind"),
        (json!({ "kind": null, "input": {} }), "missing_field", "kind"),
        (json!({ "kind": KIND }), "missing_field", "input"),
        (json!({ "kind": 7, "input": {} }), "invalid_type", "kind"),
        (json!({ "kind": KIND, "input": [] }), "invalid_type", "input"),
        (json!({ "kind": KIND, "input": "{}" }), "invalid_type", "input"),
        (json!({ "kind": "nothing", "input": {} }), "unknown_kind", "kind"),
        (json!({ "kind": "", "input": {} }), "unknown_kind", "kind"),
        (json!({ "kind": "SCRIPT", "input": {} }), "unknown_kind", "kind"),
        (json!({ "kind": KIND, "input": {}, "x": 1 }), "unknown_parameter", "x"),
        (
            json!({ "kind": KIND, "input": {}, "status": "succeeded" }),
            "unknown_parameter",
            "status",
        ),
        (json!({ "kind": KIND, "input": { "x": 1 } }), "unknown_parameter", "input.x"),
        (json!({ "kind": KIND, "input": { "ms": "1" } }), "invalid_input", "input.ms"),
        (json!({ "kind": KIND, "input": { "say": "" } }), "invalid_input", "input.say"),
        (json!({ "kind": KIND, "input": {}, "external_id": "" }), "invalid_value", "external_id"),
        (json!({ "kind": KIND, "input": {}, "external_id": long }), "invalid_value", "external_id"),
        (
            json!({ "kind": KIND, "input": {}, "external_id": "a\u{0}" }),
            "invalid_value",
            "external_id",
        ),
        (json!({ "kind": KIND, "input": {}, "external_id": 7 }), "invalid_type", "external_id"),
        (json!({ "kind": KIND, "input": { "say": "x".repeat(65_536) } }), "invalid_value", "input"),
    ];
    for (body, code, param) in cases {
        let reply = house.ask("POST", RUNS, Some(body.clone())).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, code), "{body}");
        assert_eq!(reply.json()["error"]["param"], param, "{body}");
    }
    assert_eq!(house.money().await.1, "0");
    assert_eq!(house.ask("GET", RUNS, None).await.json()["total"], 0);
    house.examine().await;
}

/// A caller who finds no answer can look for the run under its own name.
///
/// Source: service interface, "Endpoints": check the run history before repeating.
#[tokio::test(start_paused = true)]
async fn the_same_create_twice_is_two_runs_that_can_be_found_by_their_label() {
    let house = House::new().await;
    let body = json!({ "kind": KIND, "input": {}, "external_id": "é & 7".repeat(25) });
    for _ in 0..2 {
        assert_eq!(house.ask("POST", RUNS, Some(body.clone())).await.status, 201);
    }
    let label = "%C3%A9+%26+7".repeat(25);
    let found = house.ask("GET", &format!("{RUNS}?external_id={label}"), None).await.json();
    assert_eq!(found["total"], 2);
    assert_eq!(found["data"][1]["external_id"], body["external_id"]);
    house.examine().await;
}

/// Nothing that looks like a secret is repeated, wherever the caller has put it.
///
/// Source: the contract, section 2.
#[tokio::test(start_paused = true)]
async fn a_key_in_a_body_is_not_repeated() {
    let house = House::new().await;
    let secret = house.key.clone();
    let mut named = json!({ "kind": KIND, "input": {} });
    named[&secret] = json!(1);
    let mut inside = json!({ "kind": KIND, "input": {} });
    inside["input"][&secret] = json!(1);
    for body in [named.to_string(), inside.to_string(), format!("{{\"{secret}"), secret.clone()] {
        let request = crate::support::http::request("POST", RUNS, &house.key, &body);
        let reply = house.send(request.as_bytes()).await;
        assert_eq!(reply.status, 400, "{}", reply.raw);
        assert!(!reply.raw.contains(&secret[17..]), "{}", reply.raw);
    }
}
