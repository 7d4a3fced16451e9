//! The floor: the least that a durable accept can be. Bare hyper reads a body; one record goes
//! into one redb table, committed in a group with two fsyncs; the answer has the size of ours.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use redb::{Database, Durability, TableDefinition};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

const TABLE: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("records");

/// A store of one table, written by whoever comes first for all that wait.
pub struct Floor {
    database: Database,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<(Bytes, oneshot::Sender<()>)>,
    led: bool,
    next: u64,
}

impl Floor {
    /// A store in a file of its own in `dir`.
    pub fn new(dir: &Path, name: &str) -> Arc<Self> {
        let mut builder = Database::builder();
        let database = builder.set_cache_size(64 << 20).create(dir.join(name)).unwrap();
        Arc::new(Self { database, queue: Mutex::default() })
    }

    /// Keeps a record; it is on disk when this returns.
    pub async fn keep(self: &Arc<Self>, record: Bytes) {
        let (done, wait) = oneshot::channel();
        let must_lead = {
            let mut queue = self.queue.lock().unwrap();
            queue.waiting.push((record, done));
            !std::mem::replace(&mut queue.led, true)
        };
        if must_lead {
            let floor = Arc::clone(self);
            tokio::task::spawn_blocking(move || floor.lead());
        }
        wait.await.unwrap();
    }
}

/// Starts the floor on a loopback port; it lives as long as the process.
pub async fn start(dir: &Path, answer: usize) -> SocketAddr {
    let floor = Floor::new(dir, "floor.redb");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let body = Bytes::from(vec![b'x'; answer]);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let (floor, body) = (Arc::clone(&floor), body.clone());
            tokio::spawn(async move {
                let service =
                    service_fn(move |request| accept(Arc::clone(&floor), body.clone(), request));
                let http = hyper::server::conn::http1::Builder::new();
                let _ = http.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    address
}

async fn accept(
    floor: Arc<Floor>,
    body: Bytes,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let record = request.into_body().collect().await.unwrap().to_bytes();
    floor.keep(record).await;
    Ok(Response::builder().status(201).body(Full::new(body)).unwrap())
}

impl Floor {
    fn lead(&self) {
        loop {
            let (batch, mut next) = {
                let mut queue = self.queue.lock().unwrap();
                if queue.waiting.is_empty() {
                    queue.led = false;
                    return;
                }
                let batch: Vec<_> = {
                    let some = queue.waiting.len().min(256);
                    queue.waiting.drain(..some).collect()
                };
                let next = queue.next;
                queue.next += batch.len() as u64;
                (batch, next)
            };
            let mut transaction = self.database.begin_write().unwrap();
            transaction.set_durability(Durability::Immediate).unwrap();
            transaction.set_two_phase_commit(true);
            {
                let mut table = transaction.open_table(TABLE).unwrap();
                for (record, _) in &batch {
                    table.insert(next, record.as_ref()).unwrap();
                    next += 1;
                }
            }
            transaction.commit().unwrap();
            for (_, done) in batch {
                let _ = done.send(());
            }
        }
    }
}
