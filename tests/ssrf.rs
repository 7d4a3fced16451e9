//! Every row of `vectors/ssrf.jsonl` comes out as it says, at creation and at send.
//!
//! The network is in memory: what the guard lets through arrives at a fake dialler, which keeps
//! a list. Whatever is refused must never be on it.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;

use bytes::Bytes;
use errand::delivery::{Post, Sender, StandardHeaders, Verdict, Vetted};
use errand::domain::fault::Reason;
use errand::domain::id::Id;
use errand::domain::receiver::{ReceiverUrl, UrlPolicy, UrlReason};
use errand::domain::signature::SigningSecret;
use errand::outbound::fake::{Internet, Lookup};
use errand::outbound::{
    Ask, Client, Error, Guard, GuardConfig, Method, ResolveError, TcpDialer, Trust,
};
use errand::sys::clock::Clock;
use errand::sys::metrics::Metrics;
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    id: String,
    kind: String,
    url: String,
    #[serde(default)]
    answers: Vec<IpAddr>,
    #[serde(default)]
    stage: String,
    expect: String,
    note: String,
}

fn rows() -> Vec<Row> {
    let text = include_str!("vectors/ssrf.jsonl");
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

struct World {
    internet: Internet,
    client: Client,
    metrics: Arc<Metrics>,
}

impl World {
    fn new() -> Self {
        Self::with(GuardConfig::public(&[443]))
    }

    fn with(config: GuardConfig) -> Self {
        let (internet, metrics) = (Internet::new(), Arc::new(Metrics::default()));
        let client = Client::new(
            Clock::host(),
            Guard::new(config),
            Arc::new(internet.clone()),
            Arc::new(internet.clone()),
            Trust::new(Clock::host(), b"").unwrap(),
            Arc::clone(&metrics),
        );
        Self { internet, client, metrics }
    }

    /// Sends to `url` and says how it ended, in the words of the rows.
    ///
    /// Nobody listens on this internet, so a dial that is refused means that the guard let it by.
    async fn send(&self, url: &ReceiverUrl) -> String {
        let ask = Ask { method: Method::Post, ..Ask::get(url.url().clone()) };
        match self.client.open(&ask).await {
            Err(error @ Error::Connect(_)) if error.detail() == Some("refused") => "allowed".into(),
            Err(error) => error.reason().into(),
            Ok(opened) => panic!("nobody answers here: {opened:?}"),
        }
    }

    async fn send_to(&self, url: &str) -> String {
        self.send(&ReceiverUrl::parse(url, UrlPolicy::Public).unwrap()).await
    }

    fn dialled(&self) -> Vec<SocketAddr> {
        self.internet.dialled()
    }
}

#[tokio::test]
async fn every_row_comes_out_as_it_says() {
    let mut wrong = Vec::new();
    for row in rows() {
        let found = match row.kind.as_str() {
            "url" => at_creation(&row),
            "dns" => with_answers(&row).await,
            other => panic!("{}: no such kind: {other}", row.id),
        };
        if found != row.expect {
            wrong.push(format!("{} ({}): {found}, not {}", row.id, row.note, row.expect));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn at_creation(row: &Row) -> String {
    let parsed = ReceiverUrl::parse(&row.url, UrlPolicy::Public);
    parsed.map_or_else(UrlReason::as_str, |_| "allowed").into()
}

async fn with_answers(row: &Row) -> String {
    let world = World::new();
    let Ok(url) = ReceiverUrl::parse(&row.url, UrlPolicy::Public) else {
        return at_creation(row);
    };
    world.internet.names(url.host(), vec![Lookup::Addresses(row.answers.clone())]);
    let found = match row.stage.as_str() {
        // A name that is not found yet is taken at creation, with a warning.
        "create" => match world.client.vet(url.url(), &Ask::get(url.url().clone()).limits).await {
            Ok(()) | Err(Error::Resolve(_)) => "allowed".into(),
            Err(error) => error.reason().into(),
        },
        _ => world.send(&url).await,
    };
    let dialled = world.dialled();
    assert!(dialled.len() <= 2, "{}: {dialled:?}", row.id);
    assert!(found == "allowed" || dialled.is_empty(), "{}: {dialled:?}", row.id);
    assert!(dialled.iter().all(|it| row.answers.contains(&it.ip())), "{}: {dialled:?}", row.id);
    found
}

#[tokio::test]
async fn an_address_that_is_refused_in_a_url_is_refused_as_an_answer() {
    for row in rows().iter().filter(|it| it.kind == "url" && it.expect == "address_not_allowed") {
        let url: url::Url = row.url.parse().unwrap();
        let answer = url.host_str().unwrap().trim_matches(['[', ']']).to_owned();
        let world = World::new();
        world.internet.name("a.example.org", &format!("93.184.216.34 {answer}"));
        assert_eq!(world.send_to("https://a.example.org/").await, row.expect, "{}", row.id);
        assert_eq!(world.dialled(), [], "{}", row.id);
        assert_eq!(world.metrics.outbound_forbidden.value(), 1);
    }
}

#[tokio::test]
async fn an_address_in_a_url_is_judged_again_at_send_and_never_looked_up() {
    for url in ["https://10.0.0.1/", "https://[::1]/", "https://169.254.169.254/"] {
        let world = World::new();
        // As a record that an older, laxer version let in.
        let kept = ReceiverUrl::parse(url, UrlPolicy::Development).unwrap();
        assert_eq!(world.send(&kept).await, "address_not_allowed", "{url}");
        assert_eq!(world.dialled(), []);
    }
    let world = World::new();
    assert_eq!(world.send_to("https://1.1.1.1/").await, "allowed");
    assert!(world.internet.asked().is_empty());
    assert_eq!(world.dialled(), ["1.1.1.1:443".parse().unwrap()]);
}

#[tokio::test]
async fn a_name_that_turns_from_public_to_loopback_between_two_look_ups_is_not_dialled() {
    let world = World::new();
    let lookups = ["93.184.216.34", "127.0.0.1", "93.184.216.34"].map(Lookup::of);
    world.internet.names("rebind.example.org", lookups.into());
    let url = ReceiverUrl::parse("https://rebind.example.org/", UrlPolicy::Public).unwrap();
    let limits = Ask::get(url.url().clone()).limits;
    assert_eq!(world.client.vet(url.url(), &limits).await, Ok(()));
    assert_eq!(world.send(&url).await, "address_not_allowed");
    assert_eq!(world.dialled(), []);
    assert_eq!(world.send(&url).await, "allowed");
    assert_eq!(world.dialled(), ["93.184.216.34:443".parse().unwrap()]);
}

#[tokio::test]
async fn a_thousand_sends_to_a_name_that_keeps_turning_never_leave_the_public_network() {
    let world = World::new();
    let turns = (0..1000).map(|it| {
        Lookup::of(match it % 3 {
            0 => "93.184.216.34",
            1 => "127.0.0.1",
            _ => "93.184.216.34 10.0.0.1",
        })
    });
    world.internet.names("turns.example.org", turns.collect());
    for _ in 0..1000 {
        let _ = world.send_to("https://turns.example.org/").await;
    }
    assert_eq!(world.dialled(), vec!["93.184.216.34:443".parse::<SocketAddr>().unwrap(); 334]);
    assert_eq!(world.metrics.outbound_requests.value(), 1000);
    assert_eq!(world.metrics.outbound_forbidden.value(), 666);
}

#[tokio::test]
async fn a_dialler_that_ends_up_elsewhere_is_not_spoken_to() {
    let world = World::new();
    world.internet.name("a.example.org", "93.184.216.34");
    world.internet.mislead("93.184.216.34:443", "127.0.0.1:443");
    assert_eq!(world.send_to("https://a.example.org/").await, "address_not_allowed");
    assert_eq!(world.metrics.outbound_forbidden.value(), 1);
}

#[tokio::test]
async fn only_the_guards_ports_are_dialled() {
    let world = World::new();
    for url in ["http://1.1.1.1/", "https://1.1.1.1:8443/", "http://1.1.1.1:22/"] {
        let found = world.client.exchange(&Ask::get(url.parse().unwrap())).await;
        assert_eq!(found.unwrap_err(), Error::Forbidden, "{url}");
    }
    assert_eq!(world.dialled(), []);
}

#[tokio::test]
async fn allowing_this_host_leaves_its_metadata_service_shut() {
    let world = World::with(GuardConfig::development());
    let send = async |url: &str| world.client.open(&Ask::get(url.parse().unwrap())).await;
    assert_eq!(send("http://169.254.169.254/").await.unwrap_err(), Error::Forbidden);
    assert_eq!(world.dialled(), []);
    let refused = send("http://127.0.0.1:3000/").await.unwrap_err();
    assert_eq!(refused.detail(), Some("refused"));
    assert_eq!(world.dialled(), ["127.0.0.1:3000".parse().unwrap()]);
}

#[tokio::test]
async fn urls_that_no_rule_made_are_refused_before_anything_is_looked_up() {
    let world = World::with(GuardConfig::default());
    for url in [
        "ftp://a.example.org/",
        "file:///etc/passwd",
        "data:text/plain,x",
        "https://user@a.example.org/",
        "https://:pw@a.example.org/",
        "https://a.example.org./",
        "http://a..example.org/",
    ] {
        let found = world.client.open(&Ask::get(url.parse().unwrap())).await;
        assert!(matches!(found, Err(Error::Url(_))), "{url}: {found:?}");
    }
    assert!(world.internet.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_look_up_that_hangs_ends_after_three_seconds() {
    let world = World::new();
    world.internet.names("slow.example.org", vec![Lookup::Hangs]);
    world.internet.names("broken.example.org", vec![Lookup::Fails(ResolveError::ServerFailure)]);
    let mark = Clock::host().mark();
    let url = "https://slow.example.org/".parse().unwrap();
    let found = world.client.open(&Ask::get(url)).await;
    assert_eq!(found.unwrap_err(), Error::Resolve(ResolveError::Timeout));
    assert_eq!(mark.elapsed().as_secs(), 3);
    assert_eq!(world.send_to("https://broken.example.org/").await, "dns_failed");
    assert_eq!(world.dialled(), []);
}

/// A listener of this host's own, and the way out that `errand serve` has: real sockets.
struct Canary {
    listener: TcpListener,
    internet: Internet,
    sender: Sender,
}

impl Canary {
    fn new(config: impl FnOnce(u16) -> GuardConfig) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let internet = Internet::new();
        let client = Client::new(
            Clock::host(),
            Guard::new(config(listener.local_addr().unwrap().port())),
            Arc::new(internet.clone()),
            Arc::new(TcpDialer),
            Trust::new(Clock::host(), b"").unwrap(),
            Arc::default(),
        );
        let sender =
            Sender::new(client, Clock::host(), UrlPolicy::Development, StandardHeaders::Sent);
        Self { listener, internet, sender }
    }

    fn url(&self, host: &str) -> String {
        format!("https://{host}:{}/", self.listener.local_addr().unwrap().port())
    }

    async fn vet(&self, host: &str) -> Vetted {
        let url = ReceiverUrl::parse(&self.url(host), UrlPolicy::Development).unwrap();
        self.sender.vet(&url).await
    }

    /// Sends an event to the listener's port at `host`; why it failed.
    async fn send(&self, host: &str) -> Reason {
        let secret = SigningSecret::new([7; 33]);
        let url = self.url(host);
        let post = Post {
            receiver: Id::from_bytes([1; 16]),
            url: &url,
            secret: &secret,
            event: Id::from_bytes([2; 16]),
            body: Bytes::from_static(b"{}"),
            attempt: 1,
        };
        match self.sender.send(&post).await.verdict {
            Verdict::Failed { fault, .. } => fault.reason,
            it @ (Verdict::Delivered { .. } | Verdict::NotSent) => panic!("{host}: {it:?}"),
        }
    }

    /// Whether somebody has connected. The kernel knows before the dialler does.
    fn sings(&self) -> bool {
        match self.listener.accept() {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Names that lead here, in every way that an answer can say so.
const HERE: [&str; 7] = [
    "127.0.0.1",
    "0.0.0.0",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "93.184.216.34 127.0.0.1",
    "127.0.0.1 93.184.216.34",
    "2606:4700::1111 127.0.0.1",
];

/// Source: the contract, section 13: a listener inside sees no connection.
#[tokio::test]
async fn a_listener_on_this_host_is_never_connected_to() {
    let canary = Canary::new(|port| GuardConfig::public(&[port]));
    for answer in HERE {
        canary.internet.name("a.example.org", answer);
        assert_eq!(canary.vet("a.example.org").await, Vetted::Forbidden, "{answer}");
        assert_eq!(canary.send("a.example.org").await, Reason::AddressNotAllowed, "{answer}");
        assert!(!canary.sings(), "{answer}");
    }
    for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"] {
        assert_eq!(canary.send(host).await, Reason::AddressNotAllowed, "{host}");
        assert!(!canary.sings(), "{host}");
    }
    // One that was public when it was connected.
    canary.internet.names("b.example.org", ["93.184.216.34", "127.0.0.1"].map(Lookup::of).into());
    assert_eq!(canary.vet("b.example.org").await, Vetted::Allowed);
    assert_eq!(canary.send("b.example.org").await, Reason::AddressNotAllowed);
    assert!(!canary.sings());
}

/// The canary can sing: the same listener is reached as soon as the guard allows it.
#[tokio::test]
async fn a_listener_on_this_host_is_connected_to_by_a_developer() {
    let canary = Canary::new(|_| GuardConfig::development());
    canary.internet.name("a.example.org", "127.0.0.1");
    assert_eq!(canary.vet("a.example.org").await, Vetted::Allowed);
    assert!(!canary.sings(), "it was connected to at creation");
    let send = canary.send("a.example.org");
    let hear = async {
        while !canary.sings() {
            tokio::task::yield_now().await;
        }
    };
    let (reason, ()) = tokio::join!(send, hear);
    // Whoever answers hangs up without a word of TLS.
    assert_eq!(reason, Reason::TlsFailed);
}
