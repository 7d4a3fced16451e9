//! The gate: a request becomes an authorised one, or an answer.
//!
//! The order is key and network, right, rate, type of the body. The body can be read only from the
//! [`Request`] that comes out, so nobody without a right makes us read one.
//! Source: service interface, "Authentication"; the contract, sections 2 and 3.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::api::error::Failure;
use crate::api::json;
use crate::app::App;
use crate::app::auth::{self, Denied};
use crate::app::limiter::Standing;
use crate::domain::account::{Caller, Right, Rights};
use crate::domain::id::Id;
use crate::domain::money::Currency;
use crate::domain::secret;
use crate::inbound::{self, Body, Head, Response};

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::api) enum Access {
    /// Everybody.
    Open,
    /// Who has a key, with this right if one is named.
    Key(Option<Right>),
}

/// The gate in front of the operations.
pub(in crate::api) struct Gate<'a> {
    pub(in crate::api) app: &'a App,
}

/// A request that has passed.
pub(in crate::api) struct Request {
    pub(in crate::api) head: Head,
    /// Who asks. On an open route this is nobody, who has nothing.
    pub(in crate::api) caller: Caller,
    /// What stands in the places of the path.
    pub(in crate::api) params: Vec<String>,
    /// What the answer says about the rate.
    pub(in crate::api) standing: Shown,
    body: Body,
}

/// A request that has not passed.
pub(in crate::api) struct Refused {
    pub(in crate::api) failure: Failure,
    pub(in crate::api) standing: Shown,
}

/// What an answer says about the rate of its key, if it has one.
#[derive(Clone, Copy, Debug)]
pub(in crate::api) struct Shown(Option<Standing>);

impl Gate<'_> {
    /// Lets a request through.
    ///
    /// # Errors
    ///
    /// [`Refused`] with the first thing that is missing.
    pub(in crate::api) fn pass(
        &self,
        request: inbound::Request,
        access: Access,
        params: Vec<String>,
    ) -> Result<Request, Refused> {
        let (head, body) = request.into_parts();
        let (caller, standing) = match access {
            Access::Open => (nobody(), Shown(None)),
            Access::Key(right) => self.admit(&head, right)?,
        };
        Ok(Request { head, caller, params, standing, body })
    }

    fn admit(&self, head: &Head, right: Option<Right>) -> Result<(Caller, Shown), Refused> {
        let caller = match self.caller(head) {
            Ok(caller) => caller,
            Err(failure) => {
                let failure = self.count_stranger(head, failure);
                return Err(Refused { failure, standing: Shown(None) });
            }
        };
        if let Some(right) = right.filter(|it| !caller.rights.contains(*it)) {
            // It costs the account nothing of its rate, and so shows none.
            return Err(Refused { failure: Failure::NoRight(right), standing: Shown(None) });
        }
        match self.app.limiter().admit(&caller) {
            Ok(standing) => Ok((caller, Shown(standing))),
            Err(too_many) => {
                self.app.metrics().rate_limited.add(1);
                let failure = Failure::RateLimited { retry_after: too_many.retry_after };
                Err(Refused { failure, standing: Shown(Some(too_many.standing)) })
            }
        }
    }

    fn caller(&self, head: &Head) -> Result<Caller, Failure> {
        if let Some(query) = head.query.as_deref().filter(|it| shows_key(it)) {
            tracing::warn!(request.id = %head.id, bytes = query.len(), "a key stood in a URL");
            return Err(Failure::KeyInUrl);
        }
        let mut values = head.header_values("authorization");
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err(Failure::NoKey);
        };
        let (scheme, key) = value.split_once(' ').unwrap_or((value, ""));
        let key = key.trim();
        if !scheme.eq_ignore_ascii_case("bearer") || key.is_empty() {
            return Err(Failure::NoKey);
        }
        auth::authenticate(self.app, key, head.peer.address()).map_err(|it| match it {
            Denied::Unknown => Failure::UnknownKey,
            Denied::Revoked => Failure::RevokedKey,
            Denied::Expired => Failure::ExpiredKey,
            Denied::Origin => Failure::ForeignNetwork,
        })
    }

    /// Counts a request without a valid key; too many of them get another answer.
    fn count_stranger(&self, head: &Head, failure: Failure) -> Failure {
        self.app.metrics().auth_failures.add(1);
        let Some(address) = head.peer.address() else { return failure };
        match self.app.limiter().admit_stranger(address) {
            Ok(()) => failure,
            Err(too_many) => Failure::TooManyStrangers { retry_after: too_many.retry_after },
        }
    }
}

