//! Damaged records: one schedule suffers, and no other.

use serde_json::{Value, json};

use super::plans::{look, plan, plan_as, reach, runs, told};
use crate::support::{House, damage};

/// Damages a record of a stopped daemon, and starts it again.
async fn with_damage(house: &mut House, table: &str, key: &[u8]) {
    house.stop().await;
    damage(house, table, key);
    house.start().await;
}

fn id_of(plan: &Value) -> [u8; 16] {
    let id = plan["id"].as_str().unwrap().replace('-', "");
    u128::from_str_radix(&id, 16).unwrap().to_be_bytes()
}

#[tokio::test(start_paused = true)]
async fn a_damaged_account_costs_its_own_slots_and_nobody_elses() {
    for table in ["wallets-1", "accounts-1"] {
        let mut house = House::new().await;
        let (poor, stranger) = house.tenant("poor", "1").await;
        let theirs = plan_as(&house, &stranger, "* * * * *", json!({})).await;
        let once = plan_as(&house, &stranger, "* * * * *", json!({ "one_shot": true })).await;
        let mine = plan(&house, "* * * * *", json!({})).await;
        with_damage(&mut house, table, poor.as_bytes()).await;
        reach(&house, "00:03:30").await;
        let every = |verdict: &str| ["1", "2", "3"].map(|it| format!("01 00:0{it} {verdict}"));
        assert_eq!(told(&house, &mine).await, every("fired"), "{table}");
        assert_eq!(runs(&house, &mine).await.len(), 3);
        if table == "accounts-1" {
            // Nobody can ask for them; the daemon has not stopped firing all the same.
            continue;
        }
        house.key = stranger;
        for plan in [&theirs, &once] {
            assert_eq!(told(&house, plan).await, every("error"), "{table}");
            let found = look(&house, plan).await;
            assert_eq!((&found["enabled"], &found["counts"]["skipped"]), (&json!(true), &json!(3)));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_damaged_schedule_does_not_fire_and_hides_no_other() {
    let mut house = House::new().await;
    let broken = plan(&house, "* * * * *", json!({})).await;
    let sound = plan(&house, "* * * * *", json!({})).await;
    let key = [house.account.as_bytes().as_slice(), &id_of(&broken)].concat();
    with_damage(&mut house, "schedules-1", &key).await;
    reach(&house, "00:02:30").await;
    assert_eq!(told(&house, &sound).await, ["01 00:01 fired", "01 00:02 fired"]);
    let list = house.ask("GET", super::plans::SCHEDULES, None).await.json();
    assert_eq!((&list["data"][0]["id"], &list["total"]), (&sound["id"], &json!(2)));
}
