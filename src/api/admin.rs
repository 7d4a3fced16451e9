//! The operator's own API, on the control socket: accounts, keys, balances, checks.
//!
//! It listens on a Unix socket that only the daemon's user can open, and asks the kernel who is at
//! the other end. There is no key for it, so there is none to lose.
//! Source: service interface, "Authentication", rule 3; the contract, section 3.

use serde_json::{Map, Value, json};

use crate::api::admin_view as shown;
use crate::api::error::Failure;
use crate::api::json::{self, Fields, required};
use crate::api::{admin_keys, admin_ledger, admin_schedules, health, view};
use crate::app::operations::finish;
use crate::app::{App, Error, InputProblem, accounts, upkeep};
use crate::domain::id::Id;
use crate::domain::limits::BODY_BYTES_MAX;
use crate::domain::money::{Amount, Currency};
use crate::inbound::{BoxFuture, Method, Peer, Request, Response, Service};

/// The operator's API of one daemon; cheap to clone.
#[derive(Clone)]
pub struct Admin {
    app: App,
    about: About,
}

/// What the daemon says of itself.
#[derive(Clone, Debug)]
pub struct About {
    /// Its data directory, as text.
    pub data_dir: String,
    /// `serve` or `dev`, or `offline` for a command that works on the file itself.
    pub mode: &'static str,
    /// The user as whom it runs; only this one and the superuser may ask.
    pub uid: u32,
}

impl Admin {
    /// The API over the operations.
    #[must_use]
    pub const fn new(app: App, about: About) -> Self {
        Self { app, about }
    }

    async fn respond(&self, request: Request) -> Response {
        let id = request.head.id;
        let answer = match request.head.peer {
            Peer::Local { uid } if uid == self.about.uid || uid == 0 => {
                // What was begun ends also when the command is interrupted.
                let admin = self.clone();
                finish(&self.app, async move { admin.call(request).await }).await
            }
            Peer::Local { .. } | Peer::Tcp(_) => Err(Failure::NoRoute),
        };
        answer.unwrap_or_else(|it| it.answer(&id))
    }

    async fn call(&self, request: Request) -> Result<Response, Failure> {
        let segments = request.head.segments().ok_or(Failure::BadPath)?;
        let path: Vec<&str> = segments.iter().map(String::as_str).collect();
        let app = &self.app;
        match (request.head.method, path.as_slice()) {
            (Method::Get, ["status"]) => self.status(),
            (Method::Get, ["accounts"]) => list_accounts(app),
            (Method::Get, ["accounts", id]) => show_account(app, id),
            (Method::Get, ["accounts", id, "ledger"]) => {
                admin_ledger::list(app, named(id)?, &request.head).await
            }
            (Method::Post, ["accounts"]) => create_account(app, body(request).await?).await,
            (Method::Post, ["accounts", id, "credit"]) => {
                credit(app, id, body(request).await?).await
            }
            (_, ["keys", ..]) => admin_keys::call(app, request, &path).await,
            (_, ["schedules", ..] | ["accounts", _, "schedules"]) => {
                admin_schedules::call(app, request, &path).await
            }
            (Method::Post, ["ledger", "verify"]) => verify_ledger(app).await,
            (Method::Post, ["doctor"]) => examine(app).await,
            _ => Err(Failure::NoRoute),
        }
    }

    fn status(&self) -> Result<Response, Failure> {
        let identity = upkeep::identity(&self.app)?;
        let census = upkeep::census(&self.app)?;
        let (ready, parts) = health::parts(&self.app);
        let status = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "pid": std::process::id(),
            "mode": self.about.mode,
            "data_dir": self.about.data_dir,
            "instance": {
                "id": identity.instance.to_string(),
                "name": identity.name,
                "created_at": identity.created_at.to_string(),
                "boot": identity.boot,
            },
            "ready": ready,
            "parts": parts,
            "started_at": self.app.started_at().to_string(),
            "accounts": census.accounts,
            "runs": { "pending": census.pending, "running": census.running },
        });
        Ok(view::json(200, &status))
    }
}

impl Service for Admin {
    fn answer(&self, request: Request) -> BoxFuture<'_, Response> {
        Box::pin(self.respond(request))
    }
}

fn list_accounts(app: &App) -> Result<Response, Failure> {
    let mut data = Vec::new();
    for account in accounts::list(app)? {
        let (account, wallet) = accounts::find(app, account.id)?;
        data.push(shown::account(&account, &wallet));
    }
    Ok(view::json(200, &json!({ "data": data })))
}

fn show_account(app: &App, id: &str) -> Result<Response, Failure> {
    let (account, wallet) = accounts::find(app, named(id)?)?;
    Ok(view::json(200, &shown::account(&account, &wallet)))
}

async fn create_account(app: &App, body: Map<String, Value>) -> Result<Response, Failure> {
    let mut fields = Fields::new(body);
    let name = required("name", fields.text("name")?)?;
    let currency = match fields.text("currency")? {
        None => app.prices().currency,
        Some(text) => Currency::parse(&text).ok_or_else(|| {
            field("currency", "must be three capital letters such as EUR, or CREDIT")
        })?,
    };
    fields.finish()?;
    let account = accounts::create(app, &name, currency).await?;
    let id = account.id.to_string();
    let created = json!({ "id": id, "name": account.name, "currency": currency.as_str() });
    Ok(view::json(201, &created))
}

async fn credit(app: &App, id: &str, body: Map<String, Value>) -> Result<Response, Failure> {
    let mut fields = Fields::new(body);
    let amount = required("amount", fields.text("amount")?)?;
    let amount = Amount::parse(&amount).map_err(|it| field("amount", &format!("is {it}")))?;
    let note = fields.text("note")?.unwrap_or_default();
    fields.finish()?;
    let (account, wallet) = accounts::credit(app, named(id)?, amount, &note).await?;
    Ok(view::json(200, &shown::balance(&account, &wallet)))
}

/// The body of a request.
pub(in crate::api) async fn body(request: Request) -> Result<Map<String, Value>, Failure> {
    let bytes = request.read(BODY_BYTES_MAX).await.map_err(Failure::Body)?;
    json::object(&bytes)
}

/// The id in a path; a malformed one is that of nothing.
pub(in crate::api) fn named<T>(id: &str) -> Result<Id<T>, Failure> {
    Id::parse(id).ok_or(Failure::App(Error::NotFound))
}

/// A field that cannot be used.
pub(in crate::api) fn field(param: &str, problem: &str) -> Failure {
    let problem = InputProblem::Value(problem.to_owned());
    Failure::Field { param: param.to_owned(), problem }
}

async fn verify_ledger(app: &App) -> Result<Response, Failure> {
    let sums = upkeep::verify_ledger(app).await?;
    let shown = json!({
        "ok": sums.fault_count == 0,
        "accounts": sums.accounts,
        "entries": sums.entries,
        "faults": sums.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    Ok(view::json(200, &shown))
}

async fn examine(app: &App) -> Result<Response, Failure> {
    let found = upkeep::examine(app).await?;
    let tables = found.tables.iter().map(|(name, rows)| json!({ "name": name, "rows": rows }));
    let listed = u64::try_from(found.problems.len()).unwrap_or(u64::MAX);
    let shown = json!({
        "ok": found.is_clean(),
        "tables": tables.collect::<Vec<_>>(),
        "problems": found.problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "more": found.problem_count.saturating_sub(listed),
    });
    Ok(view::json(200, &shown))
}
