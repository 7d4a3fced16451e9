//! Scripted upstreams on the fake internet, and models that lead to them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use errand::config::{ModelSettings, UpstreamSettings};
use errand::domain::chat::{Capabilities, ModelId, Price, Sizes, UpstreamStream};
use errand::domain::money::Amount;
use errand::models::Times;
use errand::outbound::fake::{Internet, Served};
use errand::sys::clock::Clock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A model that a house offers.
#[derive(Clone, Debug)]
pub struct Plan {
    pub id: String,
    /// Its upstreams, in their order.
    pub hosts: Vec<String>,
    pub price: Price,
    pub sizes: Sizes,
    pub capabilities: Capabilities,
    pub times: Times,
}

/// What an upstream does with one request, step by step; afterwards it reads the next.
pub type Script = Vec<Step>;

#[derive(Clone, Debug)]
pub enum Step {
    Say(Vec<u8>),
    Pause(Duration),
    /// Says nothing more until the client has gone.
    Hang,
    /// Says the same again and again, as fast as it is read.
    Flood(Vec<u8>),
    /// Says the same again and again, every ten milliseconds.
    Drip(Vec<u8>),
    Close,
    Reset,
}

/// An upstream; clones share what it has seen.
#[derive(Clone, Default)]
pub struct Upstream(Arc<Shared>);

#[derive(Default)]
struct Shared {
    first: Mutex<VecDeque<Script>>,
    then: Mutex<Script>,
    seen: Mutex<Vec<String>>,
    left: Mutex<usize>,
}

impl Plan {
    /// A model whose tokens cost a millionth to read and two to write; at most 8,000 of them, and
    /// 1,000 for an answer when nobody says.
    pub fn priced(id: &str, hosts: &[&str]) -> Self {
        let per_million = |text| Amount::parse(text).unwrap();
        let price = Price::new(per_million("1"), per_million("2"), Amount::ZERO).unwrap();
        Self {
            id: id.to_owned(),
            hosts: hosts.iter().map(|it| (*it).to_owned()).collect(),
            price,
            sizes: Sizes::new(8000, 4000, 1000).unwrap(),
            capabilities: Capabilities::default(),
            times: Times::default(),
        }
    }

    /// The same for nothing.
    pub fn free(id: &str, hosts: &[&str]) -> Self {
        Self { price: Price::FREE, ..Self::priced(id, hosts) }
    }

    /// What stands in the settings.
    pub fn settings(&self) -> ModelSettings {
        let upstreams = self.hosts.iter().map(|host| UpstreamSettings {
            base_url: format!("http://{host}/v1").parse().unwrap(),
            model: "theirs".to_owned(),
            key_file: None,
            stream: UpstreamStream::Ask,
        });
        ModelSettings {
            id: ModelId::parse(&self.id).unwrap(),
            name: self.id.to_uppercase(),
            owned_by: "tests".to_owned(),
            price: self.price,
            sizes: self.sizes,
            capabilities: self.capabilities,
            times: self.times,
            upstreams: upstreams.collect(),
        }
    }
}

impl Upstream {
    /// One at a host of its own that always does `then`.
    pub fn at(internet: &Internet, host: &str, then: Script) -> Self {
        let it = Self::default();
        it.always(then);
        let shared = it.clone();
        internet.site(host, 80, move |stream| shared.clone().serve(stream));
        it
    }

    /// Does this first, one script for each request.
    pub fn first(&self, scripts: impl IntoIterator<Item = Script>) {
        self.0.first.lock().unwrap().extend(scripts);
    }

    /// Does `then` from now on, when the scripts are at their end.
    pub fn always(&self, then: Script) {
        *self.0.then.lock().unwrap() = then;
    }

    /// Every request so far, head and body.
    pub fn seen(&self) -> Vec<String> {
        self.0.seen.lock().unwrap().clone()
    }

    /// How many requests there were.
    pub fn count(&self) -> usize {
        self.0.seen.lock().unwrap().len()
    }

