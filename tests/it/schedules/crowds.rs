//! Many schedules at once: none is lost, and none brings more runs at a time than there are
//! workers.
//!
//! Source: the contract, section 7.

use std::time::Duration;

use errand::app::schedules::{self, FullSchedule, NewSchedule};
use errand::domain::account::{AccountId, Owner};
use errand::domain::money::Currency;
use errand::domain::schedule::{MissedSlots, Overlap, Repeat};
use serde_json::{Map, json};
use tokio::task::JoinSet;

use super::plans::{plan, reach, told};
use crate::support::{House, KIND, RUNS};

/// A house for so many schedules of one account that can pay.
async fn house_of(count: u32) -> (House, Owner) {
    let mut house = House::with(1, |config| {
        config.schedules.rules.per_account = count;
        config.limits.pending_runs = None;
    })
    .await;
    let (account, key) = house.tenant("crowd", "10000").await;
    (house.key, house.account) = (key, account);
    (house, owner(account))
}

fn owner(account: AccountId) -> Owner {
    Owner { account, key: None, currency: Currency::EUR }
}

async fn plan_all(house: &House, owner: Owner, cron: &str, count: u32) {
    let mut making = JoinSet::new();
    for _ in 0..count {
        let (app, cron) = (house.daemon().app().clone(), cron.to_owned());
        making.spawn(async move {
            let new = NewSchedule {
                kind: KIND.to_owned(),
                input: Map::new(),
                cron,
                channels: Vec::new(),
                repeat: Repeat::Always,
                enabled: true,
                overlap: Overlap::Skip,
                missed: MissedSlots::FireOnce,
            };
            schedules::create(&app, owner, new).await.unwrap();
        });
    }
    while let Some(made) = making.join_next().await {
        made.unwrap();
    }
}

fn all_of(house: &House, owner: Owner) -> Vec<FullSchedule> {
    let listing = schedules::list(house.daemon().app(), owner, 0, usize::MAX).unwrap();
    assert_eq!(listing.total, listing.schedules.len() as u64);
    listing.schedules
}

/// Every schedule has fired once and missed so many.
fn check_each(house: &House, owner: Owner, count: u32, missed: u64) {
    let all = all_of(house, owner);
    assert_eq!(all.len(), count as usize);
    for it in all {
        let counts = it.schedule.counts;
        assert_eq!((counts.fired, counts.skipped, counts.missed), (1, 0, missed));
    }
}

/// S3.
#[tokio::test(start_paused = true)]
async fn three_days_down_with_1000_schedules_are_1000_late_runs_and_no_burst() {
    const COUNT: u32 = 1_000;
    let (mut house, owner) = house_of(COUNT).await;
    plan_all(&house, owner, "*/5 * * * *", COUNT).await;
    house.stop().await;
    reach(&house, "04 00:01:00").await;
    house.start().await;
    house.clock.sleep(Duration::from_mins(2)).await;
    check_each(&house, owner, COUNT, 863);
    assert_eq!(house.script.begun().len(), COUNT as usize);
    assert!(house.script.most() <= 4, "{}", house.script.most());
    assert_eq!(house.money().await.0, "9980");
    house.examine().await;
}

/// S11: fifty batches.
#[tokio::test(start_paused = true)]
async fn all_schedules_of_one_minute_have_their_runs_within_ten_seconds() {
    const COUNT: u32 = 10_000;
    let (mut house, owner) = house_of(COUNT).await;
    // A slot has fired when its run is on disk, whoever executes it and when.
    house.config.queue.workers = 0;
    house.restart().await;
    plan_all(&house, owner, "5 * * * *", COUNT).await;
    reach(&house, "00:05:10").await;
    check_each(&house, owner, COUNT, 0);
    let all = all_of(&house, owner);
    let late = |at: errand::domain::time::Timestamp| at.since(super::plans::at("00:05:00"));
    let last = all.iter().filter_map(|it| it.schedule.last_run).map(|it| late(it.at)).max();
    assert!(last.unwrap() < Duration::from_secs(10), "{last:?}");
    let runs = house.ask("GET", &format!("{RUNS}?limit=1&status=pending"), None).await.json();
    assert_eq!(runs["total"], COUNT);
    house.examine().await;
}

/// A clock that is set back in the middle of a backlog puts nothing off that is due on both clocks.
#[tokio::test(start_paused = true)]
async fn a_step_back_during_a_backlog_loses_none_of_it() {
    const COUNT: u32 = 500;
    let (mut house, owner) = house_of(COUNT).await;
    plan_all(&house, owner, "0 1 * * *", COUNT).await;
    house.stop().await;
    reach(&house, "06:00:00").await;
    house.start().await;
    // Some batches are decided, others are not.
    for _ in 0..2_000 {
        let all = all_of(&house, owner);
        if all.iter().any(|it| it.schedule.counts.fired > 0) {
            break;
        }
        tokio::task::yield_now().await;
    }
    house.clock.step(-super::plans::HOUR_MS);
    house.clock.sleep(Duration::from_mins(1)).await;
    check_each(&house, owner, COUNT, 0);
    house.examine().await;
}

/// Next slots are reckoned again some at a time, and what is due meanwhile fires.
#[tokio::test(start_paused = true)]
async fn a_step_back_with_more_schedules_than_one_batch_reaches_all_of_them() {
    const COUNT: u32 = 450;
    let (house, owner) = house_of(COUNT + 1).await;
    reach(&house, "11:29:30").await;
    plan_all(&house, owner, "0 * * * *", COUNT).await;
    let often = plan(&house, "* * * * *", json!({})).await;
    reach(&house, "11:31:30").await;
    house.clock.step(-super::plans::HOUR_MS - 29_000);
    house.clock.sleep(Duration::from_secs(2)).await;
    let nexts = || -> Vec<_> {
        let all = all_of(&house, owner).into_iter();
        all.filter_map(|it| it.schedule.next_run_at).collect()
    };
    let (next, minute) = (super::plans::at("11:00:00"), super::plans::at("10:32:00"));
    assert_eq!(nexts(), [vec![next; COUNT as usize], vec![minute]].concat());
    // 10:31 came while the others were reckoned.
    assert_eq!(told(&house, &often).await[0], "01 10:31 fired");
    // Where no slot moves, nothing is written but that all were looked at.
    let commits = async || {
        let page = house.metrics().get("/metrics").await.text;
        let line = page.lines().find_map(|it| it.strip_prefix("errand_commit_seconds_count "));
        line.unwrap().parse::<u64>().unwrap()
    };
    let before = commits().await;
    house.clock.step(-3_000);
    house.clock.sleep(Duration::from_secs(2)).await;
    let more = commits().await - before;
    assert!(more <= 3, "{more}");
    assert_eq!(house.client().get("/readyz").await.status, 200);
    house.examine().await;
}
