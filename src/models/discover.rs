//! Asks a server which models it has.

use std::time::Duration;

use serde_json::Value;
use url::Url;

use crate::domain::chat::ModelId;
use crate::models::Fault;
use crate::outbound::{Bearer, UpstreamAsk, UpstreamLimits, UpstreamUrl, Upstreams};
use crate::sys::clock::Clock;

/// The models that the server under `base_url` has, by its own names, sorted; at most 256.
///
/// Meant for servers on this host: it waits a second and a half at most.
///
/// # Errors
///
/// [`Fault`] when nobody is there, or the answer is no list of models.
///
/// # Cancel safety
///
/// A dropped call closes the connection.
pub async fn discover(
    upstreams: &Upstreams,
    clock: &Clock,
    base_url: &Url,
    bearer: Option<&Bearer>,
) -> Result<Vec<ModelId>, Fault> {
    let url = UpstreamUrl::new(base_url, "models").map_err(|_| Fault::Misconfigured)?;
    let limits = UpstreamLimits { connect: CONNECT_SPAN, ..UpstreamLimits::default() };
    let until = clock.mark().after(TOTAL_SPAN);
    let ask = UpstreamAsk { url: &url, bearer, body: None, limits, until };
    let mut answer = upstreams.ask(&ask).await.map_err(Fault::of_head)?;
    if answer.status != 200 {
        return Err(Fault::Misconfigured);
    }
    let body = answer.read(LIST_BYTES_MAX).await.map_err(Fault::of_body)?;
    let list: Value = serde_json::from_slice(&body).map_err(|_| Fault::Invalid)?;
    let data = list.get("data").and_then(Value::as_array).ok_or(Fault::Invalid)?;
    let ids = data.iter().filter_map(|it| ModelId::parse(it.get("id")?.as_str()?));
    let mut ids: Vec<_> = ids.take(MODELS_MAX).collect();
    ids.sort();
    ids.dedup();
    Ok(ids)
}

/// How long connecting may take.
const CONNECT_SPAN: Duration = Duration::from_millis(500);
/// How long all of it may take.
const TOTAL_SPAN: Duration = Duration::from_millis(1500);
/// Bytes of a list of models.
const LIST_BYTES_MAX: usize = 1024 * 1024;
/// Models that are taken from a list.
const MODELS_MAX: usize = 256;
