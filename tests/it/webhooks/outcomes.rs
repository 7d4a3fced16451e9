//! What receivers do to a connection, and what the log says of it.

use std::io;
use std::time::Duration;

use errand::outbound::ResolveError;
use errand::outbound::fake::Lookup;
use serde_json::{Value, json};

use super::hooks::{DEV_SECOND, check_all, connect, delete, house_with, only, run, settled};
use crate::support::{Act, House, Receiver};

/// The first attempt of a receiver that does `act`, then answers.
async fn first_attempt(act: Act) -> Value {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    receiver.first(&[act]);
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    check_all(&house, &[(&receiver, &hook)], 1, DEV_SECOND).await;
    only(&house, &hook).await["attempt_log"][0].clone()
}

/// Source: the contract, section 8, faults F14 to F24 and F52.
#[tokio::test(start_paused = true)]
async fn what_comes_back_is_named_by_one_reason_and_detail() {
    for (act, code, reason, detail) in [
        (Act::Reset, None, Some("connect_failed"), Some("reset")),
        (Act::Raw(""), None, Some("bad_response"), Some("closed_early")),
        (Act::Raw("HTTP/1.1 200 OK\r\n"), None, Some("bad_response"), Some("closed_early")),
        (Act::Raw("SSH-2.0-OpenSSH_9.6\r\n\r\n"), None, Some("bad_response"), Some("not_http")),
        (Act::Hang, None, Some("timeout"), Some("response")),
        (Act::Drip, None, Some("timeout"), Some("response")),
        (Act::Silence(204), Some(204), None, None),
        (Act::Silence(200), Some(200), None, None),
        (Act::Flood(200), Some(200), None, None),
        (Act::Flood(500), Some(500), Some("http_status"), None),
        (Act::Silence(500), Some(500), Some("http_status"), None),
        (Act::Early(202), Some(202), None, None),
        (Act::Raw("HTTP/1.1 103 X\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), Some(200), None, None),
    ] {
        let found = first_attempt(act).await;
        let expected = (json!(code), json!(reason), json!(detail));
        let found = ["http_code", "error_reason", "error_detail"].map(|it| found[it].clone());
        assert_eq!(found, [expected.0, expected.1, expected.2], "{act:?}");
    }
}

/// Source: the contract, section 8, faults F16 and F17: decided at the head, and quickly let go.
#[tokio::test(start_paused = true)]
async fn what_comes_after_the_head_of_a_2xx_delays_nothing() {
    for act in [Act::Silence(200), Act::Flood(200)] {
        let (house, receiver, hook) = house_with(act, |_| {}).await;
        let begun = house.clock.mark();
        run(&house, json!({})).await;
        settled(&house, &[&hook]).await;
        assert!(begun.elapsed() <= Duration::from_secs(2), "{act:?}: {:?}", begun.elapsed());
        house.clock.sleep(Duration::from_secs(3)).await;
        assert_eq!(receiver.count(), 1);
    }
}

/// Source: the contract, section 8, faults F12, F13 and F30.
#[tokio::test(start_paused = true)]
async fn a_connection_that_is_not_made_is_named_too() {
    let house = House::new().await;
    let fails = |it| vec![Lookup::Fails(it)];
    house.internet.names("nx.example", fails(ResolveError::NxDomain));
    house.internet.names("servfail.example", fails(ResolveError::ServerFailure));
    house.internet.names("empty.example", fails(ResolveError::NoAddress));
    house.internet.names("hangs.example", vec![Lookup::Hangs]);
    for (number, host) in ["refused", "hole", "unreachable"].iter().enumerate() {
        house.internet.name(&format!("{host}.example"), &format!("93.184.215.{}", 100 + number));
    }
    house.internet.hang("93.184.215.101:80");
    house.internet.fail("93.184.215.102:80", io::ErrorKind::HostUnreachable);
    let cases = [
        ("nx", "dns_failed", "nxdomain", 0),
        ("servfail", "dns_failed", "server_failure", 0),
        ("empty", "dns_failed", "no_address", 0),
        ("hangs", "dns_failed", "timeout", 3),
        ("refused", "connect_failed", "refused", 0),
        ("hole", "timeout", "connect", 5),
        ("unreachable", "connect_failed", "unreachable", 0),
    ];
    let mut hooks = Vec::new();
    for case in cases {
        hooks.push(connect(&house, &format!("http://{}.example/", case.0)).await);
    }
    run(&house, json!({})).await;
    for hook in &hooks {
        settled(&house, &[hook]).await;
    }
    for (hook, (host, reason, detail, seconds)) in hooks.iter().zip(cases) {
        let line = only(&house, hook).await;
        let found =
            (&line["status"], &line["attempts"], &line["error_reason"], &line["error_detail"]);
        assert_eq!(found, (&json!("failed"), &json!(6), &json!(reason), &json!(detail)), "{host}");
        assert_eq!(line["http_code"], json!(null));
        for attempt in line["attempt_log"].as_array().unwrap() {
            assert_eq!(attempt["duration_ms"].as_u64().unwrap() / 1000, seconds, "{host}");
        }
    }
    let nobody = Receiver::new(&house.clock, Act::Hang);
    let told: Vec<_> = hooks.iter().map(|it| (&nobody, it)).collect();
    check_all(&house, &told, 7, DEV_SECOND).await;
}

/// Source: the contract, section 8, fault F46: a host without sockets is no fault of the receiver.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_this_host_could_not_make_does_not_count() {
    let house = House::new().await;
    house.internet.name("a.example", "93.184.215.120");
    house.internet.fail("93.184.215.120:80", io::ErrorKind::AddrNotAvailable);
    let hook = connect(&house, "http://a.example/").await;
    run(&house, json!({})).await;
    house.clock.sleep(Duration::from_secs(60)).await;
    let line = only(&house, &hook).await;
    assert_eq!((&line["status"], &line["attempts"]), (&json!("pending"), &json!(0)), "{line}");
    let receiver =
        Receiver::new(&house.clock, Act::Answer(204)).plain(&house.internet, "a.example");
    settled(&house, &[&hook]).await;
    assert_eq!(receiver.seen()[0].attempt(), 1);
    check_all(&house, &[(&receiver, &hook)], 1, DEV_SECOND).await;
}

/// Source: service interface, "Webhook receivers": nothing is sent after it was disabled, also when
/// the attempt under way could not be made.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_could_not_be_made_is_not_repeated_for_a_disabled_receiver() {
    let house = House::new().await;
    // The first address takes its time, and for the second one there is no socket left.
    house.internet.name("a.example", "93.184.215.121 93.184.215.120");
    house.internet.hang("93.184.215.121:80");
    house.internet.fail("93.184.215.120:80", io::ErrorKind::AddrNotAvailable);
    let hook = connect(&house, "http://a.example/").await;
    run(&house, json!({})).await;
    house.clock.sleep(Duration::from_secs(2)).await;
    assert_eq!(house.internet.dialled().len(), 1);
    delete(&house, &hook).await;
    let receiver =
        Receiver::new(&house.clock, Act::Answer(204)).plain(&house.internet, "a.example");
    house.clock.sleep(Duration::from_secs(60)).await;
    assert_eq!((receiver.count(), house.internet.dialled().len()), (0, 2));
    let line = only(&house, &hook).await;
    assert_eq!((&line["status"], &line["attempts"]), (&json!("cancelled"), &json!(0)), "{line}");
    check_all(&house, &[(&receiver, &hook)], 1, DEV_SECOND).await;
}
