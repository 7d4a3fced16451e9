//! The end: what is under way is finished, what idles is closed, what hangs is broken off.

use std::time::Duration;

use errand::sys::shutdown::Phase;

use crate::support::{World, header};

#[tokio::test(start_paused = true)]
async fn an_idle_connection_ends_at_once_and_one_at_work_after_its_answer() {
    let world = World::new();
    let mut idle = world.connect();
    idle.get("/").await;
    let mut busy = world.connect();
    busy.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nh").await;
    let mut fresh = world.connect();
    world.clock.sleep(Duration::from_secs(1)).await;
    let begun = world.clock.mark();
    world.shutdown.advance(Phase::Draining);
    assert_eq!(idle.rest().await, "");
    assert_eq!(fresh.rest().await, "");
    assert_eq!(begun.elapsed(), Duration::ZERO);
    busy.send("i").await;
    let answer = busy.answer().await;
    assert_eq!(answer.body, "hi");
    assert_eq!(header(&answer.head, "connection"), Some("close"));
    assert_eq!(busy.rest().await, "");
}
