//! Golden streams of each dialect, whole ones and broken ones.

use std::time::Duration;

use errand::domain::chat::{Count, CountSource, FinishReason, Usage};
use errand::models::{End, Fault};
use errand::outbound::fake::Internet;

use crate::support::{LAST, Reply, Server, Step, chunk, head, listen, registry, stream};

/// What a stream comes to: its text, and its end.
type Said = (&'static str, Result<End, Fault>);

fn ended(text: &'static str, finish: FinishReason, count: Option<(u64, u64, CountSource)>) -> Said {
    let count = count.map(|(prompt_tokens, completion_tokens, source)| Count {
        usage: Usage { prompt_tokens, completion_tokens },
        source,
    });
    (text, Ok(End { finish, count }))
}

async fn hear(reply: Reply) -> (String, Result<End, Fault>) {
    let internet = Internet::new();
    Server::at(&internet, "a.example", vec![reply]);
    listen(&registry(&internet, &["a.example"])).await
}

/// Checks what a stream comes to, in one piece, byte by byte, and cut in two anywhere.
async fn check_stream(body: &str, said: Said) {
    let expected = (said.0.to_owned(), said.1);
    assert_eq!(hear(stream(body)).await, expected, "{body}");
    let pause = Step::Pause(Duration::from_millis(1));
    let start = || Step::Say(head("text/event-stream"));
    let end = || Step::Say(LAST.to_vec());
    let mut reply = vec![start()];
    for byte in body.as_bytes() {
        reply.extend([Step::Say(chunk(&[*byte])), pause.clone()]);
    }
    reply.push(end());
    assert_eq!(hear(reply).await, expected, "byte by byte: {body}");
    for at in 1..body.len() {
        let (first, second) = body.as_bytes().split_at(at);
        let parts =
            [start(), Step::Say(chunk(first)), pause.clone(), Step::Say(chunk(second)), end()];
        assert_eq!(hear(parts.to_vec()).await, expected, "cut at {at}: {body}");
    }
}

const UPSTREAM: CountSource = CountSource::Upstream;

#[tokio::test(start_paused = true)]
async fn a_hosted_server_says_role_text_reason_usage_and_done() {
    let body = concat!(
        r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"t","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}"#,
        "\n\n",
        r#"data: {"id":"c","choices":[{"index":0,"delta":{"content":"Hé"},"finish_reason":null}],"usage":null}"#,
        "\n\n",
        r#"data: {"id":"c","choices":[{"index":0,"delta":{"content":"llo"},"finish_reason":null}],"usage":null}"#,
        "\n\n",
        r#"data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"length"}],"usage":null}"#,
        "\n\n",
        r#"data: {"id":"c","choices":[],"usage":{"prompt_tokens":8,"completion_tokens":2,"total_tokens":10}}"#,
        "\n\n",
        "data: [DONE]\n\n",
    );
    check_stream(body, ended("Héllo", FinishReason::Length, Some((8, 2, UPSTREAM)))).await;
}

#[tokio::test(start_paused = true)]
async fn ollama_repeats_the_role_and_has_usage_of_its_own() {
    let body = concat!(
        r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"l:8b","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}"#,
        "\n\n",
        r#"data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":26,"completion_tokens":1,"total_tokens":27}}"#,
        "\n\n",
        "data: [DONE]\n\n",
    );
    check_stream(body, ended("Hi", FinishReason::Stop, Some((26, 1, UPSTREAM)))).await;
}

#[tokio::test(start_paused = true)]
async fn llama_cpp_has_timings_which_count_when_there_is_no_usage() {
    let with = |usage: &str| {
        [
            r#"data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}]}"#, "\n\n",
            r#"data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Hi"}}]}"#, "\n\n",
            r#"data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"#, usage,
            r#""timings":{"cache_n":3,"prompt_n":5,"prompt_ms":1.5,"predicted_n":2}}"#, "\n\n",
            "data: [DONE]\n\n",
        ].concat()
    };
    let usage = r#""usage":{"prompt_tokens":9,"completion_tokens":3},"#;
    check_stream(&with(usage), ended("Hi", FinishReason::Stop, Some((9, 3, UPSTREAM)))).await;
    let timings = Some((8, 2, CountSource::Timings));
    check_stream(&with(""), ended("Hi", FinishReason::Stop, timings)).await;
}

#[tokio::test(start_paused = true)]
async fn vllm_counts_in_every_chunk_and_the_last_one_counts() {
    let body = concat!(
        r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}],"usage":{"prompt_tokens":8,"completion_tokens":0}}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"content":"Hi"}}],"usage":{"prompt_tokens":8,"completion_tokens":1}}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop","stop_reason":null}],"usage":{"prompt_tokens":8,"completion_tokens":2}}"#,
        "\n\n",
        "data: [DONE]\n\n",
    );
    check_stream(body, ended("Hi", FinishReason::Stop, Some((8, 2, UPSTREAM)))).await;
}

#[tokio::test(start_paused = true)]
async fn comments_carriage_returns_and_thoughts_do_not_show() {
    let body = concat!(
        ": PROCESSING\r\n\r\n",
        "event: message\r\nid: 1\r\n",
        r#"data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}"#,
        "\r\n\r\n",
        ": keep-alive\r\n\r\n",
        r#"data:{"choices":[{"index":0,"delta":{"content":"a\r\nb","reasoning":"hm"}}]}"#,
        "\r\n\r\n",
        r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}"#,
        "\r\n\r\n",
        "data: [DONE]\r\n\r\n",
    );
    check_stream(body, ended("a\r\nb", FinishReason::ContentFilter, None)).await;
}

