//! Clients that ask for runs, delete and cancel some, and note what they were told.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};

use crate::daemon::Daemon;
use crate::http;
use crate::site::Site;

/// What a client knows of a run that it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was told that the run is accepted.
    Accepted,
    /// It was told that the run is deleted.
    Deleted,
    /// It asked for the deletion and was told nothing.
    MaybeDeleted,
    /// It was told nothing at all.
    Unknown,
}

/// Clients at work.
pub(crate) struct Load(Vec<JoinHandle<Vec<(String, Fate)>>>);

/// Clients at the same time.
const CLIENTS: u32 = 4;

impl Load {
    /// Begins to ask, until the daemon does not answer any more.
    pub(crate) fn start(daemon: &Daemon, site: &Site, round: u32) -> Self {
        let clients = (0..CLIENTS).map(|client| {
            let (to, key, url) = (daemon.address, daemon.key.clone(), site.url());
            let name = format!("{round}-{client}");
            thread::spawn(move || work(to, &key, &url, &name))
        });
        Self(clients.collect())
    }

    /// Waits for the clients and takes what they know.
    pub(crate) fn join(self, fates: &mut BTreeMap<String, Fate>) {
        for client in self.0 {
            fates.extend(client.join().unwrap());
        }
    }
}

fn work(to: SocketAddr, key: &str, url: &str, name: &str) -> Vec<(String, Fate)> {
    let mut fates = Vec::new();
    for number in 0.. {
        let label = format!("{name}-{number}");
        let body = json!({ "kind": "seo_audit", "input": { "url": url }, "external_id": label });
        let answer = http::ask(to, key, "POST", "/v1/agents/runs", &body.to_string());
        let id = match answer {
            Ok((201, body)) => {
                let run: Value = serde_json::from_str(&body).unwrap();
                run["id"].as_str().unwrap().to_owned()
            }
            // Full for the moment; it was told that nothing was done.
            Ok((429 | 503, _)) => continue,
            Ok((status, body)) => panic!("{status}: {body}"),
            Err(_) => {
                fates.push((label, Fate::Unknown));
                return fates;
            }
        };
        let path = format!("/v1/agents/runs/{id}");
        let (fate, is_gone) = match number % 7 {
            3 => match http::ask(to, key, "DELETE", &path, "") {
                Ok((204, _)) => (Fate::Deleted, false),
                Ok((status, body)) => panic!("{status}: {body}"),
                Err(_) => (Fate::MaybeDeleted, true),
            },
            5 => match http::ask(to, key, "POST", &format!("{path}/cancel"), "") {
                Ok((202 | 409, _)) => (Fate::Accepted, false),
                Ok((status, body)) => panic!("{status}: {body}"),
                Err(_) => (Fate::Accepted, true),
            },
            _ => (Fate::Accepted, false),
        };
        fates.push((label, fate));
        if is_gone {
            return fates;
        }
    }
    fates
}
