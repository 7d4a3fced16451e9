//! The money of chats: what is held, what is refused, what is charged when the disk fails.

use std::time::Duration;

use errand::config::Config;
use serde_json::json;
use tokio::task::JoinSet;

use crate::chat::{
    CHATS, HOST, MODEL, chat, check_charged, check_nothing_charged, entries, events, house,
};
use crate::support::upstream::{Step, ask, begun, done, finish, pause, stream, usage};
use crate::support::{House, Lives, Plan, Reply, Trouble, Upstream, golden, shown};

/// As many chats at once as there is money for.
fn any_number(config: &mut Config) {
    config.limits.chats_in_flight = None;
}

/// A house whose only key is that of an account with so much money.
async fn house_of(balance: &str) -> (House, Upstream) {
    let mut house = House::offering(1, &[Plan::priced(MODEL, &[HOST])], any_number).await;
    (house.account, house.key) = house.tenant("other", balance).await;
    let upstream = Upstream::at(&house.internet, HOST, stream(&["Hi"], (5, 1)));
    (house, upstream)
}

/// Source: the contract, section 4: 402 says what is required, what there is and what that buys.
#[tokio::test(start_paused = true)]
async fn too_little_money_is_told_with_what_it_buys() {
    // A hold is 85 tokens read and 1,000 written: 0.002085.
    let (house, upstream) = house_of("0.002084999").await;
    let reply = chat(&house, &json!({})).await;
    golden("chat/balance.txt", &shown(&reply));
    let details = &reply.json()["error"]["details"];
    assert_eq!(details["affordable_max_tokens"], 999);
    for streams in [false, true] {
        let reply = chat(&house, &json!({ "stream": streams })).await;
        assert_eq!((reply.status, reply.code().as_str()), (402, "insufficient_balance"));
    }
    assert_eq!(upstream.count(), 0);
    let bought = chat(&house, &json!({ "max_tokens": 999 })).await;
    assert_eq!(bought.json()["usage"]["cost"], "0.000007");
    let (house, upstream) = house_of("0.000085").await;
    let details = chat(&house, &json!({})).await.json()["error"]["details"].clone();
    assert_eq!(details["affordable_max_tokens"], json!(null));
    assert_eq!(upstream.count(), 0);
    house.examine().await;
}

#[tokio::test(start_paused = true)]
async fn a_balance_of_exactly_the_hold_is_enough_and_is_never_overdrawn() {
    let (house, upstream) = house_of("0.002085").await;
    upstream.always(stream(&["Hi"], (u64::MAX, u64::MAX)));
    assert_eq!(chat(&house, &json!({})).await.json()["usage"]["cost"], "0.002085");
    assert_eq!(house.money().await, ("0".into(), "0".into(), "0".into()));
    assert_eq!(chat(&house, &json!({ "max_tokens": 1 })).await.status, 402);
    house.examine().await;
}

/// Source: the contract, section 4: what is free is free for everybody.
#[tokio::test(start_paused = true)]
async fn free_models_answer_accounts_without_money() {
    let mut house = House::offering(1, &[Plan::free("zero", &[HOST])], |_| {}).await;
    Upstream::at(&house.internet, HOST, stream(&["Hi"], (5, 1)));
    (house.account, house.key) = house.tenant("poor", "0").await;
    for model in ["zero", "offline/echo", "offline/extract", "offline/lorem-stream"] {
        for streams in [false, true] {
            let body = ask(model, &json!({ "stream": streams, "max_tokens": 5 }));
            let reply = house.ask("POST", CHATS, Some(body)).await;
            assert_eq!(reply.status, 200, "{model}: {}", reply.raw);
            assert!(reply.text.contains("\"cost\":\"0\""), "{model}: {}", reply.raw);
        }
    }
    assert_eq!(house.money().await.0, "0");
    house.examine().await;
}

/// Source: the contract, section 4: N parallel requests can never overspend.
#[tokio::test(start_paused = true)]
async fn of_200_chats_at_once_those_that_can_be_paid_reach_the_upstream() {
    for streams in [false, true] {
        // Ten holds, and not quite an eleventh.
        let (house, upstream) = house_of("0.022934999").await;
        let mut slow = vec![pause(500)];
        slow.extend(stream(&["Hi"], (85, 1_000)));
        upstream.always(slow);
        let mut asks = JoinSet::new();
        for _ in 0..200 {
            let client = house.client();
            let body = ask(MODEL, &json!({ "stream": streams }));
            asks.spawn(async move { client.ask("POST", CHATS, Some(body)).await });
        }
        let mut statuses = Vec::new();
        while let Some(reply) = asks.join_next().await {
            let reply = reply.unwrap();
            assert!(reply.status != 200 || reply.text.contains("0.002085"), "{}", reply.raw);
            statuses.push(reply.status);
        }
        let count = |status| statuses.iter().filter(|it| **it == status).count();
        assert_eq!((count(200), count(402), upstream.count()), (10, 190, 10));
        house.settle().await;
        let rest = "0.002084999".to_owned();
        assert_eq!(house.money().await, (rest.clone(), "0".into(), rest));
        assert_eq!(entries(&house).await.len(), 10);
        house.examine().await;
    }
}

