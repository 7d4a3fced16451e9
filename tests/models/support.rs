//! Scripted upstreams, and a registry that asks them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use errand::domain::chat::{
    Capabilities, ModelId, Price, Request, Sizes, UnknownParameters, UpstreamStream,
};
use errand::domain::time::Timestamp;
use errand::models::{
    Answer, Ask, End, Fault, Model, Piece, Registry, Source, Times, Upstream, UpstreamTexts, chat,
};
use errand::outbound::fake::{Internet, Served};
use errand::outbound::{Bearer, Trust, Upstreams};
use errand::sys::clock::Clock;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// What a server does with one request, step by step; afterwards it reads the next.
pub(crate) type Reply = Vec<Step>;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Say(Vec<u8>),
    Pause(Duration),
    /// Says nothing more until the client has gone.
    Hang,
    Close,
    Reset,
}

/// A server with a script, and what it saw.
#[derive(Default)]
pub(crate) struct Server {
    replies: Mutex<VecDeque<Reply>>,
    seen: Mutex<Seen>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: Vec<String>,
    pub(crate) connections: usize,
    /// Clients that left while the server was hanging.
    pub(crate) left: usize,
}

impl Server {
    /// Puts a server with a script at a host of its own, on port 80.
    pub(crate) fn at(internet: &Internet, host: &str, replies: Vec<Reply>) -> Arc<Self> {
        let server = Arc::new(Self::with(replies));
        let shared = Arc::clone(&server);
        internet.site(host, 80, move |stream| Arc::clone(&shared).serve(stream));
        server
    }

    pub(crate) fn with(replies: Vec<Reply>) -> Self {
        Self { replies: Mutex::new(replies.into()), seen: Mutex::default() }
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) async fn serve(self: Arc<Self>, mut stream: Served) {
        self.seen.lock().unwrap().connections += 1;
        while let Some(request) = read_request(&mut stream).await {
            let reply = self.replies.lock().unwrap().pop_front();
            self.seen.lock().unwrap().requests.push(request);
            for step in reply.unwrap_or_else(|| vec![Step::Close]) {
                match step {
                    Step::Say(bytes) if stream.write_all(&bytes).await.is_err() => return,
                    Step::Say(_) => {}
                    Step::Pause(span) => Clock::host().sleep(span).await,
                    Step::Hang => {
                        if stream.read(&mut [0; 16]).await.unwrap_or(0) == 0 {
                            self.seen.lock().unwrap().left += 1;
                        }
                        return;
                    }
                    Step::Close => return,
                    Step::Reset => return stream.reset(),
                }
            }
        }
    }
}

/// One request with its body; `None` when the client has gone.
pub(crate) async fn read_request(
    stream: &mut (impl tokio::io::AsyncRead + Unpin),
) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|it| it.strip_prefix("Content-Length: "));
            if body.len() >= length.map_or(0, |it| it.parse().unwrap()) {
                return Some(text.into_owned());
            }
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(count) if count > 0 => bytes.extend(piece.iter().take(count)),
            Ok(_) | Err(_) => return None,
        }
    }
}

/// The head of an answer in chunks.
pub(crate) fn head(content_type: &str) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    head.into_bytes()
}

/// One chunk.
pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// The chunk that ends an answer.
pub(crate) const LAST: &[u8] = b"0\r\n\r\n";

/// A whole stream in one chunk.
pub(crate) fn stream(body: &str) -> Reply {
    let bytes = [head("text/event-stream"), chunk(body.as_bytes()), LAST.to_vec()];
    vec![Step::Say(bytes.concat())]
}

/// An answer with a status and a body of a known length.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> Reply {
    let length = body.len();
    let text = format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
    vec![Step::Say(text.into_bytes())]
}

/// A good stream that says `ok`.
pub(crate) fn good() -> Reply {
    stream(concat!(
        "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        "data: [DONE]\n\n",
    ))
}

pub(crate) fn upstreams(internet: &Internet) -> Upstreams {
    let internet = Arc::new(internet.clone());
    let trust = Trust::new(Clock::host(), b"").unwrap();
    Upstreams::new(Clock::host(), internet.clone(), internet, trust)
}

/// A registry with one model, whose upstreams are these hosts in this order.
pub(crate) fn registry(internet: &Internet, hosts: &[&str]) -> Registry {
    registry_with(internet, hosts, UpstreamStream::Ask, UpstreamTexts::Hide)
}

pub(crate) fn registry_with(
    internet: &Internet,
    hosts: &[&str],
    stream: UpstreamStream,
    texts: UpstreamTexts,
) -> Registry {
    let upstream = |host: &&str| {
        let base = format!("http://{host}/v1").parse().unwrap();
        Upstream::new(&base, "theirs", Bearer::new("sk-upstream"), stream).unwrap()
    };
    let model = Model {
        id: ModelId::parse("ours").unwrap(),
        name: "Ours".to_owned(),
        owned_by: "tests".to_owned(),
        price: Price::FREE,
        sizes: Sizes::new(8000, 4000, 1000).unwrap(),
        capabilities: Capabilities::default(),
        times: Times::default(),
        source: Source::Upstreams(hosts.iter().map(upstream).collect()),
    };
    let clock = Clock::simulated(Timestamp::from_millis(1_780_272_000_000));
    Registry::new(clock, upstreams(internet), texts, vec![model]).unwrap()
}

pub(crate) fn request(extra: &Value) -> Request {
    let mut body = json!({"model": "ours", "messages": [{"role": "user", "content": "hello"}]});
    let object = body.as_object_mut().unwrap();
    object.extend(extra.as_object().unwrap().clone());
    Request::parse(object.clone(), UnknownParameters::Refuse).unwrap()
}

/// Asks for a stream.
pub(crate) async fn begin(registry: &Registry) -> Result<Answer, Fault> {
    begin_within(registry, None).await
}

/// The same for a caller who waits for so long; for a whole answer, because of a stream nobody
/// waits for the end.
pub(crate) async fn begin_within(
    registry: &Registry,
    client_timeout: Option<Duration>,
) -> Result<Answer, Fault> {
    let model = registry.find("ours").unwrap();
    let request = request(&json!({"stream": client_timeout.is_none()}));
    let bound = model.sizes.bound(&request);
    chat(registry, &Ask { model, request: &request, bound, client_timeout }).await
}

/// Everything that an answer said, and how it ended.
pub(crate) async fn listen(registry: &Registry) -> (String, Result<End, Fault>) {
    match begin(registry).await {
        Ok(answer) => drain(answer).await,
        Err(fault) => (String::new(), Err(fault)),
    }
}

pub(crate) async fn drain(mut answer: Answer) -> (String, Result<End, Fault>) {
    let mut said = String::new();
    loop {
        match answer.next().await {
            Ok(Some(Piece::Text(text))) => {
                assert!(!text.is_empty());
                said.push_str(&text);
            }
            Ok(Some(Piece::End(end))) => {
                assert_eq!(answer.next().await, Ok(None), "nothing follows the end");
                return (said, Ok(end));
            }
            Ok(None) => panic!("an answer has an end or a fault"),
            Err(fault) => {
                assert_eq!(answer.next().await, Ok(None), "nothing follows a fault");
                return (said, Err(fault));
            }
        }
    }
}
