//! The steps of a run, while it is executed and afterwards.

use std::time::Duration;

use serde_json::json;

use crate::support::{House, path_of};

#[tokio::test(start_paused = true)]
async fn the_steps_of_a_run_are_shown_while_it_goes_on_and_kept_with_it() {
    let mut house = House::new().await;
    let run = house.run(json!({ "ms": 5_000 })).await;
    let path = format!("{}/steps", path_of(&run));
    house.clock.sleep(Duration::from_secs(1)).await;
    let steps = house.ask("GET", &path, None).await.json();
    assert_eq!((&steps["total"], &steps["data"][0]["status"]), (&json!(1), &json!("running")));
    house.over(&run).await;
    let steps = house.ask("GET", &path, None).await.json();
    let step = &steps["data"][0];
    assert_eq!((&step["name"], &step["status"]), (&json!("working"), &json!("done")));
    let (_, other) = house.tenant("other", "1").await;
    assert_eq!(house.ask_as(&other, "GET", &path, None).await.status, 404);
    house.restart().await;
    assert_eq!(house.ask("GET", &path, None).await.json(), steps);
    house.ask("DELETE", &path_of(&run), None).await;
    assert_eq!(house.ask("GET", &path, None).await.status, 404);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_has_no_steps() {
    let house = House::with(1, |it| it.queue.workers = 0).await;
    let run = house.run(json!({})).await;
    let steps = house.ask("GET", &format!("{}/steps", path_of(&run)), None).await.json();
    assert_eq!(steps["data"], json!([]));
}
