//! Asks the public API as a client does: at a base URL, with a key.
//!
//! Both come from flags, else from variables, else from the `dev.json` of `errand dev`. The key
//! is never printed.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clap::Args;
use serde_json::Value;
use url::Url;

use crate::cli::client::Answer;
use crate::cli::command::Here;
use crate::cli::dev_file::{self, DevFile, Found};
use crate::cli::exit::{Exit, Failure};
use crate::cli::input;
use crate::config::{API_KEY_VARIABLE, BASE_URL_VARIABLE, Config, Mode};
use crate::outbound::{
    Bearer, ConnectError, Error, SystemResolver, TcpDialer, Trust, UpstreamAnswer, UpstreamAsk,
    UpstreamLimits, UpstreamUrl, Upstreams,
};
use crate::sys::clock::Clock;

/// Whom to ask, and as whom; without flags or variables as `dev.json` of the data directory says.
#[derive(Args, Debug)]
pub(super) struct AccessArgs {
    #[arg(long, help = "The base URL of the API, up to /v1 [ERRAND_BASE_URL; default: dev.json]")]
    pub(super) url: Option<String>,
    #[arg(
        long,
        value_name = "FILE",
        help = "A file with the API key [ERRAND_API_KEY has the key \
                                             itself; default: dev.json]"
    )]
    pub(super) key_file: Option<String>,
}

/// A way to the API.
pub(super) struct Access {
    /// The time, for whoever measures.
    pub(super) clock: Clock,
    upstreams: Upstreams,
    base: Url,
    bearer: Bearer,
}

impl Access {
    /// Finds out whom to ask, and as whom.
    ///
    /// # Errors
    ///
    /// [`Exit::NotFound`] when nobody says it, [`Exit::Usage`] when what is said cannot be used.
    pub(super) fn of(here: &Here, args: &AccessArgs) -> Result<Self, Failure> {
        let config = here.load_as(Mode::Dev, None, &[])?.config;
        let said_url = args.url.as_deref().or_else(|| here.environment.var(BASE_URL_VARIABLE));
        let said_key = match &args.key_file {
            Some(path) => Some(key_of_file(path)?),
            None => here.environment.var(API_KEY_VARIABLE).map(str::to_owned),
        };
        let (url, key) = match (said_url, said_key) {
            (Some(url), Some(key)) => (url.to_owned(), key),
            (url, key) => {
                let file = file_of_dev(&config)?;
                (url.map_or(file.base_url, str::to_owned), key.unwrap_or(file.api_key))
            }
        };
        let base = base(&url)?;
        let bearer = Bearer::new(&key).ok_or_else(|| {
            Failure::new(Exit::Usage, "the API key is not one")
                .then("a key is one word, as `errand key create` has shown it")
        })?;
        let clock = Clock::host();
        let trust = trust(&config, &clock)?;
        let resolver = Arc::new(SystemResolver::new(clock.clone()));
        let upstreams = Upstreams::new(clock.clone(), resolver, Arc::new(TcpDialer), trust);
        Ok(Self { clock, upstreams, base, bearer })
    }

    /// Asks for what is at a path below the base URL.
    ///
    /// # Errors
    ///
    /// The failure that another answer than yes stands for.
    pub(super) async fn get(&self, path: &str) -> Result<Value, Failure> {
        let answer = self.ask(path, None).await?;
        self.json(answer).await
    }

    /// Sends a body and waits for the head of an answer that says yes.
    ///
    /// # Errors
    ///
    /// The failure that another answer stands for.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<UpstreamAnswer, Failure> {
        self.ask(path, Some(Bytes::from(body.to_string()))).await
    }

    /// Reads the rest of an answer as JSON.
    ///
    /// # Errors
    ///
    /// When it breaks off, or is no JSON.
    pub(super) async fn json(&self, mut answer: UpstreamAnswer) -> Result<Value, Failure> {
        let body = answer.read(ANSWER_BYTES_MAX).await.map_err(|it| self.broken(it))?;
        serde_json::from_slice(&body).map_err(|_| {
            let what = format!("{} did not answer in JSON", self.base);
            Failure::new(Exit::Failed, what).then("is it the base URL of errand, with /v1?")
        })
    }

    /// The failure of an answer that broke off.
    pub(super) fn broken(&self, error: Error) -> Failure {
        Failure::new(Exit::Failed, format!("the answer of {} broke off: {error}", self.base))
    }

    async fn ask(&self, path: &str, body: Option<Bytes>) -> Result<UpstreamAnswer, Failure> {
        let url = UpstreamUrl::new(&self.base, path).map_err(|it| bad_url(&self.base, it))?;
        let until = self.clock.mark().after(TOTAL_WAIT);
        let limits = UpstreamLimits { first_byte: FIRST_BYTE_WAIT, ..UpstreamLimits::default() };
        let ask = UpstreamAsk { url: &url, bearer: Some(&self.bearer), body, limits, until };
        let asked = Box::pin(self.upstreams.ask(&ask)).await;
        let mut answer = asked.map_err(|it| self.silence(it))?;
        if (200..300).contains(&answer.status) {
            return Ok(answer);
        }
        let status = answer.status;
        // Without a body that can be read, the status says it all.
        let body = answer.read(ANSWER_BYTES_MAX).await.unwrap_or_default();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let refused = Answer { status, body }.success().err();
        Err(refused.unwrap_or_else(|| Failure::new(Exit::Failed, "the API refused")))
    }

    /// The failure of a request without an answer.
    fn silence(&self, error: Error) -> Failure {
        if error == Error::Connect(ConnectError::Refused) {
            return Failure::new(Exit::NotRunning, format!("nobody listens at {}", self.base))
                .then("start it with `errand dev` or `errand serve`, or name another --url");
        }
        Failure::new(Exit::Failed, format!("{} did not answer: {error}", self.base))
    }
}

