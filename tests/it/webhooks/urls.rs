//! Which URLs can be receivers, when one is connected and again at every send.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use errand::config::Config;
use errand::domain::address::Network;
use errand::outbound::fake::Lookup;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use serde_json::json;
use tempfile::TempDir;
use tokio_rustls::TlsAcceptor;

use super::hooks::{HOOKS, SECOND, check_all, connect, house_with, log, only, run, serve, settled};
use crate::support::{Act, House, Receiver, golden};

const HOST: &str = "hooks.example.org";
const PUBLIC: &str = "93.184.215.77";

/// A house as of `errand serve`, and a receiver at [`PUBLIC`] with a certificate for `name`.
async fn tls_house(name: &str, act: Act) -> (House, Receiver, TempDir) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let pem = authority.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(authority, key);
    let mut leaf = CertificateParams::new(vec![name.to_owned()]).unwrap();
    (leaf.not_before, leaf.not_after) = (date_time_ymd(2025, 1, 1), date_time_ymd(2027, 1, 1));
    let key = KeyPair::generate().unwrap();
    let chain = vec![leaf.signed_by(&key, &issuer).unwrap().der().clone()];
    let private = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
    let config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, private.into())
            .unwrap();

    let folder = TempDir::new().unwrap();
    let roots = folder.path().join("roots.pem");
    fs::write(&roots, pem).unwrap();
    let house = House::with(1, |it: &mut Config| {
        serve(it);
        it.outbound.extra_roots = Some(roots);
    })
    .await;
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let address = format!("{PUBLIC}:443");
    let receiver = Receiver::new(&house.clock, act).tls(&house.internet, &address, acceptor);
    (house, receiver, folder)
}

/// Source: service interface, "Events", rule 3; the contract, section 8: the first reason.
#[tokio::test(start_paused = true)]
async fn a_url_that_breaks_a_rule_is_refused_with_the_first_reason() {
    let house = House::with(1, serve).await;
    house.internet.name("inside.example", "10.0.0.1");
    house.internet.name("mixed.example", "93.184.215.77 127.0.0.1");
    for (url, reason) in [
        ("hooks.example", "url_invalid"),
        ("https://a.example/\u{7f}", "url_invalid"),
        ("http://a.example/", "url_scheme"),
        ("https://user:password@a.example/", "url_credentials"),
        ("https://@a.example/", "url_credentials"),
        ("https://a.example/#", "url_fragment"),
        ("https://a.example:8443/", "url_port"),
        ("https://localhost/", "url_host"),
        ("https://2130706433/", "url_host"),
        ("https://127.0.0.1/", "address_not_allowed"),
        ("https://[::ffff:10.0.0.1]/", "address_not_allowed"),
        ("https://169.254.169.254/latest", "address_not_allowed"),
        ("https://inside.example/", "address_not_allowed"),
        ("https://mixed.example/", "address_not_allowed"),
    ] {
        let reply = house.ask("POST", HOOKS, Some(json!({ "url": url }))).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_receiver_url"), "{url}");
        assert_eq!(reply.json()["error"]["details"]["reason"], reason, "{url}");
    }
    assert_eq!(house.ask("GET", HOOKS, None).await.json()["total"], 0);
    assert!(house.internet.dialled().is_empty());
    house.examine().await;
}

/// Source: the contract, section 8: creation never fails because DNS does, and sends nothing.
#[tokio::test(start_paused = true)]
async fn a_name_without_an_address_is_connected_with_a_warning() {
    let house = House::with(1, serve).await;
    house.internet.names("slow.example", vec![Lookup::Hangs]);
    for host in ["nowhere.example", "slow.example"] {
        let begun = house.clock.mark();
        let body = json!({ "url": format!("https://{host}/") });
        let reply = house.ask("POST", HOOKS, Some(body)).await;
        assert_eq!((reply.status, &reply.json()["warning"]), (201, &json!("dns_unresolved")));
        assert!(begun.elapsed() <= Duration::from_secs(3), "{:?}", begun.elapsed());
    }
    assert!(house.internet.dialled().is_empty());
}

