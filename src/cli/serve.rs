//! `errand serve`: the daemon for customers.

use std::net::SocketAddr;
use std::path::Path;

use crate::app::{accounts, keys};
use crate::cli::args::ServeArgs;
use crate::cli::command::Here;
use crate::cli::dev_file;
use crate::cli::exit::{Exit, Failure};
use crate::cli::foreground::{Foreground, hold, ready_line};
use crate::cli::notify::Notifier;
use crate::cli::signals::Signals;
use crate::config::{Config, Loaded, Mode};
use crate::sys::clock::Clock;

/// Runs the daemon until a signal ends it.
pub(super) async fn run(here: &Here, args: &ServeArgs) -> Result<(), Failure> {
    let loaded = here.load_as(Mode::Serve, None, &args.listen)?;
    let config = &loaded.config;
    let inside = if args.allow_private_targets { Inside::Allowed } else { Inside::Refused };
    check_targets(config, inside)?;
    let mut signals = Signals::listen().map_err(|it| Failure::new(Exit::Failed, it.to_string()))?;
    let notifier = Notifier::of(&here.environment);
    let dir = hold(&config.data.dir)?;
    let wanted = if args.adopt_dev { DevData::Adopt } else { DevData::Refuse };
    let adopted = adopt(dir.path(), wanted)?;
    let clock = Clock::host();
    let foreground = tokio::select! {
        started = Foreground::start(config, dir) => started?,
        () = signals.end_or(|| ()) => return Ok(()),
        () = notifier.while_starting(&clock) => return Ok(()),
    };
    // Whoever closed the output does not want to read it; the daemon is wanted all the same.
    let _ = banner(here, &loaded, &foreground, adopted);
    notifier.ready(&format!("answering at {}", foreground.base_url()));
    let _ = here.out.line(ready_line(here.begun));
    tokio::select! {
        () = signals.end_or(|| foreground.read_again()) => {}
        () = notifier.keep_alive(foreground.daemon().app()) => {}
    }
    notifier.stopping();
    let _ = here.out.line("stopping; once more to stop at once");
    foreground.stop(config, &mut signals).await;
    Ok(())
}

/// Whether the operator says at the start that customers may reach networks inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    /// They may.
    Allowed,
    /// They may not.
    Refused,
}

/// Refuses to open networks inside because of a line in a file alone.
///
/// Source: the contract, sections 8 and 13.
fn check_targets(config: &Config, inside: Inside) -> Result<(), Failure> {
    if inside == Inside::Allowed || config.outbound.allow.is_empty() {
        return Ok(());
    }
    let what = "outbound.allow lets every customer's agents and webhooks into networks inside";
    Err(Failure::new(Exit::BadConfig, what)
        .then("if that is meant, start with: errand serve --allow-private-targets"))
}

/// What becomes of a developer's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DevData {
    /// It is not served.
    Refuse,
    /// It becomes the data of this daemon.
    Adopt,
}

/// Whether a developer's data was taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Adopted {
    Yes,
    No,
}

/// Refuses the data of `errand dev`, unless it shall be taken over.
fn adopt(dir: &Path, wanted: DevData) -> Result<Adopted, Failure> {
    let marker = dev_file::path(dir);
    if !marker.exists() {
        return Ok(Adopted::No);
    }
    if wanted == DevData::Refuse {
        let what = format!("{} was made by `errand dev`", dir.display());
        return Err(Failure::new(Exit::Conflict, what).then(
            "its key stands in a file and its balance is play money: choose another directory, \
             or take it over with --adopt-dev",
        ));
    }
    std::fs::remove_file(&marker).map_err(|error| {
        Failure::new(Exit::Failed, format!("{} could not be removed: {error}", marker.display()))
    })?;
    Ok(Adopted::Yes)
}

fn banner(
    here: &Here,
    loaded: &Loaded,
    foreground: &Foreground,
    adopted: Adopted,
) -> Result<(), Failure> {
    let (config, out, app) = (&loaded.config, &here.out, foreground.daemon().app());
    out.line(out.strong(&format!("errand {}", env!("CARGO_PKG_VERSION"))))?;
    let news = if foreground.is_new() { " (new)" } else { "" };
    let none = || "none; `errand config init` prints one to begin with".to_owned();
    let mut facts = vec![
        ("API", addresses(foreground)),
        ("data", format!("{}{news}", foreground.dir().display())),
        ("settings", loaded.file.as_ref().map_or_else(none, |it| it.display().to_string())),
        ("workers", workers(config)),
        ("agents", agents(config, foreground)),
        ("models", models(foreground)),
    ];
    if let Some(address) = foreground.metrics() {
        facts.push(("counters", format!("http://{address}/metrics")));
    }
    let wanting = if accounts::list(app)?.is_empty() {
        Some("nobody has an account: errand account create --name NAME")
    } else if keys::list(app, None).iter().all(|it| it.revoked_at.is_some()) {
        Some("nobody has a key: errand key create --account ID --name NAME")
    } else {
        None
    };
    facts.extend(wanting.map(|it| ("next", it.to_owned() + &here.same_data())));
    if adopted == Adopted::Yes {
        facts.push((
            "note",
            "dev.json was removed; its key still works: errand key list".to_owned()
                + &here.same_data(),
        ));
    }
    if !config.outbound.allow.is_empty() {
        let networks: Vec<String> = config.outbound.allow.iter().map(ToString::to_string).collect();
        let warning = format!("agents and webhooks of customers reach {}", networks.join(", "));
        tracing::warn!("{warning}");
        facts.push(("WARNING", warning));
    }
    if let Some(warning) = exposure(config, foreground.addresses()) {
        facts.push(("WARNING", warning));
    }
    out.facts(&facts)
}

