//! `/v1/agents/schedules`: the shape of every answer.
//!
//! Source: service interface, "Schedule"; the contract, section 7.

use serde_json::{Value, json};

use super::plans::{SCHEDULES, change, lines, look, path, plan, plan_as, reach, run_now, runs};
use crate::support::{Act, House, KIND, RUNS, Receiver, golden, shown};

/// Source: service interface, "Schedule": the fields of the table, in the answer too.
#[tokio::test(start_paused = true)]
async fn the_answer_to_a_create_is_the_record_and_where_it_is() {
    let house = House::new().await;
    let body = json!({
        "kind": KIND, "input": { "say": "é\n" }, "cron": " */7  9-17 * * MON-FRI\t",
        "delivery_channels": ["slack", "email", "slack"], "one_shot": false, "enabled": true,
        "overlap": "queue_one", "missed": "skip",
    });
    let reply = house.ask("POST", SCHEDULES, Some(body)).await;
    golden("schedules/created.txt", &shown(&reply));
    let location = reply.header("location").unwrap().to_owned();
    assert_eq!(house.ask("GET", &location, None).await.json(), reply.json());
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_not_said_has_a_default() {
    let house = House::new().await;
    let bare = plan(&house, "* * * * *", json!({})).await;
    let fields = ["delivery_channels", "one_shot", "enabled", "overlap", "missed", "warnings"];
    let found = fields.map(|it| bare[it].clone());
    let expected =
        [json!([]), json!(false), json!(true), json!("skip"), json!("fire_once"), json!([])];
    assert_eq!(found, expected);
    let nulls: Value = fields[..5].iter().map(|it| ((*it).to_owned(), Value::Null)).collect();
    let same = plan_as(&house, &house.key, "* * * * *", nulls).await;
    assert_eq!(fields.map(|it| same[it].clone()), expected);
}

#[tokio::test(start_paused = true)]
async fn a_schedule_can_be_made_that_does_not_fire_yet() {
    let house = House::new().await;
    let off = plan_as(&house, &house.key, "* * * * *", json!({ "enabled": false })).await;
    assert_eq!((&off["next_run_at"], &off["next_runs"]), (&Value::Null, &json!([])));
    assert_eq!((&off["enabled"], &off["disabled_reason"]), (&json!(false), &json!("user")));
    reach(&house, "00:03:00").await;
    assert_eq!(lines(&house, &off).await.len(), 0);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn the_list_has_every_schedule_of_the_account_oldest_first_in_pages() {
    let house = House::new().await;
    let (_, stranger) = house.tenant("second", "1").await;
    golden("schedules/list-empty.txt", &shown(&house.ask("GET", SCHEDULES, None).await));
    plan_as(&house, &stranger, "* * * * *", json!({})).await;
    let mut made = Vec::new();
    for minute in 0..5 {
        made.push(plan(&house, &format!("{minute} 1 * * *"), json!({})).await);
    }
    let all = house.ask("GET", SCHEDULES, None).await.json();
    assert_eq!((&all["data"], &all["total"], &all["limit"]), (&json!(made), &json!(5), &json!(50)));
    let page = house.ask("GET", &format!("{SCHEDULES}?limit=2&offset=2"), None).await.json();
    assert_eq!((&page["data"], &page["has_more"]), (&json!(made[2..4]), &json!(true)));
    let page = house.ask("GET", &format!("{SCHEDULES}?limit=2&offset=3"), None).await.json();
    assert_eq!((&page["data"], &page["has_more"]), (&json!(made[3..]), &json!(false)));
    let theirs = house.ask_as(&stranger, "GET", SCHEDULES, None).await.json();
    assert_eq!(theirs["total"], 1);
    for query in ["limit=0", "limit=201", "offset=-1", "offset=100001", "x=1", "limit=1&limit=1"] {
        let reply = house.ask("GET", &format!("{SCHEDULES}?{query}"), None).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_query"), "{query}");
    }
}

/// The number in the list is kept, not counted, so it must follow every change.
#[tokio::test(start_paused = true)]
async fn the_list_knows_how_many_there_are() {
    let mut house = House::new().await;
    let total = async |house: &House| {
        house.ask("GET", &format!("{SCHEDULES}?limit=1&offset=1"), None).await.json()["total"]
            .clone()
    };
    assert_eq!(total(&house).await, 0);
    let first = plan(&house, "0 1 * * *", json!({})).await;
    plan(&house, "0 2 * * *", json!({})).await;
    change(&house, &first, json!({ "cron": "0 3 * * *", "enabled": false })).await;
    assert_eq!(total(&house).await, 2);
    reach(&house, "02:00:30").await;
    house.restart().await;
    assert_eq!(total(&house).await, 2);
    for status in [204, 404] {
        assert_eq!(house.ask("DELETE", &path(&first), None).await.status, status);
    }
    assert_eq!(total(&house).await, 1);
    house.examine().await;
}

/// What does not come again has no runs per day.
#[tokio::test(start_paused = true)]
async fn only_a_schedule_that_goes_on_firing_has_a_rate_and_a_cost() {
    let house = House::new().await;
    let rates = |it: &Value| (it["runs_per_day"].clone(), it["cost_per_day"].clone());
    let none = (Value::Null, Value::Null);
    let made = plan(&house, "0 */2 * * *", json!({})).await;
    assert_eq!(rates(&made), (json!(12), json!("0.24")));
    let off = change(&house, &made, json!({ "enabled": false })).await;
    assert_eq!(rates(&off), none);
    assert_eq!(rates(&change(&house, &made, json!({ "enabled": true })).await), rates(&made));
    let once = plan_as(&house, &house.key, "* * * * *", json!({ "one_shot": true })).await;
    assert_eq!(rates(&once), none);
}

#[tokio::test(start_paused = true)]
async fn a_schedule_that_has_fired_shows_what_became_of_its_slots() {
    let house = House::new().await;
    let made = plan(&house, "*/5 * * * *", json!({ "say": "report" })).await;
    reach(&house, "00:10:00.500").await;
    golden("schedules/found.txt", &shown(&house.ask("GET", &path(&made), None).await));
    let log = format!("{}/ticks", path(&made));
    golden("schedules/ticks.txt", &shown(&house.ask("GET", &log, None).await));
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn the_log_comes_in_pages_and_keeps_the_last_500_slots() {
    let mut house = House::with(1, |it| it.runs.retention = None).await;
    let (_, key) = house.tenant("rich", "100").await;
    house.key = key;
    let made = plan(&house, "* * * * *", json!({})).await;
    reach(&house, "09:00:30").await;
    let page = |query: &str| {
        let (path, client) = (format!("{}/ticks?{query}", path(&made)), house.client());
        async move { client.get(&path).await.json() }
    };
    let first = page("limit=2").await;
    let slots = |page: &Value| -> Vec<String> {
        let lines = page["data"].as_array().unwrap();
        lines.iter().map(|it| it["scheduled_for"].as_str().unwrap()[11..16].to_owned()).collect()
    };
    assert_eq!(slots(&first), ["09:00", "08:59"]);
    assert_eq!((&first["total"], &first["has_more"]), (&json!(500), &json!(true)));
    let last = page("limit=200&offset=498").await;
    assert_eq!(slots(&last), ["00:42", "00:41"]);
    assert_eq!(last["has_more"], false);
    assert_eq!(page("offset=500").await["data"], json!([]));
    assert_eq!(look(&house, &made).await["counts"]["fired"], 540);
    house.examine().await;
}

/// Source: the contract, section 7: run-now.
#[tokio::test(start_paused = true)]
async fn a_schedule_is_run_now_and_its_next_slot_stays() {
    let house = House::new().await;
    let made = plan(&house, "0 * * * *", json!({ "say": "now" })).await;
    let reply = house.ask("POST", &format!("{}/run", path(&made)), None).await;
    golden("schedules/run-now.txt", &shown(&reply));
    let over = house.over(&reply.json()).await;
    assert_eq!((&over["status"], &over["output"]), (&json!("succeeded"), &json!("now")));
    let location = reply.header("location").unwrap().to_owned();
    assert_eq!(house.ask("GET", &location, None).await.json(), over);
    let found = look(&house, &made).await;
    assert_eq!(found["next_run_at"], made["next_run_at"]);
    assert_eq!((&found["last_run_id"], &found["counts"]), (&over["id"], &made["counts"]));
    assert_eq!(found["last_run_status"], "succeeded");
    assert_eq!(lines(&house, &made).await, Vec::<Value>::new());
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn what_an_expression_means_is_shown_without_keeping_anything() {
    let house = House::new().await;
    let ask =
        async |body: Value| house.ask("POST", &format!("{SCHEDULES}/preview"), Some(body)).await;
    let reply = ask(json!({ "cron": "*/7 3 1,31 * *", "count": 3 })).await;
    golden("schedules/preview.txt", &shown(&reply));
    assert_eq!(ask(json!({ "cron": "@daily" })).await.json()["error"]["code"], "invalid_cron");
    let usual = ask(json!({ "cron": "* * * * *", "count": null })).await.json();
    assert_eq!(usual["next_runs"].as_array().unwrap().len(), 5);
    assert_eq!(usual["runs_per_day"], 1440);
    for (body, code, param) in [
        (json!({}), "missing_field", "cron"),
        (json!({ "cron": 5 }), "invalid_type", "cron"),
        (json!({ "cron": "* * * * *", "count": 0 }), "invalid_value", "count"),
        (json!({ "cron": "* * * * *", "count": 21 }), "invalid_value", "count"),
        (json!({ "cron": "* * * * *", "kind": KIND }), "unknown_parameter", "kind"),
    ] {
        let reply = ask(body.clone()).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, code), "{body}");
        assert_eq!(reply.json()["error"]["param"], param, "{body}");
    }
    assert_eq!(house.ask("GET", SCHEDULES, None).await.json()["total"], 0);
}

/// Source: service interface, "Runs": the history; the contract, section 6: `schedule_id`.
#[tokio::test(start_paused = true)]
async fn the_history_can_be_asked_for_the_runs_of_one_schedule() {
    let house = House::new().await;
    let (first, second) = (
        plan(&house, "* * * * *", json!({ "say": "first" })).await,
        plan(&house, "*/2 * * * *", json!({ "say": "second" })).await,
    );
    house.run(json!({ "say": "asked" })).await;
    run_now(&house, &second).await;
    reach(&house, "00:04:30").await;
    let said = async |plan: &Value| -> Vec<(Value, Value)> {
        let runs = runs(&house, plan).await;
        runs.iter().map(|it| (it["output"].clone(), it["trigger"].clone())).collect()
    };
    assert_eq!(said(&first).await, vec![(json!("first"), json!("schedule")); 4]);
    let mut seconds = vec![(json!("second"), json!("run_now"))];
    seconds.extend(vec![(json!("second"), json!("schedule")); 2]);
    assert_eq!(said(&second).await, seconds);
    let (_, stranger) = house.tenant("second", "1").await;
    let id = first["id"].as_str().unwrap();
    let theirs = house.ask_as(&stranger, "GET", &format!("{RUNS}?schedule_id={id}"), None).await;
    assert_eq!(theirs.json()["total"], 0);
    let wrong = house.ask("GET", &format!("{RUNS}?schedule_id=x"), None).await;
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "invalid_query"));
    assert_eq!(wrong.json()["error"]["param"], "schedule_id");
}

/// Source: service interface, "Events", rule 1: also of runs that schedules started.
#[tokio::test(start_paused = true)]
async fn receivers_are_told_of_runs_that_a_schedule_has_started() {
    let house = House::new().await;
    let receiver =
        Receiver::new(&house.clock, Act::Answer(204)).plain(&house.internet, "a.example");
    let body = json!({ "url": "http://a.example/" });
    assert_eq!(house.ask("POST", "/v1/webhooks", Some(body)).await.status, 201);
    let made = plan(&house, "* * * * *", json!({ "say": "told" })).await;
    reach(&house, "00:01:30").await;
    let event = receiver.seen()[0].json();
    let run = &runs(&house, &made).await[0];
    assert_eq!((receiver.count(), &event["type"]), (1, &json!("agent.run.succeeded")));
    assert_eq!((&event["data"]["run_id"], &event["data"]["output"]), (&run["id"], &json!("told")));
    change(&house, &made, json!({ "enabled": false })).await;
    run_now(&house, &made).await;
    reach(&house, "00:02:30").await;
    assert_eq!(receiver.count(), 2);
    house.examine().await;
}