/// Source: service interface, "Events", rule 3: TLS is verified, and the connection goes to the
/// address that was looked up for this send.
#[tokio::test(start_paused = true)]
async fn an_event_arrives_over_tls_with_a_trusted_certificate() {
    let (house, receiver, _roots) = tls_house(HOST, Act::Answer(204)).await;
    house.internet.name(HOST, PUBLIC);
    let hook = connect(&house, "https://Hooks.Example.org:443/in?b=1").await;
    run(&house, json!({ "say": "sealed" })).await;
    settled(&house, &[&hook]).await;
    assert_eq!(only(&house, &hook).await["status"], "delivered");
    let request = receiver.seen().remove(0);
    assert!(request.head.starts_with("POST /in?b=1 HTTP/1.1\r\n"), "{}", request.head);
    assert_eq!(request.header("host"), HOST);
    let reply = house.ask("POST", &format!("{}/test", hook.path()), None).await;
    golden("webhooks/test-ok.txt", &crate::support::shown(&reply));
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// Source: service interface, "Events", rule 3.
#[tokio::test(start_paused = true)]
async fn a_certificate_of_another_name_is_refused_and_nothing_is_sent() {
    let (house, receiver, _roots) = tls_house("other.example.org", Act::Answer(204)).await;
    house.internet.name(HOST, PUBLIC);
    let hook = connect(&house, &format!("https://{HOST}/")).await;
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    let line = only(&house, &hook).await;
    assert_eq!(
        (&line["error_reason"], &line["error_detail"]),
        (&json!("tls_failed"), &json!("cert_name_mismatch"))
    );
    assert_eq!((receiver.count(), &line["status"]), (0, &json!("failed")));
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// Source: service interface, "Events", rule 3: DNS is checked at every send; the contract, section 8,
/// situations R1 and R2.
#[tokio::test(start_paused = true)]
async fn a_name_that_turns_inwards_is_refused_at_that_send_and_counts() {
    let (house, receiver, _roots) = tls_house(HOST, Act::Answer(204)).await;
    let answers = [PUBLIC, "127.0.0.1", "93.184.215.77 10.0.0.1", "::1", PUBLIC].map(Lookup::of);
    house.internet.names(HOST, answers.to_vec());
    let hook = connect(&house, &format!("https://{HOST}/")).await;
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    let line = only(&house, &hook).await;
    assert_eq!((&line["status"], &line["attempts"]), (&json!("delivered"), &json!(4)));
    for attempt in &line["attempt_log"].as_array().unwrap()[..3] {
        assert_eq!(attempt["error_reason"], "address_not_allowed");
    }
    let dialled: Vec<_> = house.internet.dialled().iter().map(ToString::to_string).collect();
    assert_eq!(dialled, [format!("{PUBLIC}:443")]);
    assert_eq!(receiver.seen()[0].attempt(), 4);
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// Source: service interface, "Events", rule 3: a URL that was taken under looser rules is judged
/// again.
#[tokio::test(start_paused = true)]
async fn a_receiver_of_a_development_daemon_is_not_sent_to_by_one_that_serves() {
    let (mut house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    house.stop().await;
    serve(&mut house.config);
    house.start().await;
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    let line = only(&house, &hook).await;
    assert_eq!(
        (&line["status"], &line["error_reason"]),
        (&json!("failed"), &json!("address_not_allowed"))
    );
    assert_eq!(receiver.count(), 0);
    check_all(&house, &[(&receiver, &hook)], 1, SECOND).await;
}

/// Source: service interface, "Events", rule 3: redirects are not followed.
#[tokio::test(start_paused = true)]
async fn nothing_follows_a_redirect() {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    let inside = Receiver::new(&house.clock, Act::Answer(204)).plain(&house.internet, "b.example");
    let acts = [
        "HTTP/1.1 301 X\r\nLocation: http://b.example/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 303 X\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 307 X\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 308 X\r\nRefresh: 0;url=http://b.example/\r\nContent-Length: 0\r\n\r\n",
    ];
    receiver.first(&acts.map(Act::Raw));
    run(&house, json!({})).await;
    settled(&house, &[&hook]).await;
    assert_eq!((receiver.count(), inside.count()), (5, 0));
    let line = &log(&house, &hook).await[0];
    for attempt in &line["attempt_log"].as_array().unwrap()[..4] {
        assert_eq!(
            (&attempt["error_reason"], &attempt["error_detail"]),
            (&json!("http_status"), &json!("redirect"))
        );
    }
    assert!(receiver.seen().iter().all(|it| it.head.starts_with("POST /hook ")));
}

/// Source: the contract, section 8: an address behind the operator's own NAT64 is judged by the
/// one that it leads to, when a receiver is connected and at every send.
#[tokio::test(start_paused = true)]
async fn an_address_behind_the_operators_own_nat64_is_judged_by_what_it_leads_to() {
    const PREFIX: &str = "2a00:1098:2b:0:0:1::/96";
    const INSIDE: &str = "2a00:1098:2b:0:0:1:a00:1";
    const OUTSIDE: &str = "2a00:1098:2b:0:0:1:5db8:d74d";
    for (prefix, status, dialled) in [("", 201, 2), (PREFIX, 400, 1)] {
        let house = House::with(1, |it| {
            serve(it);
            it.outbound.nat64 =
                prefix.split_whitespace().map(|it| Network::parse(it).unwrap()).collect();
        })
        .await;
        house.internet.name("inside.example", INSIDE);
        house.internet.name("outside.example", OUTSIDE);
        let body = json!({ "url": "https://inside.example/" });
        let reply = house.ask("POST", HOOKS, Some(body)).await;
        assert_eq!(reply.status, status, "{prefix}: {}", reply.raw);
        if status == 400 {
            assert_eq!(reply.json()["error"]["details"]["reason"], "address_not_allowed");
        }
        connect(&house, "https://outside.example/").await;
        // One that turns inwards after it was connected is not dialled either.
        house.internet.name("turns.example", PUBLIC);
        let turned = connect(&house, "https://turns.example/").await;
        house.internet.name("turns.example", INSIDE);
        run(&house, json!({})).await;
        house.clock.sleep(Duration::from_secs(61)).await;
        let reason = log(&house, &turned).await[0]["error_reason"].clone();
        let expected = if prefix.is_empty() { "connect_failed" } else { "address_not_allowed" };
        assert_eq!(reason, expected, "{prefix}");
        let mut found = house.internet.dialled();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), dialled, "{prefix}: {found:?}");
        house.examine().await;
    }
}