/// Whose certificates are believed.
///
/// # Errors
///
/// When the file of the operator's own roots cannot be used.
pub(super) fn trust(config: &Config, clock: &Clock) -> Result<Trust, Failure> {
    let bad = |why: String| Failure::new(Exit::BadConfig, format!("outbound.extra_roots: {why}"));
    let roots = match &config.outbound.extra_roots {
        Some(path) => fs::read(path).map_err(|it| bad(it.to_string()))?,
        None => Vec::new(),
    };
    Trust::new(clock.clone(), &roots).map_err(|it| bad(it.to_string()))
}

/// A name as one segment of a path.
pub(super) fn segment(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn key_of_file(path: &str) -> Result<String, Failure> {
    let bytes = input::read(path, KEY_BYTES_MAX)?;
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

fn base(text: &str) -> Result<Url, Failure> {
    let url = Url::parse(text).map_err(|_| {
        Failure::new(Exit::Usage, format!("the base URL {text:?} is no URL"))
            .then("it looks like http://127.0.0.1:7270/v1")
    })?;
    UpstreamUrl::new(&url, "models").map_err(|it| bad_url(&url, it))?;
    Ok(url)
}

fn bad_url(url: &Url, why: crate::outbound::BadUrl) -> Failure {
    // A password in it is not repeated.
    let host = url.host_str().unwrap_or("it");
    let what = format!("the base URL at {host} cannot be used: {}", Error::Url(why));
    Failure::new(Exit::Usage, what).then("it looks like http://127.0.0.1:7270/v1")
}

/// The file that `errand dev` keeps for programs.
fn file_of_dev(config: &Config) -> Result<DevFile, Failure> {
    let dir = &config.data.dir;
    match dev_file::read(dir) {
        Found::File(file) => Ok(file),
        Found::Nothing => {
            let what =
                format!("nobody says whom to ask: there is no dev.json in {}", dir.display());
            Err(Failure::new(Exit::NotFound, what).then(format!(
                "start `errand dev`, or set {BASE_URL_VARIABLE} and {API_KEY_VARIABLE}, \
                 or give --url and --key-file"
            )))
        }
        Found::Damaged(why) => {
            let what = format!("dev.json in {} could not be read: {why}", dir.display());
            Err(Failure::new(Exit::Failed, what))
        }
    }
}

/// Time until an answer begins: a little more than the daemon itself waits for one.
const FIRST_BYTE_WAIT: Duration = Duration::from_mins(5);
/// Time for an answer, a streamed one included.
const TOTAL_WAIT: Duration = Duration::from_mins(35);
/// Bytes of an answer in one piece.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a file with a key.
const KEY_BYTES_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_segment_whatever_is_in_it() {
        assert_eq!(segment("vendor/name:8b"), "vendor%2Fname%3A8b");
        assert_eq!(segment("a-b.c_d~e"), "a-b.c_d~e");
        assert_eq!(segment("../é"), "..%2F%C3%A9");
    }

    #[test]
    fn a_base_url_that_cannot_be_asked_is_refused_without_its_password() {
        for text in ["", "127.0.0.1:7270", "file:///v1", "http://ana:secret@127.0.0.1/v1"] {
            let refused = base(text).unwrap_err();
            assert_eq!(refused.exit, Exit::Usage, "{text}");
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
        assert!(base("http://127.0.0.1:7270/v1").is_ok());
    }
}
