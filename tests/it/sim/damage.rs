//! A record that is damaged on disk: it is never served, and nothing else stops.

use std::io;

use errand::domain::id::Id;
use errand::store::{Disk as _, StorageBackend};
use redb::ReadableTable as _;
use serde_json::json;

use crate::support::{House, KIND};

/// A backend of any kind, as redb takes it.
#[derive(Debug)]
struct Backend(Box<dyn StorageBackend>);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }
    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
    fn close(&self) -> io::Result<()> {
        self.0.close()
    }
}

/// Flips a bit in the record of a run, below everything that keeps records whole.
fn damage(house: &House, run: &str) {
    const RUNS: redb::TableDefinition<'_, &[u8], &[u8]> = redb::TableDefinition::new("runs-1");
    let backend = Backend(house.disk.open().unwrap());
    let database = redb::Builder::new().create_with_backend(backend).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(RUNS).unwrap();
        let run = Id::<errand::domain::id::Run>::parse(run).unwrap();
        let key = [house.account.as_bytes().as_slice(), run.as_bytes()].concat();
        let mut record = table.get(key.as_slice()).unwrap().unwrap().value().to_vec();
        record[20] ^= 1;
        table.insert(key.as_slice(), record.as_slice()).unwrap();
    }
    transaction.commit().unwrap();
}

/// Source: the contract, section 13: wrong bytes are never served.
#[tokio::test(start_paused = true)]
async fn a_damaged_run_is_never_served_and_keeps_nobody_waiting() {
    let mut house = House::with(1, |config| config.queue.workers = 0).await;
    let first = house.run(json!({ "say": "first" })).await;
    let second = house.run(json!({ "say": "second" })).await;
    let (_, other) = house.tenant("second", "1").await;
    let body = json!({ "kind": KIND, "input": { "say": "third" } });
    let third = house.ask_as(&other, "POST", "/v1/agents/runs", Some(body)).await.json();

    house.stop().await;
    let damaged = first["id"].as_str().unwrap();
    damage(&house, damaged);
    house.config.queue.workers = 2;
    house.start().await;

    assert_eq!(house.over(&second).await["status"], "succeeded");
    let path = format!("/v1/agents/runs/{}", third["id"].as_str().unwrap());
    for _ in 0..100 {
        house.clock.sleep(std::time::Duration::from_millis(100)).await;
    }
    let third = house.ask_as(&other, "GET", &path, None).await.json();
    assert_eq!(third["status"], "succeeded");
    let reply = house.ask("GET", &format!("/v1/agents/runs/{damaged}"), None).await;
    assert_eq!((reply.status, reply.code().as_str()), (500, "internal_error"));
    assert_eq!(house.script.begun(), ["second", "third"]);
    let found = errand::app::upkeep::examine(house.daemon().app()).await.unwrap();
    let named = found.problems.iter().any(|it| it.to_string().contains(damaged));
    assert!(named && !found.is_clean(), "{:#?}", found.problems);
}