#[tokio::test(start_paused = true)]
async fn a_reason_without_done_and_done_without_a_reason_are_both_an_end() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let reason = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    check_stream(&[text, reason].concat(), ended("Hi", FinishReason::Stop, None)).await;
    let done = "data: [DONE]\n\n";
    check_stream(&[text, done].concat(), ended("Hi", FinishReason::Stop, None)).await;
    // The last line may lack its end.
    let unended = [text, reason.trim_end()].concat();
    check_stream(&unended, ended("Hi", FinishReason::Stop, None)).await;
    check_stream(&[text, done.trim_end()].concat(), ended("Hi", FinishReason::Stop, None)).await;
}

#[tokio::test(start_paused = true)]
async fn an_explicit_zero_is_a_count_and_an_impossible_one_is_none() {
    let with = |usage: &str| {
        let last =
            r#"data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":"#;
        format!("{last}{usage}}}\n\n")
    };
    let zero = with(r#"{"prompt_tokens":0,"completion_tokens":0}"#);
    check_stream(&zero, ended("Hi", FinishReason::Stop, Some((0, 0, UPSTREAM)))).await;
    let negative = with(r#"{"prompt_tokens":-8,"completion_tokens":2}"#);
    check_stream(&negative, ended("Hi", FinishReason::Stop, None)).await;
}

#[tokio::test(start_paused = true)]
async fn events_without_empty_lines_between_them_are_read_line_by_line() {
    let body = concat!(
        "data: {\"choices\":[{\"delta\":{\"content\":\"H\"}}]}\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"i\"},\"finish_reason\":\"stop\"}]}\n",
        "data: [DONE]\n",
    );
    check_stream(body, ended("Hi", FinishReason::Stop, None)).await;
    let pretty = concat!(
        "data: {\"choices\":\n",
        "data: [{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n",
    );
    check_stream(pretty, ended("Hi", FinishReason::Stop, None)).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_without_saying_so_broke_off() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    check_stream(text, ("Hi", Err(Fault::Truncated))).await;
    // Ollama's way to fail in the middle: an empty chunk, and the end.
    let empty = r#"data: {"id":"","object":"","created":0,"model":"","choices":null}"#;
    check_stream(&format!("{text}{empty}\n\n"), ("Hi", Err(Fault::Truncated))).await;
    let half = r#"data: {"choices":[{"delta":{"conte"#;
    check_stream(&format!("{text}{half}"), ("Hi", Err(Fault::Truncated))).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_anywhere_before_its_reason_is_never_whole() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let reason = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}";
    let body = format!("{text}{reason}\n\ndata: [DONE]\n\n");
    for at in 0..body.len() {
        let (said, end) = hear(stream(&body[..at])).await;
        assert_eq!(end.is_ok(), at >= text.len() + reason.len(), "cut at {at}");
        assert_eq!(said, if at < text.trim_end().len() { "" } else { "Hi" }, "cut at {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_in_a_stream_is_a_fault_and_never_text() {
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    for (error, fault) in [
        ("data: {\"error\":{\"message\":\"no memory\",\"code\":500}}\n\n", Fault::Failed),
        ("data: {\"error\":\"no memory\"}\n\ndata: [DONE]\n\n", Fault::Failed),
        ("event: error\ndata: {\"message\":\"no memory\"}\n\n", Fault::Failed),
        ("event: error\ndata: no memory\n\n", Fault::Failed),
        ("error: {\"code\":500,\"message\":\"no memory\"}\n\n", Fault::Failed),
        ("data: {\"object\":\"error\",\"message\":\"x\",\"code\":404}\n\n", Fault::Misconfigured),
        ("data: {\"error\":{\"type\":\"exceed_context_size_error\"}}\n\n", Fault::ContextLength),
        ("data: nonsense\n\n", Fault::Invalid),
        ("data: [1]\n\n", Fault::Invalid),
    ] {
        // A cut within the text's own event would make it the first piece: both ways are the same.
        check_stream(&format!("{text}{error}"), ("Hi", Err(fault))).await;
    }
}

#[tokio::test(start_paused = true)]
async fn after_the_reason_nothing_can_spoil_an_answer() {
    let whole =
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    for rest in ["data: {\"error\":\"late\"}\n\n", "data: nonsense\n\n", "error: late\n\n"] {
        check_stream(&format!("{whole}{rest}"), ended("Hi", FinishReason::Stop, None)).await;
    }
    let start = [head("text/event-stream"), chunk(whole.as_bytes())].concat();
    for last in [Step::Close, Step::Reset, Step::Hang] {
        let said = hear(vec![Step::Say(start.clone()), last]).await;
        assert_eq!(said, ("Hi".to_owned(), ended("Hi", FinishReason::Stop, None).1));
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_may_be_one_object_whatever_its_type_says() {
    let object = r#"{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"length"}],"usage":{"prompt_tokens":8,"completion_tokens":1}}"#;
    let events = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n";
    for content_type in ["text/event-stream", "application/json", "text/plain", "x"] {
        for (body, said) in [
            (object, ended("Hi", FinishReason::Length, Some((8, 1, UPSTREAM)))),
            (events, ended("Hi", FinishReason::Stop, None)),
        ] {
            let bytes = [head(content_type), chunk(b" \n"), chunk(body.as_bytes()), LAST.to_vec()];
            let heard = hear(vec![Step::Say(bytes.concat())]).await;
            assert_eq!(heard, (said.0.to_owned(), said.1), "{content_type}");
        }
    }
}
