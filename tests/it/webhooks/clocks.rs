//! A wall clock that is set between attempts and across a restart.
//!
//! Source: the contract, section 8; faults F34 to F37.

use std::time::Duration;

use errand::config::Config;
use serde_json::{Value, json};

use super::hooks::{
    Hook, PAUSES, SECOND, check_all, connect, house_with, log, minutes, run, settled,
};
use crate::support::{Act, House, Receiver};

const HOUR_MS: i64 = 3_600_000;
const YEAR_MS: i64 = 365 * 24 * HOUR_MS;
/// One hour on, ten years on, one hour back, back to 1970.
const STEPS: [i64; 4] = [HOUR_MS, 10 * YEAR_MS, -HOUR_MS, -1_767_225_600_000];

/// A clock that is ten years ahead at a start makes everything old; what is kept is not the matter
/// there. One that is set while the daemon runs makes nothing old.
fn kept(config: &mut Config) {
    minutes(config);
    config.runs.retention = None;
}

/// What is done with the clock after an attempt.
#[derive(Clone, Copy, Debug)]
enum How {
    /// It is set.
    Running,
    /// It is set while the daemon is down.
    Stopped,
}

async fn step(house: &mut House, how: How, millis: i64) {
    match how {
        How::Running => house.clock.step(millis),
        How::Stopped => {
            house.stop().await;
            house.clock.step(millis);
            house.start().await;
        }
    }
}

#[track_caller]
fn check_stamps(line: &Value) {
    assert!(line["finished_at"].as_str() >= line["created_at"].as_str(), "{line}");
}

/// F34 to F36: attempts come neither early nor late, whatever the wall clock shows.
#[tokio::test(start_paused = true)]
async fn a_set_clock_makes_no_attempt_early_and_none_late() {
    for how in [How::Running, How::Stopped] {
        for millis in STEPS {
            let change = if matches!(how, How::Stopped) { kept } else { minutes };
            let (mut house, receiver, hook) = house_with(Act::Answer(500), change).await;
            run(&house, json!({})).await;
            for count in 1..=5 {
                receiver.wait(count).await;
                house.clock.sleep(Duration::from_secs(5)).await;
                // There and back again, and a step that stays.
                step(&mut house, how, if count % 2 == 0 { -millis } else { millis }).await;
            }
            settled(&house, &[&hook]).await;
            let seen = receiver.seen();
            assert_eq!(seen.len(), 6, "{how:?} {millis}");
            for (number, least) in PAUSES.into_iter().enumerate() {
                let found = seen[number + 1].at.since(seen[number].at).as_secs();
                let most = least + least / 10 + 2;
                assert!((least..=most).contains(&found), "{how:?} {millis}: {found} for {least}");
            }
            check_stamps(&log(&house, &hook).await[0]);
            check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
        }
    }
}

/// F34 to F36: the first attempt too, and events of before and after stand in the log.
#[tokio::test(start_paused = true)]
async fn a_set_clock_before_the_first_attempt_loses_nothing() {
    for how in [How::Running, How::Stopped] {
        for millis in STEPS {
            let (mut house, receiver, hook) = house_with(Act::Answer(204), kept).await;
            let begun = house.clock.mark();
            run(&house, json!({})).await;
            step(&mut house, how, millis).await;
            run(&house, json!({})).await;
            settled(&house, &[&hook]).await;
            assert!(begun.elapsed() <= Duration::from_secs(125), "{how:?} {millis}");
            assert_eq!(receiver.count(), 2);
            let lines = log(&house, &hook).await;
            assert_eq!(lines.len(), 2, "{how:?} {millis}");
            lines.iter().for_each(check_stamps);
            check_all(&house, &[(&receiver, &hook)], 2, SECOND).await;
            if millis.abs() <= HOUR_MS {
                house.clock.step(-millis);
                house.clock.sleep(Duration::from_hours(1)).await;
                assert_eq!(log(&house, &hook).await, lines, "another order, or a line is gone");
            }
        }
    }
}

