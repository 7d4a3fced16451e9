//! What an event says of a run, and that nobody else hears it.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use super::hooks::{HOOKS, connect, connect_as, house_with, log, run, settled};
use crate::support::{Act, House, RUNS, Receiver};

/// Source: service interface, "Events", rule 11: the longest output of a run comes whole.
#[tokio::test(start_paused = true)]
async fn the_longest_output_comes_whole_whatever_its_letters() {
    let (house, receiver, _) = house_with(Act::Answer(204), |_| {}).await;
    for letter in ["a", "é", "✓", "😀"] {
        let say = letter.repeat(60_000 / letter.len());
        let say: String = say.chars().take(30_000).collect();
        run(&house, json!({ "say": say })).await;
        let count = receiver.count();
        receiver.wait(count.max(1)).await;
        house.settle().await;
        let data = receiver.seen().last().unwrap().json()["data"].clone();
        assert_eq!(data["output"], say, "{letter}");
        assert_eq!(data["output_truncated"], false);
    }
}

/// Source: service interface, "Errors": the generic code, and no internal stack.
#[tokio::test(start_paused = true)]
async fn a_failure_is_told_by_its_generic_code_alone() {
    let (house, receiver, hook) = house_with(Act::Answer(204), |_| {}).await;
    run(&house, json!({ "do": "fail", "say": "inner" })).await;
    settled(&house, &[&hook]).await;
    let request = receiver.seen().remove(0);
    let data = request.json()["data"].clone();
    assert_eq!((&data["error"], &data["output"]), (&json!("agent_failed"), &json!("")));
    assert_eq!((&data["status"], &data["cost"]), (&json!("failed"), &json!("0")));
    let text = String::from_utf8(request.body).unwrap();
    assert!(!text.contains("scripted") && !text.contains("asked to fail"), "{text}");
}

/// Everything that was logged.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Source: service interface, "Events", rule 12, and "Webhook receiver": the secret is shown once.
#[tokio::test(start_paused = true)]
async fn a_report_and_a_secret_are_in_no_log_no_counter_and_no_answer_to_others() {
    const MARK: &str = "marker-of-a-report";
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(lines.clone())
        .finish();
    // With a single subscriber, what another thread meets first is cached as never wanted.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let _log = tracing::subscriber::set_default(subscriber);

    let house = House::new().await;
    let receiver =
        Receiver::new(&house.clock, Act::Answer(204)).plain(&house.internet, "a.example");
    receiver.first(&[
        Act::Answer(500),
        Act::Raw("HTTP/1.1 500 marker-of-a-report\r\n\r\n"),
        Act::Reset,
    ]);
    let hook = connect(&house, "http://a.example/token-in-a-path?token=in-a-query").await;
    let (_, stranger) = house.tenant("second", "1").await;
    let other = connect_as(&house, &stranger, "http://b.example/").await;
    run(&house, json!({ "say": MARK })).await;
    settled(&house, &[&hook]).await;
    assert_eq!(receiver.count(), 4);

    let mut shown = vec![house.metrics().get("/metrics").await.raw];
    for path in [HOOKS, RUNS, "/v1/account", &format!("{HOOKS}/{}/deliveries", hook.id)] {
        shown.push(house.ask_as(&stranger, "GET", path, None).await.raw);
    }
    for path in
        [HOOKS.to_owned(), hook.path(), format!("{}/deliveries?include=attempts", hook.path())]
    {
        shown.push(house.ask("GET", &path, None).await.raw);
    }
    assert!(log(&house, &other).await.is_empty());
    shown.push(String::from_utf8(lines.0.lock().unwrap().clone()).unwrap());
    let logged = shown.last().unwrap();
    assert!(logged.contains("an attempt ended"), "nothing was logged: {logged}");
    assert!(!logged.contains("token-in-a-path") && !logged.contains("in-a-query"), "{logged}");
    let secret = hook.secret.strip_prefix("whsec_").unwrap();
    for text in &shown {
        assert!(!text.contains(MARK) && !text.contains(secret), "{text}");
    }
    house.clock.sleep(Duration::from_secs(1)).await;
    house.examine().await;
}
