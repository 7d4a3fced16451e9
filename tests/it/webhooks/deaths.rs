//! A daemon that dies between a claim and its record: nothing is lost, and nothing sent too often.
//!
//! Source: the contract, section 8; faults F01 to F04 and F08.

use std::time::Duration;

use serde_json::{Value, json};

use super::hooks::{Hook, SECOND, check_all, connect, minutes, only, run, settled};
use crate::support::{Act, House, Lives, Loss, Receiver};

/// A house in its first life, with a receiver.
fn lives(act: Act) -> (Lives, Receiver, Hook) {
    let mut lives = Lives::new(1, minutes);
    let (receiver, hook) = lives.live(async |house| {
        let receiver = Receiver::new(&house.clock, act).plain(&house.internet, "a.example");
        (receiver, connect(house, "http://a.example/").await)
    });
    (lives, receiver, hook)
}

/// The log once all is over, after every check.
fn ended(lives: &mut Lives, receiver: &Receiver, hook: &Hook) -> Value {
    lives.live(async |house| {
        settled(house, &[hook]).await;
        house.clock.sleep(Duration::from_hours(1)).await;
        check_all(house, &[(receiver, hook)], 1, SECOND).await;
        only(house, hook).await
    })
}

#[track_caller]
fn check_interrupted(line: &Value, number: usize) {
    let attempt = &line["attempt_log"][number - 1];
    assert_eq!(
        (&attempt["n"], &attempt["error_reason"]),
        (&json!(number), &json!("interrupted")),
        "{line}"
    );
}

/// F01: the name is looked up for ever, so nothing was dialled.
#[test]
fn a_death_between_claim_and_connection_costs_one_attempt_and_its_pause() {
    let (mut lives, receiver, hook) = lives(Act::Answer(204));
    let died = lives.live(async |house| {
        run(house, json!({})).await;
        house.internet.names("a.example", vec![errand::outbound::fake::Lookup::Hangs]);
        house.clock.sleep(Duration::from_secs(61)).await;
        house.clock.mark()
    });
    lives.kill();
    let again = lives.live(async |house| {
        let again = receiver.clone();
        house.internet.name("a.example", "93.184.215.1");
        again
    });
    let line = ended(&mut lives, &again, &hook);
    assert_eq!((&line["status"], &line["attempts"]), (&json!("delivered"), &json!(2)));
    check_interrupted(&line, 1);
    assert_eq!((receiver.count(), receiver.seen()[0].attempt()), (1, 2));
    assert!(receiver.seen()[0].at.since(died) >= Duration::from_mins(1));
}

/// F02 and F03: the request was sent, with an answer under way or not.
#[test]
fn a_death_after_the_request_may_send_it_once_more_with_the_same_id() {
    for act in [Act::Hang, Act::Slow(5_000, 204)] {
        let (mut lives, receiver, hook) = lives(Act::Answer(204));
        receiver.first(&[act]);
        lives.live(async |house| {
            run(house, json!({})).await;
            receiver.wait(1).await;
            house.clock.sleep(Duration::from_secs(1)).await;
        });
        lives.kill();
        let line = ended(&mut lives, &receiver, &hook);
        assert_eq!((&line["status"], &line["attempts"]), (&json!("delivered"), &json!(2)));
        check_interrupted(&line, 1);
        assert_eq!(receiver.count(), 2);
    }
}

/// F03: the answer was 2xx, but its record did not reach the disk.
#[test]
fn a_power_cut_before_the_record_of_a_2xx_sends_it_once_more() {
    for loss in [Loss::OfProcess, Loss::OfPower] {
        let (mut lives, receiver, hook) = lives(Act::Answer(204));
        receiver.first(&[Act::Slow(5_000, 204)]);
        lives.live(async |house| {
            run(house, json!({})).await;
            receiver.wait(1).await;
            house.disk.cut_after(0, loss);
            house.clock.sleep(Duration::from_secs(10)).await;
            assert_eq!(only(house, &hook).await["status"], "delivered");
            assert!(house.disk.was_cut());
        });
        lives.kill();
        let line = ended(&mut lives, &receiver, &hook);
        assert_eq!((&line["status"], &line["attempts"]), (&json!("delivered"), &json!(2)));
        check_interrupted(&line, 1);
        assert_eq!(receiver.count(), 2);
    }
}

/// F04.
#[test]
fn a_death_at_the_sixth_attempt_is_the_end() {
    let (mut lives, receiver, hook) = lives(Act::Answer(500));
    receiver.first(&[Act::Answer(500); 5]);
    receiver.always(Act::Hang);
    let over = lives.live(async |house| {
        let over = run(house, json!({ "say": "kept" })).await;
        receiver.wait(6).await;
        over
    });
    lives.kill();
    let line = ended(&mut lives, &receiver, &hook);
    assert_eq!((&line["status"], &line["attempts"]), (&json!("failed"), &json!(6)));
    assert_eq!((&line["error_reason"], &line["http_code"]), (&json!("interrupted"), &json!(500)));
    check_interrupted(&line, 6);
    assert_eq!(receiver.count(), 6);
    lives.live(async |house| assert_eq!(house.find(&over).await["output"], "kept"));
}

/// F05, small: a daemon that dies again and again sends six times at most.
#[test]
fn a_death_at_every_attempt_ends_after_six() {
    let (mut lives, receiver, hook) = lives(Act::Hang);
    lives.live(async |house| run(house, json!({})).await);
    for count in 1..=6 {
        lives.live(async |_| receiver.wait(count).await);
        lives.kill();
    }
    let line = ended(&mut lives, &receiver, &hook);
    assert_eq!((&line["status"], receiver.count()), (&json!("failed"), 6));
    (1..=6).for_each(|it| check_interrupted(&line, it));
}

/// A death while an event waits for its next attempt costs nothing, and makes nothing early.
#[test]
fn a_death_during_a_pause_changes_nothing() {
    let (mut lives, receiver, hook) = lives(Act::Answer(500));
    lives.live(async |house| {
        run(house, json!({})).await;
    });
    for count in 1..=5 {
        lives.live(async |house| {
            receiver.wait(count).await;
            house.clock.sleep(Duration::from_secs(20)).await;
        });
        lives.kill();
    }
    let line = ended(&mut lives, &receiver, &hook);
    assert_eq!((&line["status"], receiver.count()), (&json!("failed"), 6));
    assert_eq!(line["error_reason"], "http_status");
}

/// F06: wherever the power goes, a run that is over has its deliveries, and each has its run.
#[test]
fn no_end_of_a_run_is_without_its_deliveries_wherever_the_power_goes() {
    for acts in 0..24 {
        let (mut lives, receiver, hook) = lives(Act::Answer(204));
        let run = lives.live(async |house| {
            let run = house.run(json!({ "ms": 50 })).await;
            house.settle().await;
            house.disk.cut_after(acts, Loss::OfPower);
            house.clock.sleep(Duration::from_secs(1)).await;
            house.disk.was_cut();
            run
        });
        lives.kill();
        let over = lives.live(async |house: &mut House| house.over(&run).await);
        assert_eq!(over["status"], "succeeded", "{acts}");
        let line = ended(&mut lives, &receiver, &hook);
        assert_eq!((&line["status"], &line["run_id"]), (&json!("delivered"), &run["id"]), "{acts}");
    }
}