fn addresses(foreground: &Foreground) -> String {
    let base = foreground.base_url();
    let more: Vec<String> =
        foreground.addresses().iter().skip(1).map(ToString::to_string).collect();
    if more.is_empty() { base } else { format!("{base} and at {}", more.join(", ")) }
}

fn workers(config: &Config) -> String {
    match config.queue.workers {
        0 => "none: runs are accepted and wait".to_owned(),
        all => format!("{all}, at most {} for one account", config.queue.account_workers),
    }
}

/// The kinds and their prices.
pub(super) fn agents(config: &Config, foreground: &Foreground) -> String {
    let currency = config.billing.currency;
    let priced = |kind: &str| match config.agents.prices.get(kind) {
        Some(price) => format!("{kind} ({price} {currency})"),
        None => format!("{kind} (no price: not offered)"),
    };
    let all = foreground.daemon().app().catalogue().entries().map(|it| priced(&it.kind));
    let all: Vec<String> = all.collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

/// The models, as many as one can take in.
pub(super) fn models(foreground: &Foreground) -> String {
    let all = foreground.daemon().models();
    let mut shown: Vec<&str> = all.iter().map(|it| it.id.as_str()).take(MODELS_SHOWN_MAX).collect();
    let more = all.len().saturating_sub(shown.len());
    let rest = format!("{more} more");
    if more > 0 {
        shown.push(&rest);
    }
    if shown.is_empty() {
        "none; `errand config init` shows some".to_owned()
    } else {
        shown.join(", ")
    }
}

/// What to say when strangers can listen in.
fn exposure(config: &Config, addresses: &[SocketAddr]) -> Option<String> {
    let open = addresses.iter().find(|it| !it.ip().is_loopback())?;
    if config.http.tls.is_some() || !config.http.edge.trusted_proxies.is_empty() {
        return None;
    }
    Some(format!(
        "keys travel in the clear to {open}: set tls.cert and tls.key,\n\
         or listen on loopback behind a proxy that speaks TLS"
    ))
}

/// Models that a banner lists by name.
const MODELS_SHOWN_MAX: usize = 12;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::domain::address::Network;
    use crate::inbound::TlsFiles;

    #[test]
    fn the_data_of_a_developer_is_taken_over_only_when_that_is_wanted() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(adopt(dir.path(), DevData::Refuse), Ok(Adopted::No));
        std::fs::write(dev_file::path(dir.path()), "{}").unwrap();
        assert_eq!(adopt(dir.path(), DevData::Refuse).unwrap_err().exit, Exit::Conflict);
        assert_eq!(adopt(dir.path(), DevData::Adopt), Ok(Adopted::Yes));
        assert_eq!(adopt(dir.path(), DevData::Refuse), Ok(Adopted::No));
    }

    #[test]
    fn networks_inside_are_opened_by_a_flag_at_the_start_and_not_by_a_file_alone() {
        let mut config = Config::serve(PathBuf::from("/data"));
        assert_eq!(check_targets(&config, Inside::Refused), Ok(()));
        config.outbound.allow = vec![Network::parse("10.0.0.0/8").unwrap()];
        assert_eq!(check_targets(&config, Inside::Refused).unwrap_err().exit, Exit::BadConfig);
        assert_eq!(check_targets(&config, Inside::Allowed), Ok(()));
    }

    #[test]
    fn whoever_lets_strangers_listen_in_is_warned() {
        let mut config = Config::serve(PathBuf::from("/data"));
        let local: SocketAddr = "127.0.0.1:1".parse().unwrap();
        let open: SocketAddr = "0.0.0.0:1".parse().unwrap();
        assert_eq!(exposure(&config, &[local]), None);
        assert!(exposure(&config, &[local, open]).is_some_and(|it| it.contains("0.0.0.0:1")));
        let files = || TlsFiles { cert: PathBuf::new(), key: PathBuf::new() };
        config.http.tls = Some(files());
        assert_eq!(exposure(&config, &[open]), None);
    }
}