    /// Clients that went away before all was said.
    pub fn left(&self) -> usize {
        *self.0.left.lock().unwrap()
    }

    fn next(&self) -> Script {
        let next = self.0.first.lock().unwrap().pop_front();
        next.unwrap_or_else(|| self.0.then.lock().unwrap().clone())
    }

    async fn serve(self, mut stream: Served) {
        while let Some(request) = read_request(&mut stream).await {
            self.0.seen.lock().unwrap().push(request);
            for step in self.next() {
                let is_gone = match step {
                    Step::Say(bytes) => stream.write_all(&bytes).await.is_err(),
                    Step::Pause(span) => {
                        Clock::host().sleep(span).await;
                        false
                    }
                    Step::Hang => stream.read(&mut [0; 16]).await.unwrap_or(0) == 0,
                    Step::Flood(bytes) => {
                        while stream.write_all(&bytes).await.is_ok() {}
                        true
                    }
                    Step::Drip(bytes) => {
                        while stream.write_all(&bytes).await.is_ok() {
                            Clock::host().sleep(Duration::from_millis(10)).await;
                        }
                        true
                    }
                    Step::Close => return,
                    Step::Reset => return stream.reset(),
                };
                if is_gone {
                    *self.0.left.lock().unwrap() += 1;
                    return;
                }
            }
        }
    }
}

/// One request with its body; `None` when the client has gone.
async fn read_request(stream: &mut Served) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|it| it.strip_prefix("Content-Length: "));
            if body.len() >= length.map_or(0, |it| it.parse().unwrap()) {
                return Some(text.into_owned());
            }
        }
        if stream.read_buf(&mut bytes).await.ok().filter(|it| *it > 0).is_none() {
            return None;
        }
    }
}

/// The head of a stream.
pub fn head() -> Step {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                transfer-encoding: chunked\r\n\r\n";
    Step::Say(head.into())
}

/// An event of a stream, in a chunk of its own.
pub fn event(data: &str) -> Step {
    let event = format!("data: {data}\n\n");
    Step::Say(format!("{:x}\r\n{event}\r\n", event.len()).into_bytes())
}

/// An event with text.
pub fn text(text: &str) -> Step {
    event(&json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }).to_string())
}

/// The event with the reason of the end.
pub fn finish(reason: &str) -> Step {
    let choice = json!({ "index": 0, "delta": {}, "finish_reason": reason });
    event(&json!({ "choices": [choice] }).to_string())
}

/// The event with what was used.
pub fn usage(prompt: u64, completion: u64) -> Step {
    let usage = json!({ "prompt_tokens": prompt, "completion_tokens": completion });
    event(&json!({ "choices": [], "usage": usage }).to_string())
}

/// The events and the chunk that end a stream.
pub fn done() -> Vec<Step> {
    vec![event("[DONE]"), Step::Say(b"0\r\n\r\n".to_vec())]
}

/// A whole stream of some pieces, with what was used at its end.
pub fn stream(pieces: &[&str], used: (u64, u64)) -> Script {
    let mut script = vec![head()];
    script.extend(pieces.iter().map(|it| text(it)));
    script.extend([finish("stop"), usage(used.0, used.1)]);
    script.extend(done());
    script
}

/// A stream that says some pieces, and then something else.
pub fn begun(pieces: &[&str], then: Step) -> Script {
    let mut script = vec![head()];
    script.extend(pieces.iter().map(|it| text(it)));
    script.push(then);
    script
}

/// A refusal, or an answer in one piece.
pub fn answer(status: u16, headers: &str, body: &str) -> Script {
    let length = body.len();
    let text = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
    vec![Step::Say(text.into_bytes())]
}

/// A pause of so many milliseconds.
pub const fn pause(millis: u64) -> Step {
    Step::Pause(Duration::from_millis(millis))
}

/// A request for a chat with `model`, with more members.
pub fn ask(model: &str, extra: &Value) -> Value {
    let mut body = json!({
        "model": model,
        "messages": [{ "role": "user", "content": "hello" }],
    });
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    body
}