impl Request {
    /// What stands in the first place of the path.
    pub(in crate::api) fn id<T>(&self) -> Result<Id<T>, Failure> {
        self.nth_id(0)
    }

    /// The id of a thing that belongs to the one in front of it.
    pub(in crate::api) fn second_id<T>(&self) -> Result<Id<T>, Failure> {
        self.nth_id(1)
    }

    fn nth_id<T>(&self, n: usize) -> Result<Id<T>, Failure> {
        let id = self.params.get(n).and_then(|it| Id::parse(it));
        id.ok_or(Failure::App(crate::app::Error::NotFound))
    }

    /// Reads the body: one JSON object of at most `max` bytes, and gives the head with it.
    pub(in crate::api) async fn whole(
        self,
        max: usize,
    ) -> Result<(Head, Map<String, Value>), Failure> {
        check_type(&self.head)?;
        let bytes: Bytes = self.body.read(max).await.map_err(Failure::Body)?;
        Ok((self.head, json::object(&bytes)?))
    }

    /// Reads the body: one JSON object of at most `max` bytes.
    pub(in crate::api) async fn object(self, max: usize) -> Result<Map<String, Value>, Failure> {
        check_type(&self.head)?;
        let bytes: Bytes = self.body.read(max).await.map_err(Failure::Body)?;
        json::object(&bytes)
    }
}

impl Shown {
    /// Writes the standing onto an answer. Source: the contract, section 12, "Rates".
    pub(in crate::api) fn on(self, answer: Response) -> Response {
        let Some(standing) = self.0 else { return answer };
        let reset = standing.reset.as_millis();
        let (seconds, tenths) = (reset / 1000, reset % 1000 / 100);
        answer
            .with_header("x-ratelimit-limit-requests", &standing.limit.to_string())
            .with_header("x-ratelimit-remaining-requests", &standing.remaining.to_string())
            .with_header("x-ratelimit-reset-requests", &format!("{seconds}.{tenths}s"))
    }
}

/// A body must be JSON; one without a type is taken for it.
fn check_type(head: &Head) -> Result<(), Failure> {
    let Some(value) = head.header("content-type") else { return Ok(()) };
    let essence = value.split(';').next().unwrap_or("").trim();
    if essence.eq_ignore_ascii_case("application/json") { Ok(()) } else { Err(Failure::NotJson) }
}

/// Whether a query names or holds a key, which belongs into a header.
fn shows_key(query: &str) -> bool {
    let names_key = |pair: &str| {
        let name = pair.split('=').next().unwrap_or("");
        ["key", "api_key", "apikey", "access_token"].iter().any(|it| name.eq_ignore_ascii_case(it))
    };
    query.contains(secret::PREFIX) || query.split('&').any(names_key)
}

/// The caller of an open route: an account that does not exist, and no right.
fn nobody() -> Caller {
    Caller {
        account: Id::from_bytes([0; 16]),
        key: Id::from_bytes([0; 16]),
        rights: Rights::NONE,
        currency: Currency::EUR,
        restrictions: Arc::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_urls_are_noticed_by_name_and_by_form() {
        for query in ["key=x", "limit=1&API_KEY=", "a=service_sk_abc", "access_token=1"] {
            assert!(shows_key(query), "{query}");
        }
        for query in ["", "limit=1", "kind=keynote", "a=key"] {
            assert!(!shows_key(query), "{query}");
        }
    }
}
