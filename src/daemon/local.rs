//! Looks for model servers on this host, at the ports where Ollama and llama.cpp usually listen.
//!
//! Nobody being there is the usual case and costs no time. What is found is free of charge: it is
//! the developer's own machine that works.

use std::time::Duration;

use url::Url;

use crate::domain::chat::{Capabilities, ModelId, Price, Sizes, UpstreamStream};
use crate::models::{Model, Source, Times, Upstream, discover};
use crate::outbound::Upstreams;
use crate::sys::clock::Clock;

/// A server that developers have.
struct Server {
    /// What the names of its models begin with.
    prefix: &'static str,
    /// Where it usually is.
    base_url: &'static str,
}

/// The models of the servers that are there, by server and name.
///
/// # Cancel safety
///
/// A dropped call closes the connections.
pub(super) async fn found_here(upstreams: &Upstreams, clock: &Clock) -> Vec<Model> {
    let [ollama, llamacpp] = SERVERS.map(|it| models_of(upstreams, clock, it));
    let (mut found, more) = tokio::join!(ollama, llamacpp);
    found.extend(more);
    found
}

/// The models of one server; none when it is not there, or takes too long.
async fn models_of(upstreams: &Upstreams, clock: &Clock, server: Server) -> Vec<Model> {
    let Ok(base) = Url::parse(server.base_url) else { return Vec::new() };
    let listed = discover(upstreams, clock, &base, None);
    match clock.within(LOOK_SPAN, Box::pin(listed)).await {
        Ok(Ok(names)) => names.iter().filter_map(|it| model(&server, &base, it)).collect(),
        Ok(Err(fault)) => {
            tracing::debug!(code = fault.code(), "no models at {base}: {}", fault.code());
            Vec::new()
        }
        Err(_) => {
            tracing::debug!("no models at {base}: it took too long");
            Vec::new()
        }
    }
}

fn model(server: &Server, base: &Url, name: &ModelId) -> Option<Model> {
    let id = ModelId::parse(&format!("{}/{}", server.prefix, short(name.as_str())))?;
    let upstream = Upstream::new(base, name.as_str(), None, UpstreamStream::Ask).ok()?;
    Some(Model {
        name: short(name.as_str()).to_owned(),
        owned_by: server.prefix.to_owned(),
        price: Price::FREE,
        sizes: Sizes::new(WINDOW_TOKENS, OUTPUT_TOKENS, DEFAULT_TOKENS)?,
        capabilities: Capabilities { json: true, reasoning: false },
        times: Times::default(),
        source: Source::Upstreams(vec![upstream]),
        id,
    })
}

/// The name without the directories of a file: llama.cpp calls a model by its path.
fn short(name: &str) -> &str {
    if name.ends_with(".gguf") { name.rsplit('/').next().unwrap_or(name) } else { name }
}

/// The usual servers, at their usual ports.
const SERVERS: [Server; 2] = [
    Server { prefix: "ollama", base_url: "http://127.0.0.1:11434/v1" },
    Server { prefix: "llamacpp", base_url: "http://127.0.0.1:8080/v1" },
];
/// How long the start waits for a server that took the connection and says nothing.
const LOOK_SPAN: Duration = Duration::from_millis(300);
/// Tokens of a conversation: more than local servers have, so that they refuse and not we.
const WINDOW_TOKENS: u64 = 131_072;
/// Tokens of an answer.
const OUTPUT_TOKENS: u64 = 32_768;
/// Tokens of an answer when the caller does not say.
const DEFAULT_TOKENS: u64 = 4_096;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::domain::time::Timestamp;
    use crate::outbound::Trust;
    use crate::outbound::fake::Internet;

    async fn found(internet: &Internet) -> Vec<String> {
        let clock = Clock::simulated(Timestamp::EPOCH);
        let (begun, shared) = (clock.mark(), Arc::new(internet.clone()));
        let trust = Trust::new(clock.clone(), b"").unwrap();
        let upstreams = Upstreams::new(clock.clone(), shared.clone(), shared, trust);
        let found = found_here(&upstreams, &clock).await;
        assert!(begun.elapsed() <= LOOK_SPAN, "{:?}", begun.elapsed());
        assert!(found.iter().all(|it| it.price.is_free() && !it.is_offline()));
        found.iter().map(|it| it.id.to_string()).collect()
    }

    /// Puts a server at an address that says `body`.
    fn serve(internet: &Internet, address: &str, body: &str) {
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        internet.serve(address, move |mut stream| {
            let answer = answer.clone();
            async move {
                let _ = stream.read(&mut [0; 1024]).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
    }

    fn list(ids: &[&str]) -> String {
        let data: Vec<_> = ids.iter().map(|it| json!({ "id": it, "object": "model" })).collect();
        json!({ "object": "list", "data": data }).to_string()
    }

    #[tokio::test(start_paused = true)]
    async fn the_models_of_both_servers_are_found() {
        let internet = Internet::new();
        serve(&internet, "127.0.0.1:11434", &list(&["qwen3:4b", "hf.co/org/model:Q4"]));
        serve(&internet, "127.0.0.1:8080", &list(&["/models/tiny.gguf"]));
        let expected = ["ollama/hf.co/org/model:Q4", "ollama/qwen3:4b", "llamacpp/tiny.gguf"];
        assert_eq!(found(&internet).await, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_being_there_costs_no_time() {
        let clock = Clock::simulated(Timestamp::EPOCH);
        let begun = clock.mark();
        assert!(found(&Internet::new()).await.is_empty());
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_at_the_port_is_no_model_and_delays_the_start_by_a_moment() {
        let internet = Internet::new();
        serve(&internet, "127.0.0.1:11434", &list(&["qwen3:4b"]));
        internet.serve("127.0.0.1:8080", async |_stream| std::future::pending().await);
        assert_eq!(found(&internet).await, ["ollama/qwen3:4b"], "one that hangs hides no other");
        internet.hang("127.0.0.1:8080");
        assert_eq!(found(&internet).await, ["ollama/qwen3:4b"]);
        for body in ["<html>", "{}", "{\"data\":[{\"id\":\"a b\"},{}]}", ""] {
            serve(&internet, "127.0.0.1:11434", body);
            assert!(found(&internet).await.is_empty(), "{body}");
        }
    }
}
