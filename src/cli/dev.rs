//! `errand dev`: the daemon for developing against.
//!
//! It listens on loopback only. A directory keeps its account, key and secret from start to start.

use std::net::{IpAddr, Ipv4Addr};

use crate::app::{App, accounts, auth, keys};
use crate::cli::args::DevArgs;
use crate::cli::command::Here;
use crate::cli::dev_file::{self, DevFile, Found};
use crate::cli::exit::{Exit, Failure};
use crate::cli::foreground::{Foreground, hold, ready_line};
use crate::cli::forward::{self, Forward};
use crate::cli::offline::Offline;
use crate::cli::reach::data_file;
use crate::cli::serve::{agents, models};
use crate::cli::signals::Signals;
use crate::cli::temporary::Temporary;
use crate::config::{Config, Mode};
use crate::domain::account::{Account, Right, Rights};
use crate::domain::money::{Amount, Currency};
use crate::domain::retry::Pauses;
use crate::domain::signature::SigningSecret;
use crate::store::DataDir;

/// Runs the daemon until a signal ends it.
pub(super) async fn run(here: &Here, args: &DevArgs) -> Result<(), Failure> {
    let mut config = here.load_as(Mode::Dev, None, &args.listen)?.config;
    check_loopback(&config)?;
    if args.real_retries {
        config.webhooks.rules.pauses = Pauses::Minutes;
    }
    let mut signals = Signals::listen().map_err(|it| Failure::new(Exit::Failed, it.to_string()))?;
    let temporary = args.ephemeral.then(|| Temporary::make(&here.environment)).transpose()?;
    if let Some(temporary) = &temporary {
        config.data.dir = temporary.path().to_owned();
    }
    let dir = check_origin(&config, hold(&config.data.dir)?).await?;
    let found = dev_file::read(dir.path());
    let foreground = tokio::select! {
        started = Foreground::start(&config, dir) => started?,
        () = signals.end() => return Ok(()),
    };
    let kept = if temporary.is_some() { "gone at the end" } else { "kept; --ephemeral forgets" };
    let told = welcome(here, &config, &foreground, (found, args), kept).await;
    let told = match told {
        Ok(forward) => {
            let shown = async {
                match forward {
                    Some(mut forward) => forward.show(&here.out).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = signals.end() => {}
                () = shown => {}
            }
            let _ = here.out.line("stopping; once more to stop at once");
            Ok(())
        }
        Err(failure) => Err(failure),
    };
    foreground.stop(&config, &mut signals).await;
    drop(temporary);
    told
}

/// Refuses addresses that others can reach: the key is in a file, and agents may go anywhere.
fn check_loopback(config: &Config) -> Result<(), Failure> {
    match config.http.listen.iter().find(|it| !it.ip().is_loopback()) {
        None => Ok(()),
        Some(open) => {
            let what = format!("`errand dev` listens on loopback only, not on {open}");
            Err(Failure::new(Exit::Usage, what)
                .then("use --listen 127.0.0.1:PORT; `errand serve` is for others to reach"))
        }
    }
}

/// Refuses the data of `errand serve`, whose agents must not reach this machine's network.
async fn check_origin(config: &Config, dir: DataDir) -> Result<DataDir, Failure> {
    if !data_file(dir.path()).exists() || dev_file::path(dir.path()).exists() {
        return Ok(dir);
    }
    let path = dir.path().to_owned();
    let offline = Offline::open(config, dir).await?;
    let all = accounts::list(offline.app())?;
    drop(offline);
    if all.is_empty() || all.iter().any(is_ours) {
        return hold(&path);
    }
    let what = format!("{} has the data of `errand serve`", path.display());
    Err(Failure::new(Exit::Conflict, what).then("choose another directory with --data-dir"))
}

fn is_ours(account: &Account) -> bool {
    account.name == ACCOUNT_NAME
}

/// Prepares the directory, writes `dev.json`, and tells what there is.
async fn welcome(
    here: &Here,
    config: &Config,
    foreground: &Foreground,
    (found, args): (Found, &DevArgs),
    kept: &str,
) -> Result<Option<Forward>, Failure> {
    let app = foreground.daemon().app();
    let mut notes = Vec::new();
    let account = account(app, &found, config.billing.currency).await?;
    let api_key = key(app, &account, &found, &mut notes).await?;
    let secret = secret(app, found);
    let caller = auth::authenticate(app, &api_key, HERE);
    let caller = caller.map_err(|_| Failure::new(Exit::Failed, "the new key opens nothing"))?;
    let forward = forward::prepare(app, &caller, &secret, args.forward_to.as_deref()).await?;
    let file = DevFile {
        base_url: foreground.base_url(),
        api_key,
        signing_secret: secret.reveal().to_owned(),
        account_id: account.id.to_string(),
        forward_to: forward.as_ref().map(|it| it.url.clone()),
    };
    dev_file::hide(foreground.dir());
    dev_file::write(foreground.dir(), &file).map_err(|error| {
        let path = dev_file::path(foreground.dir());
        Failure::new(Exit::Failed, format!("{} could not be written: {error}", path.display()))
    })?;
    // Whoever closed the output does not want to read it.
    let data = format!("{} ({kept})", foreground.dir().display());
    let mut facts = vec![("agents", agents(config, foreground)), ("models", models(foreground))];
    facts.extend(file.forward_to.as_ref().map(|it| ("forwards", format!("every event to {it}"))));
    let retries = match config.webhooks.rules.pauses {
        Pauses::Seconds => "after 1, 2, 4, 8 and 16 seconds; --real-retries waits minutes",
        Pauses::Minutes => "after 1, 2, 4, 8 and 16 minutes",
    };
    facts.push(("retries", retries.to_owned()));
    facts.push(("data", data));
    facts.extend(notes.into_iter().map(|it| ("note", it)));
    let _ = banner(here, foreground, &account, &file, facts);
    let _ = here.out.line(ready_line(here.begun));
    Ok(forward)
}

/// The account of the directory, with money in it from its first day.
async fn account(app: &App, found: &Found, currency: Currency) -> Result<Account, Failure> {
    let all = accounts::list(app)?;
    let named = match found {
        Found::File(file) => all.iter().find(|it| it.id.to_string() == file.account_id),
        Found::Nothing | Found::Damaged(_) => None,
    };
    let account = match named.or_else(|| all.iter().find(|it| is_ours(it))) {
        Some(account) => account.clone(),
        None => accounts::create(app, ACCOUNT_NAME, currency).await?,
    };
    if accounts::find(app, account.id)?.1.entries == 0 {
        accounts::credit(app, account.id, FIRST_CREDIT, "for developing").await?;
    }
    Ok(account)
}

/// The key of the directory: the one in the file when it opens everything, else a new one.
async fn key(
    app: &App,
    account: &Account,
    found: &Found,
    notes: &mut Vec<String>,
) -> Result<String, Failure> {
    let reason = match found {
        Found::Nothing => None,
        Found::Damaged(why) => Some(format!("dev.json could not be read ({why})")),
        Found::File(file) => match auth::authenticate(app, &file.api_key, HERE) {
            Ok(caller) if caller.account == account.id && caller.rights == all_rights() => {
                return Ok(file.api_key.clone());
            }
            Ok(_) => Some("the key in dev.json does not open everything".to_owned()),
            Err(auth::Denied::Revoked) => Some("the key in dev.json was revoked".to_owned()),
            Err(auth::Denied::Expired) => Some("the key in dev.json has expired".to_owned()),
            Err(auth::Denied::Origin) => {
                Some("the key in dev.json is not meant for this machine".to_owned())
            }
            Err(auth::Denied::Unknown) => {
                Some("the key in dev.json is not one of this data".to_owned())
            }
        },
    };
    notes.extend(reason.map(|it| format!("{it}: here is a new key")));
    let (key, _) = keys::create(app, account.id, ACCOUNT_NAME, all_rights(), None).await?;
    Ok(key.reveal().to_owned())
}

fn secret(app: &App, found: Found) -> SigningSecret {
    let kept = match found {
        Found::File(file) => SigningSecret::parse(&file.signing_secret),
        Found::Nothing | Found::Damaged(_) => None,
    };
    kept.unwrap_or_else(|| SigningSecret::new(app.entropy().bytes()))
}

fn all_rights() -> Rights {
    Right::ALL.into_iter().fold(Rights::NONE, Rights::with)
}

fn banner(
    here: &Here,
    foreground: &Foreground,
    account: &Account,
    file: &DevFile,
    facts: Vec<(&'static str, String)>,
) -> Result<(), Failure> {
    let out = &here.out;
    let (_, wallet) = accounts::find(foreground.daemon().app(), account.id)?;
    let title = format!("errand dev {} (not for customers)", env!("CARGO_PKG_VERSION"));
    out.line(out.strong(&title))?;
    let DevFile { base_url, api_key, account_id, signing_secret, .. } = file;
    let mut all = vec![
        ("base URL", base_url.clone()),
        ("key", api_key.clone()),
        ("secret", format!("{signing_secret} (signs what is forwarded)")),
        ("account", format!("{account_id} ({})", account.name)),
        ("balance", format!("{} {}", wallet.balance.available(), account.currency)),
    ];
    all.extend(facts);
    all.push(("try it", first_call(base_url, api_key)));
    out.facts(&all)
}

/// A command that makes a run, to be pasted into a shell.
fn first_call(base_url: &str, api_key: &str) -> String {
    format!(
        "curl {base_url}/agents/runs \\\n  -H 'Authorization: Bearer {api_key}' \\\n  \
         -H 'Content-Type: application/json' \\\n  \
         -d '{{\"kind\":\"seo_audit\",\"input\":{{\"url\":\"https://example.org/\"}}}}'"
    )
}

const ACCOUNT_NAME: &str = "dev";
/// Where the developer's own requests come from.
const HERE: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
/// 1000 units: what a new directory has.
const FIRST_CREDIT: Amount = Amount::from_nanos(1_000 * 1_000_000_000);
