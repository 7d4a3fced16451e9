//! Clients that chat, and what they were told that it cost.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use errand::domain::money::Amount;
use serde_json::{Value, json};

use crate::daemon::Daemon;
use crate::upstream::{MODEL, TOKENS_MAX};

/// Clients at work.
pub(crate) struct Chats(Vec<JoinHandle<Vec<(Amount, Fate)>>>);

/// What every client knows of every chat, by its price, which no two of them share.
#[derive(Default)]
pub(crate) struct Told(BTreeMap<Amount, Fate>);

/// What a client knows of a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It has the whole answer, with its cost.
    Answered,
    /// It was told that nothing was done.
    Refused,
    /// It has some of the answer, or nothing.
    Cut,
}

/// What became of all chats, in numbers.
pub(crate) struct Found {
    answered: usize,
    cut: usize,
    cut_and_paid: usize,
}

/// Clients at the same time.
const CLIENTS: u32 = 3;
/// Prices of each client in each round.
const PRICES: u32 = 1_500;

impl Chats {
    /// Begins to chat, until the daemon does not answer any more.
    pub(crate) fn start(daemon: &Daemon, round: u32) -> Self {
        let clients = (0..CLIENTS).map(|client| {
            let (to, key) = (daemon.address, daemon.key.clone());
            let first = (round * CLIENTS + client) * PRICES + 1;
            thread::spawn(move || work(to, &key, first))
        });
        Self(clients.collect())
    }

    /// Waits for the clients and takes what they know.
    pub(crate) fn join(self, told: &mut Told) {
        for client in self.0 {
            told.0.extend(client.join().unwrap());
        }
    }
}

fn work(to: SocketAddr, key: &str, first: u32) -> Vec<(Amount, Fate)> {
    let mut fates = Vec::new();
    for tokens in first..first + PRICES {
        // A billionth of the currency for a token.
        let price = Amount::from_nanos(i64::from(tokens));
        let fate = chat(to, key, tokens, price);
        fates.push((price, fate));
        if fate == Fate::Cut {
            break;
        }
    }
    fates
}

/// One chat, every other one streamed.
fn chat(to: SocketAddr, key: &str, tokens: u32, price: Amount) -> Fate {
    let streams = tokens.is_multiple_of(2);
    let body = json!({
        "model": MODEL, "stream": streams, "max_tokens": TOKENS_MAX,
        "messages": [{ "role": "user", "content": tokens.to_string() }],
    });
    let Some(answer) = ask(to, key, &body.to_string()) else { return Fate::Cut };
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return Fate::Cut };
    let is_success = head.starts_with("HTTP/1.1 200 ");
    assert!(is_success || head.starts_with("HTTP/1.1 503 "), "{answer}");
    let is_whole = match head.lines().find_map(|it| it.strip_prefix("content-length: ")) {
        Some(length) => length.parse() == Ok(body.len()),
        None => body.contains("data: [DONE]\n\n"),
    };
    match (is_success, is_whole) {
        (_, false) => Fate::Cut,
        (false, true) => Fate::Refused,
        (true, true) => {
            assert!(body.contains(&format!("\"cost\":\"{price}\"")), "{answer}");
            Fate::Answered
        }
    }
}

/// All that comes back; `None` when the connection cannot be made.
fn ask(to: SocketAddr, key: &str, body: &str) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&to, Duration::from_secs(5)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
    let length = body.len();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {to}\r\nauthorization: Bearer {key}\r\n\
         connection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
    let mut raw = Vec::new();
    // What came before the connection broke is looked at too.
    let _ = stream.read_to_end(&mut raw);
    Some(String::from_utf8_lossy(&raw).into_owned())
}

impl Told {
    /// Compares what clients know with the ledger, whose pages `page` reads, newest first.
    pub(crate) fn check(&self, balance: &Value, page: impl Fn(Option<u64>) -> Value) -> Found {
        let (mut charges, mut sum, mut before) = (BTreeMap::new(), Amount::ZERO, None);
        loop {
            let found = page(before);
            let entries = found["data"].as_array().unwrap();
            for entry in entries {
                before = entry["seq"].as_u64();
                let amount = Amount::parse(entry["amount"].as_str().unwrap()).unwrap();
                sum = sum.plus(amount).unwrap();
                if entry["kind"] == "chat" {
                    let price = Amount::ZERO.minus(amount).unwrap();
                    assert_eq!(charges.insert(price, entry.clone()), None, "charged twice");
                }
            }
            if before.is_none_or(|it| it <= 1) || entries.is_empty() {
                break;
            }
        }
        assert_eq!(balance["balance"], sum.to_string(), "the ledger does not add up");
        assert_eq!(balance["held"], "0");
        for (price, fate) in &self.0 {
            match fate {
                Fate::Answered => {
                    assert!(
                        charges.remove(price).is_some(),
                        "{price} was answered and not charged"
                    );
                }
                Fate::Refused => {
                    assert_eq!(charges.remove(price), None, "{price} was refused and charged");
                }
                Fate::Cut => {}
            }
        }
        let count = |fate| self.0.values().filter(|it| **it == fate).count();
        let found = Found {
            answered: count(Fate::Answered),
            cut: count(Fate::Cut),
            cut_and_paid: charges.len(),
        };
        // The answer to a charge can die with the daemon: at most one of each cut chat.
        for price in charges.keys() {
            let fate = self.0.get(price);
            assert_eq!(fate, Some(&Fate::Cut), "{price} was charged for nothing");
        }
        assert!(found.cut_and_paid <= found.cut, "{found}");
        assert!(found.answered > 10, "{found}");
        found
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { answered, cut, cut_and_paid } = self;
        write!(f, "{answered} chats answered and charged, {cut} cut, {cut_and_paid} of those paid")
    }
}
