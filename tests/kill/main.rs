//! The real binary, killed with SIGKILL again and again while clients load it.
//!
//! An oracle outside the daemon notes what was acknowledged. After every death the daemon starts on
//! the same files; at the end each acknowledged run must be there, over, and paid once. What was
//! not acknowledged may be there or not, but never half. A receiver notes what it was sent: of each
//! run it was told, at most six times, always in the same words. Chats run beside all that: what was
//! answered with a cost is in the ledger once, and nothing else is.
//!
//! `ERRAND_KILLS` sets how often it is killed; the usual test run does it a few times.

#[cfg(test)]
mod chats;
#[cfg(test)]
mod daemon;
#[cfg(test)]
mod events;
#[cfg(test)]
mod http;
#[cfg(test)]
mod load;
#[cfg(test)]
mod receiver;
#[cfg(test)]
mod site;
#[cfg(test)]
mod upstream;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::mpsc;
    use std::time::Duration;

    use serde_json::Value;

    use crate::chats::{Chats, Told};
    use crate::daemon::{Daemon, offline};
    use crate::events::Connected;
    use crate::load::{Fate, Load};
    use crate::site::Site;
    use crate::upstream::Upstream;

    /// How often the daemon is killed when nobody says otherwise.
    const KILLS: u32 = 12;
    /// How long the last daemon gets to do what is left.
    const SETTLE_MAX: u32 = 1_200;

    #[test]
    fn no_kill_loses_doubles_or_overcharges_an_acknowledged_run() {
        #[expect(clippy::disallowed_methods, reason = "the one setting of this test")]
        let kills = std::env::var("ERRAND_KILLS").ok().and_then(|it| it.parse().ok());
        let kills = kills.unwrap_or(KILLS);
        let temp = tempfile::tempdir().unwrap();
        let data = temp.path().join("data");
        let site = Site::start();
        let upstream = Upstream::start();
        let (mut fates, mut told) = (BTreeMap::new(), Told::default());
        let first = Daemon::start(&data, &upstream);
        let connected = Connected::to(&first);
        first.kill();
        for round in 0..kills {
            let daemon = Daemon::start(&data, &upstream);
            let load = Load::start(&daemon, &site, round);
            let chats = Chats::start(&daemon, round);
            // Somewhere between the first requests and a busy daemon.
            pause(Duration::from_millis(20 + u64::from(round * 37 % 180)));
            daemon.kill();
            load.join(&mut fates);
            chats.join(&mut told);
        }
        let daemon = Daemon::start(&data, &upstream);
        settle(&daemon, &connected);
        let (runs, paid) = check(&daemon, &fates);
        let delivered = connected.check(&daemon, &runs);
        let account = daemon.account.clone();
        daemon.stop();
        let chats = told.check(&offline(&data, &["balance", "show", &account]), |before| {
            let before = before.map(|it| it.to_string());
            let mut words = vec!["balance", "ledger", account.as_str(), "--limit", "200"];
            words.extend(before.iter().flat_map(|it| ["--before", it.as_str()]));
            offline(&data, &words)
        });
        let verified = offline(&data, &["balance", "verify"]);
        assert_eq!(verified["ok"], true, "{verified}");
        let examined = offline(&data, &["doctor"]);
        assert_eq!(examined["ok"], true, "{examined}");
        let acknowledged = fates.values().filter(|it| **it != Fate::Unknown).count();
        assert!(acknowledged > 10, "only {acknowledged} runs were acknowledged");
        println!(
            "{kills} kills, {acknowledged} acknowledged runs, {paid} paid, {delivered} of {} events \
             delivered with {} requests, {chats}",
            runs.len(),
            connected.receiver.sends().values().map(Vec::len).sum::<usize>(),
        );
        assert!(delivered > 10, "only {delivered} events were delivered");
    }

    /// Waits without looking; nobody sends on this channel.
    fn pause(span: Duration) {
        let (_nobody, never) = mpsc::channel::<()>();
        assert!(never.recv_timeout(span).is_err());
    }

    /// Waits until no run and no delivery is under way.
    fn settle(daemon: &Daemon, connected: &Connected) {
        for _ in 0..SETTLE_MAX {
            let left: u64 = ["pending", "running"]
                .iter()
                .map(|it| daemon.get(&format!("/v1/agents/runs?status={it}&limit=1")))
                .map(|page| page["total"].as_u64().unwrap())
                .sum();
            if left == 0 && connected.open(daemon) == 0 {
                return;
            }
            pause(Duration::from_millis(100));
        }
        panic!("some runs or deliveries are not over after two minutes");
    }

    /// Compares every run with what the oracle knows; the runs by label, and how many were paid.
    fn check(daemon: &Daemon, fates: &BTreeMap<String, Fate>) -> (BTreeMap<String, Value>, u64) {
        let (mut found, mut before) = (BTreeMap::new(), String::new());
        loop {
            let page = daemon.get(&format!("/v1/agents/runs?limit=200{before}"));
            for run in page["data"].as_array().unwrap() {
                let label = run["external_id"].as_str().unwrap().to_owned();
                before = format!("&before={}", run["id"].as_str().unwrap());
                assert!(found.insert(label, run.clone()).is_none(), "two runs of one request");
            }
            if page["has_more"] == false {
                break;
            }
        }
        let mut paid = 0;
        for (label, run) in &found {
            let charged = is_sound(run);
            paid += u64::from(charged);
            assert!(fates.contains_key(label), "nobody asked for {label}");
            assert_ne!(fates[label], Fate::Deleted, "{label} was deleted and is there");
        }
        for (label, fate) in fates {
            let is_there = found.contains_key(label);
            match fate {
                Fate::Accepted => assert!(is_there, "{label} was accepted and is lost"),
                Fate::Deleted => assert!(!is_there, "{label} was deleted and is there"),
                Fate::MaybeDeleted | Fate::Unknown => {}
            }
        }
        (found, paid)
    }

    /// A run that is over says so in every field; whether it was paid.
    fn is_sound(run: &Value) -> bool {
        assert_eq!(run["cost_reserved"], "0", "{run}");
        assert!(run["finished_at"].is_string(), "{run}");
        match run["status"].as_str().unwrap() {
            "succeeded" => {
                assert!(run["output"].is_string() && run["error"].is_null(), "{run}");
                assert_ne!(run["cost"], "0", "{run}");
                true
            }
            "failed" => {
                assert_eq!((&run["cost"], &run["error"]), (&"0".into(), &"agent_failed".into()));
                false
            }
            other => panic!("{other}: {run}"),
        }
    }
}