/// Runs and chats pay from one balance: what one has, the other cannot get.
#[tokio::test(start_paused = true)]
async fn runs_and_chats_at_once_share_one_balance() {
    // Two runs and ten chats of a tenth of their price.
    let (house, upstream) = house_of("0.05").await;
    let mut slow = vec![pause(500)];
    slow.extend(stream(&["Hi"], (85, 1_000)));
    upstream.always(slow);
    let mut asks = JoinSet::new();
    for number in 0..120 {
        let client = house.client();
        asks.spawn(async move {
            if number % 2 == 0 {
                let body = ask(MODEL, &json!({ "stream": number % 4 == 0 }));
                client.ask("POST", CHATS, Some(body)).await
            } else {
                let body = json!({ "kind": "script", "input": { "ms": 2_000 } });
                client.ask("POST", "/v1/agents/runs", Some(body)).await
            }
        });
    }
    let (mut chats, mut runs) = (0, 0);
    while let Some(reply) = asks.join_next().await {
        match reply.unwrap().status {
            200 => chats += 1,
            201 => runs += 1,
            402 => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!(upstream.count(), chats);
    house.clock.sleep(Duration::from_secs(10)).await;
    let spent = 20_000_000 * runs + 2_085_000 * i64::try_from(chats).unwrap();
    assert!(spent <= 50_000_000 && runs + i64::try_from(chats).unwrap() > 0, "{runs} {chats}");
    let (balance, held, available) = house.money().await;
    assert_eq!((balance, held.as_str()), (available.clone(), "0"));
    let left = errand::domain::money::Amount::parse(&available).unwrap();
    assert_eq!(left.nanos(), 50_000_000 - spent);
    // Nothing more could have been paid.
    assert!(left.nanos() < 20_000_000, "{left}");
    house.examine().await;
}

/// An answer that could not be charged is no answer.
#[tokio::test(start_paused = true)]
async fn a_charge_that_fails_is_no_success_and_no_charge() {
    for trouble in [Trouble::Full, Trouble::Broken] {
        for streams in [false, true] {
            let mut slow = begun(&["Hi"], pause(1_000));
            slow.extend([finish("stop"), usage(5, 1)]);
            slow.extend(done());
            let (house, _) = house(slow).await;
            let asked = json!({ "stream": streams });
            let (reply, ()) = tokio::join!(chat(&house, &asked), async {
                house.clock.sleep(Duration::from_millis(500)).await;
                house.disk.fail(trouble);
            });
            house.disk.heal();
            check_uncharged(&reply, streams);
            house.clock.sleep(Duration::from_secs(10)).await;
            check_nothing_charged(&house).await;
            assert_eq!(chat(&house, &json!({ "max_tokens": 7 })).await.status, 200);
            check_charged(&house, "0.000007").await;
        }
    }
}

/// Source: the contract, section 4: what cannot be charged is not sent on.
#[tokio::test(start_paused = true)]
async fn a_disk_that_takes_nothing_refuses_priced_chats_before_the_upstream_is_asked() {
    for (trouble, status, code) in
        [(Trouble::Full, 503, "storage_full"), (Trouble::Broken, 500, "internal_error")]
    {
        let models = [Plan::priced(MODEL, &[HOST]), Plan::free("zero", &[HOST])];
        let house = House::offering(1, &models, |_| {}).await;
        let upstream = Upstream::at(&house.internet, HOST, stream(&["Hi"], (5, 1)));
        house.disk.fail(trouble);
        // The first one finds it out.
        check_uncharged(&chat(&house, &json!({})).await, false);
        assert_eq!(upstream.count(), 1);
        for streams in [false, true] {
            let reply = chat(&house, &json!({ "stream": streams })).await;
            assert_eq!((reply.status, reply.code().as_str()), (status, code), "{}", reply.raw);
        }
        assert_eq!(upstream.count(), 1);
        // What costs nothing needs no disk.
        let free = house.ask("POST", CHATS, Some(ask("zero", &json!({})))).await;
        assert_eq!(free.status, 200, "{}", free.raw);
        house.disk.heal();
        house.clock.sleep(Duration::from_secs(10)).await;
        assert_eq!(chat(&house, &json!({})).await.status, 200);
        house.examine().await;
    }
}

/// An upstream that does not heed the cap is stopped, and what was said until then is the answer.
#[tokio::test(start_paused = true)]
async fn an_answer_far_above_its_cap_is_cut() {
    let pieces = vec!["0123456789".repeat(100); 100];
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    for streams in [false, true] {
        let (house, upstream) = house(stream(&pieces, (5, 25_000))).await;
        let reply = chat(&house, &json!({ "stream": streams, "max_tokens": 10 })).await;
        assert_eq!(reply.status, 200, "{}", reply.raw);
        assert!(reply.text.contains("\"finish_reason\":\"length\""), "{}", reply.text);
        let bytes = reply.text.matches("0123456789").count() * 10;
        assert_eq!(bytes, 4_730, "64 bytes a token and 4,096 beyond");
        house.settle().await;
        assert_eq!(upstream.left(), 1);
        let metrics = house.metrics().get("/metrics").await.text;
        assert!(metrics.contains("errand_usage_clamped_total 1"), "{metrics}");
        check_charged(&house, "0.000029").await;
    }
}

#[track_caller]
fn check_uncharged(reply: &Reply, streams: bool) {
    if !streams {
        assert_eq!((reply.status, reply.code().as_str()), (500, "internal_error"), "{}", reply.raw);
        // The model has been asked: once more would cost the operator once more.
        assert_eq!(reply.header("x-should-retry"), Some("false"), "{}", reply.raw);
        assert!(!reply.text.contains("Hi"), "{}", reply.text);
        return;
    }
    let told = events(&reply.text);
    assert!(told[told.len() - 1].contains("\"error\""), "{}", reply.text);
    assert!(reply.is_whole && !reply.text.contains("[DONE]"), "{}", reply.text);
    assert!(!reply.text.contains("\"cost\""), "{}", reply.text);
}

/// A sync that fails although its bytes are kept: whoever is told of a failure is not charged, and
/// whoever is charged has an answer.
#[tokio::test(start_paused = true)]
async fn a_charge_that_is_there_after_all_is_one_of_an_answer() {
    for number in 1..=4 {
        for streams in [false, true] {
            let mut slow = begun(&["Hi"], pause(1_000));
            slow.extend([finish("stop"), usage(5, 1)]);
            slow.extend(done());
            let (house, _) = house(slow).await;
            let asked = json!({ "stream": streams });
            let (reply, ()) = tokio::join!(chat(&house, &asked), async {
                house.clock.sleep(Duration::from_millis(500)).await;
                house.disk.fail_sync(number);
            });
            house.clock.sleep(Duration::from_secs(10)).await;
            if reply.text.contains("0.000007") {
                check_charged(&house, "0.000007").await;
            } else {
                check_uncharged(&reply, streams);
                check_nothing_charged(&house).await;
            }
        }
    }
}

/// The charge is on disk before the end of the answer goes out.
#[tokio::test(start_paused = true)]
async fn no_end_goes_out_before_its_charge_is_on_disk() {
    for streams in [false, true] {
        let (house, _) = house(stream(&["Hi"], (5, 1))).await;
        let gate = house.disk.shut();
        let body = ask(MODEL, &json!({ "stream": streams }));
        let mut connection = house.client().begin("POST", CHATS, &body).await;
        let early = tokio::time::timeout(Duration::from_secs(5), async {
            connection.read_until("\"cost\"").await
        });
        // The paused clock moves only because nothing else can be done.
        tokio::pin!(early);
        let mut came = false;
        for _ in 0..2_000 {
            tokio::select! {
                biased;
                _ = &mut early => { came = true; break }
                () = tokio::task::yield_now() => {}
            }
        }
        assert!(!came, "the end went out before its charge");
        drop(gate);
        assert!(early.await.unwrap().contains("0.000007"));
        check_charged(&house, "0.000007").await;
    }
}

/// What is held for chats is not there for the operator to take either.
#[tokio::test(start_paused = true)]
async fn what_is_promised_to_a_chat_cannot_be_debited() {
    use errand::app::accounts;
    use errand::domain::money::Amount;
    let (house, _) = house(begun(&["Hi"], Step::Hang)).await;
    let body = ask(MODEL, &json!({ "stream": true }));
    let mut connection = house.client().begin("POST", CHATS, &body).await;
    connection.read_until("Hi").await;
    let app = house.daemon().app();
    let debit = async |text: &str| {
        accounts::credit(app, house.account, Amount::parse(text).unwrap(), "").await.is_ok()
    };
    assert!(!debit("-10").await);
    assert!(!debit("-9.997915001").await);
    assert!(debit("-9.997915").await);
    assert_eq!(house.money().await, ("0.002085".into(), "0.002085".into(), "0".into()));
    connection.hang_up();
    house.settle().await;
    assert_eq!(house.money().await, ("0.002074".into(), "0".into(), "0.002074".into()));
    house.examine().await;
}

/// A daemon that dies in the middle of a chat has charged nothing for it.
#[test]
fn holds_of_chats_do_not_outlive_the_daemon() {
    let mut lives = Lives::new(1, |_| {});
    let connection = lives.live(async |house| {
        house.config.chat.models = vec![Plan::priced(MODEL, &[HOST]).settings()];
        Upstream::at(&house.internet, HOST, begun(&["Hi"], Step::Hang));
        house.restart().await;
        let body = ask(MODEL, &json!({ "stream": true }));
        let mut connection = house.client().begin("POST", CHATS, &body).await;
        connection.read_until("Hi").await;
        assert_eq!(house.money().await.1, "0.002085");
        connection
    });
    lives.kill();
    drop(connection);
    lives.live(async |house| check_nothing_charged(house).await);
}