/// F34: a clock that is ten years ahead for a while makes the log forget nothing that it should
/// keep, once it is right again.
#[tokio::test(start_paused = true)]
async fn an_end_while_the_clock_is_back_is_sent_and_logged() {
    let (house, receiver, hook) = house_with(Act::Answer(204), minutes).await;
    let asked = house.run(json!({ "ms": 20_000 })).await;
    house.clock.sleep(Duration::from_secs(5)).await;
    // The run was begun in what is the future now.
    house.clock.step(-YEAR_MS);
    house.over(&asked).await;
    let begun = house.clock.mark();
    settled(&house, &[&hook]).await;
    assert!(begun.elapsed() <= Duration::from_secs(61), "{:?}", begun.elapsed());
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// The runs of a log, in its order.
async fn told(house: &House, hook: &Hook) -> Vec<Value> {
    log(house, hook).await.iter().map(|it| it["run_id"].clone()).collect()
}

/// F35: the log is newest first, also while the clock is behind what it showed before.
#[tokio::test(start_paused = true)]
async fn a_log_is_newest_first_after_the_clock_went_back() {
    for how in [How::Running, How::Stopped] {
        for before_ms in [0, 50_000] {
            let (mut house, _receiver, hook) = house_with(Act::Answer(204), kept).await;
            // One that ends long after it was accepted has an event that is younger than its run.
            let mut runs = vec![run(&house, json!({ "ms": before_ms })).await["id"].clone()];
            step(&mut house, how, -HOUR_MS).await;
            for _ in 0..3 {
                runs.insert(0, run(&house, json!({})).await["id"].clone());
            }
            assert_eq!(told(&house, &hook).await, runs, "{how:?} {before_ms}");
            settled(&house, &[&hook]).await;
            // What is sent again is newer than all of them, and what comes then is newer still.
            let oldest = log(&house, &hook).await[3]["id"].as_str().unwrap().to_owned();
            let path = format!("{}/deliveries/{oldest}/resend", hook.path());
            assert_eq!(house.ask("POST", &path, None).await.status, 202);
            runs.insert(0, runs[3].clone());
            step(&mut house, how, -HOUR_MS).await;
            runs.insert(0, run(&house, json!({})).await["id"].clone());
            assert_eq!(told(&house, &hook).await, runs, "{how:?} {before_ms}");
            house.examine().await;
        }
    }
}

/// The number that says whether the daemon's clock is suspected.
fn suspected(house: &House) -> u64 {
    house.daemon().app().metrics().clock_skew_suspected.value()
}

/// F37.
#[tokio::test(start_paused = true)]
async fn a_clock_that_three_receivers_call_wrong_is_suspected_until_they_agree() {
    const LATER: Act = Act::Raw(
        "HTTP/1.1 204 X\r\nDate: Thu, 01 Jan 2026 00:30:00 GMT\r\nContent-Length: 0\r\n\r\n",
    );
    const RIGHT: Act = Act::Raw(
        "HTTP/1.1 204 X\r\nDate: Thu, 01 Jan 2026 00:00:30 GMT\r\nContent-Length: 0\r\n\r\n",
    );
    let house = House::new().await;
    let mut receivers = Vec::new();
    for (number, wrong) in [1, 2, 3].into_iter().zip([0, 0, 1]) {
        let host = format!("host{number}.example");
        let receiver = Receiver::new(&house.clock, LATER).plain(&house.internet, &host);
        let hook = connect(&house, &format!("http://{host}/")).await;
        receivers.push((receiver, hook));
        for _ in 0..3 {
            run(&house, json!({})).await;
        }
        settled(&house, &receivers.iter().map(|it| &it.1).collect::<Vec<_>>()).await;
        assert_eq!(suspected(&house), wrong, "{number} receivers");
    }
    let page = house.metrics().get("/metrics").await.text;
    assert!(page.contains("\nerrand_clock_skew_suspected 1\n"), "{page}");
    receivers.iter().for_each(|it| it.0.always(RIGHT));
    run(&house, json!({})).await;
    settled(&house, &receivers.iter().map(|it| &it.1).collect::<Vec<_>>()).await;
    assert_eq!(suspected(&house), 0);
    house.examine().await;
}
