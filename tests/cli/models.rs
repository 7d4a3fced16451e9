//! Text models from the outside: the settings, `errand models` and `errand chat`.

use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::{Api, Daemon, Errand, events, finish, json as answer};

const KEY: &str = "service_sk_of_a_test";

/// A home whose commands ask `api`.
fn client_of(api: &Api) -> Errand {
    Errand::new().with("ERRAND_BASE_URL", &api.base_url).with("ERRAND_API_KEY", KEY)
}

fn model(id: &str, offline: bool) -> Value {
    json!({
        "id": id, "object": "model", "created": 1, "owned_by": "operator", "name": id,
        "context_window": 8192, "max_output_tokens": 4096, "offline": offline,
        "pricing": { "currency": "EUR", "input_per_million": "1.5", "output_per_million": "6",
                     "per_request": "0.001" },
        "capabilities": ["text", "stream", "json"],
    })
}

fn list() -> String {
    let data = [model("offline/echo", true), model("vendor/name:8b", false)];
    answer(200, &json!({ "object": "list", "data": data }))
}

const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"cost":"0.0010195","currency":"EUR","estimated":false}}"#;

/// A good stream that says `Hello` and a line's end.
fn good_stream() -> String {
    events(&[
        r#"{"choices":[{"delta":{"role":"assistant","content":""}}],"usage":null}"#,
        r#"{"choices":[{"delta":{"content":"Hel"}}],"usage":null}"#,
        r#"{"choices":[{"delta":{"content":"lo"}}],"usage":null}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":null}"#,
        USAGE,
        "[DONE]",
    ])
}

#[test]
fn the_models_of_a_key_are_listed_with_their_prices() {
    let api = Api::serve(|_, _| list());
    let errand = client_of(&api);
    let done = errand.run(&["models", "list"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let line = done.out.lines().find(|it| it.starts_with("vendor/name:8b")).unwrap();
    let cells: Vec<&str> = line.split("  ").map(str::trim).filter(|it| !it.is_empty()).collect();
    let expected =
        ["vendor/name:8b", "1.5", "6", "0.001", "EUR", "8192", "text, stream, json", "operator"];
    assert_eq!(cells, expected);
    let shown = errand.json(&["models", "list"]);
    assert_eq!(shown["data"][1]["id"], "vendor/name:8b");
    let asked = &api.requests()[0];
    assert!(asked.starts_with("GET /v1/models HTTP/1.1\r\n"), "{asked}");
    let key = format!("authorization: bearer {KEY}");
    assert!(asked.to_ascii_lowercase().contains(&key), "{asked}");
    assert!(!done.out.contains(KEY) && !done.err.contains(KEY));
}

#[test]
fn a_list_in_pages_is_read_to_its_end() {
    let api = Api::serve(|first, _| {
        let is_second = first.starts_with("GET /v1/models?limit=200&offset=1 ");
        let id = if is_second { "b" } else { "a" };
        let data = [model(id, false)];
        answer(200, &json!({ "object": "list", "data": data, "has_more": !is_second }))
    });
    let shown = client_of(&api).json(&["models", "list"]);
    let ids: Vec<&Value> = shown["data"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["a", "b"]);
}

#[test]
fn a_price_is_counted_exactly() {
    let api = Api::serve(|_, _| answer(200, &model("vendor/name:8b", false)));
    let errand = client_of(&api);
    let tokens = ["--input-tokens", "1", "--output-tokens", "300"];
    let shown = errand.json(&[&["models", "price", "vendor/name:8b"][..], &tokens].concat());
    assert_eq!(shown["cost"], "0.0028015");
    assert_eq!(shown["pricing"]["input_per_million"], "1.5");
    let asked = &api.requests()[0];
    assert!(asked.starts_with("GET /v1/models/vendor%2Fname%3A8b HTTP/1.1\r\n"), "{asked}");
    let said = errand.run(&["models", "price", "vendor/name:8b"]).out;
    assert!(said.contains("1.5 EUR per million tokens") && !said.contains("cost"), "{said}");
    errand.refusal(2, &["models", "price", "m", "--input-tokens", "-1"]);
    let most = u64::MAX.to_string();
    errand.refusal(2, &["models", "price", "m", "--input-tokens", &most]);
}

#[test]
fn a_test_says_that_a_model_answers_and_what_that_cost() {
    let api = Api::serve(|_, _| good_stream());
    let errand = client_of(&api);
    let done = errand.run(&["models", "test", "vendor/name:8b"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.starts_with("vendor/name:8b answers.\n"), "{done:?}");
    assert!(done.out.contains("\"Hello\"") && done.out.contains("0.0010195 EUR"), "{done:?}");
    assert_eq!(errand.json(&["models", "test", "m"])["ok"], true);
    let silent = Api::serve(|_, _| {
        events(&[r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#, "[DONE]"])
    });
    let said = client_of(&silent).refusal(1, &["models", "test", "m"]);
    assert!(said.contains("m answered without any text"), "{said}");
}

#[test]
fn an_answer_is_shown_as_it_comes_and_its_cost_out_of_the_way() {
    let api = Api::serve(|first, _| if first.starts_with("GET") { list() } else { good_stream() });
    let errand = client_of(&api);
    let done = errand.run(&["chat", "--system", "Be brief.", "Say hello"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "Hello\n"), "{done:?}");
    assert_eq!(done.err, "vendor/name:8b: 0.0010195 EUR for 5 + 2 tokens\n");
    let asked = api.requests().pop().unwrap();
    let (head, body) = asked.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["model"], "vendor/name:8b", "an offline model is the last resort");
    assert_eq!(body["stream"], true);
    let said = json!([
        { "role": "system", "content": "Be brief." },
        { "role": "user", "content": "Say hello" },
    ]);
    assert_eq!(body["messages"], said);
}

#[test]
fn a_prompt_may_come_on_standard_input() {
    let api = Api::serve(|_, _| good_stream());
    let errand = client_of(&api);
    let mut child = errand
        .command(&["chat", "--model", "m"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"one\ntwo\n").unwrap();
    let done = finish(child);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "Hello\n"), "{done:?}");
    assert!(api.requests()[0].contains(r#""content":"one\ntwo\n""#), "{:?}", api.requests());
    for empty in [&["chat"][..], &["chat", ""], &["chat", "  "]] {
        assert!(errand.refusal(2, empty).contains("nothing to say"));
    }
}

#[test]
fn an_answer_in_one_piece_is_asked_for_when_it_is_wanted() {
    let whole = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "m",
        "choices": [{ "index": 0, "finish_reason": "length",
                      "message": { "role": "assistant", "content": "Hello\n" } }],
        "usage": { "prompt_tokens": 5, "completion_tokens": 2, "cost": "0.1", "currency": "EUR",
                   "estimated": true },
    });
    let said = whole.clone();
    let api = Api::serve(move |_, _| answer(200, &said));
    let errand = client_of(&api);
    let done = errand.run(&["chat", "--model", "m", "--no-stream", "hi"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "Hello\n"), "{done:?}");
    let cost = "m: 0.1 EUR for 5 + 2 tokens (estimated); cut at the limit of tokens\n";
    assert_eq!(done.err, cost);
    assert_eq!(errand.json(&["chat", "--model", "m", "hi"]), whole);
    assert!(api.requests().iter().all(|it| !it.contains("\"stream\"")), "{:?}", api.requests());
}

#[test]
fn a_part_of_an_answer_is_never_taken_for_the_whole() {
    let error = r#"{"error":{"message":"The upstream went away.","type":"server_error","param":null,"code":"upstream_error"}}"#;
    let piece = r#"{"choices":[{"delta":{"content":"Hel"}}]}"#;
    for (stream, reason) in [
        (events(&[piece]), "the stream ended before its end"),
        (events(&[piece, error]), "the upstream went away"),
        (events(&[piece, "{"]), "no JSON"),
    ] {
        let api = Api::serve(move |_, _| stream.clone());
        let done = client_of(&api).run(&["chat", "--model", "m", "hi"]);
        assert_eq!((done.code, done.out.as_str()), (Some(1), "Hel\n"), "{done:?}");
        assert!(done.err.starts_with("error: ") && done.err.contains(reason), "{done:?}");
    }
}

#[test]
fn a_refusal_is_told_in_the_words_of_the_api_and_with_its_code() {
    for (status, code) in [(400, 2), (401, 4), (402, 1), (403, 4), (404, 5), (429, 6), (502, 1)] {
        let body = json!({ "error": { "message": "The balance is too low.", "code": "x" } });
        let api = Api::serve(move |_, _| answer(status, &body));
        let errand = client_of(&api);
        for args in [&["chat", "--model", "m", "hi"][..], &["models", "list"]] {
            let said = errand.refusal(code, args);
            assert_eq!(said, "error: the balance is too low\n", "{status}");
        }
    }
}

#[test]
fn whom_to_ask_is_said_by_flags_then_variables_then_a_developers_file() {
    let errand = Errand::new();
    let said = errand.refusal(5, &["models", "list"]);
    assert!(said.contains("no dev.json") && said.contains("ERRAND_BASE_URL"), "{said}");
    let (flag, variable, file) =
        (Api::serve(|_, _| list()), Api::serve(|_, _| list()), Api::serve(|_, _| list()));
    let asked = || [flag.requests().len(), variable.requests().len(), file.requests().len()];
    std::fs::create_dir(errand.home().join(".errand")).unwrap();
    let dev = json!({ "base_url": file.base_url, "api_key": "of-the-file", "signing_secret": "s",
                      "account_id": "a" });
    errand.file(".errand/dev.json", &dev.to_string());
    errand.json(&["models", "list"]);
    assert_eq!(asked(), [0, 0, 1]);
    let errand = errand.with("ERRAND_BASE_URL", &variable.base_url);
    errand.json(&["models", "list"]);
    assert_eq!(asked(), [0, 1, 1]);
    assert!(variable.requests()[0].contains("of-the-file"));
    let key = errand.file("key", "of-the-flag\n");
    errand.json(&["models", "list", "--url", &flag.base_url, "--key-file", &key]);
    assert_eq!(asked(), [1, 1, 1]);
    assert!(flag.requests()[0].contains("of-the-flag"));
    let said = errand.refusal(3, &["models", "list", "--url", "http://127.0.0.1:1/v1"]);
    assert!(said.contains("nobody listens at http://127.0.0.1:1/v1"), "{said}");
    errand.refusal(2, &["models", "list", "--url", "127.0.0.1:7270"]);
    errand.refusal(5, &["models", "list", "--key-file", "absent"]);
}

/// Source: the contract, section 5: built in, and without a price not served.
#[test]
fn a_daemon_offers_the_models_of_its_settings_beside_those_that_need_no_network() {
    let errand = Errand::new();
    let text = "[[models]]\nid = \"local/llama\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
                input_per_million = \"1\"\noutput_per_million = \"2\"\n";
    let file = errand.file("models.toml", text);
    for verb in ["dev", "serve"] {
        let data = errand.home().join(verb).display().to_string();
        let args = [verb, "--listen", "127.0.0.1:0", "--config", &file, "--data-dir", &data];
        let daemon = Daemon::start(&errand, &args);
        let all = "local/llama, offline/echo, offline/extract, offline/lorem-stream";
        assert_eq!(daemon.fact("models"), all, "{verb}");
        daemon.stop();
    }
    let unpriced = errand.file("unpriced.toml", &text[..text.find("input").unwrap()]);
    let said = errand.refusal(7, &["serve", "--config", &unpriced]);
    assert!(said.contains("unpriced.toml:1: the price is missing"), "{said}");
    assert!(said.contains("free = true"), "{said}");
    assert!(!errand.data().exists(), "a daemon with wrong settings made a directory");
}

#[test]
fn a_key_file_that_others_can_read_stops_the_check_and_the_daemon() {
    let errand = Errand::new();
    let key = errand.file("upstream.key", "sk-upstream\n");
    let text = format!(
        "[[models]]\nid = \"m\"\nfree = true\nbase_url = \"http://127.0.0.1:1/v1\"\n\
         api_key_file = {key:?}\n"
    );
    let file = errand.file("models.toml", &text);
    let mode =
        |mode| std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o644);
    for args in [&["config", "check", &file][..], &["serve", "--config", &file]] {
        let said = errand.refusal(7, args);
        assert!(said.contains("models.toml:5: api_key_file: others can read"), "{said}");
        assert!(said.contains("chmod 600") && !said.contains("sk-upstream"), "{said}");
    }
    mode(0o600);
    let checked = errand.json(&["config", "check", &file]);
    assert_eq!(checked["models"], json!(["m"]));
    std::fs::remove_file(&key).unwrap();
    errand.refusal(7, &["config", "check", &file]);
    errand.json(&["account", "list", "--config", &file, "--data-dir", &data_of(&errand)]);
}

/// A directory with data in it.
fn data_of(errand: &Errand) -> String {
    let data = errand.home().join("data").display().to_string();
    errand.json(&["account", "create", "--name", "Ana", "--data-dir", &data]);
    data
}

#[test]
fn what_is_shown_of_models_is_a_settings_file_with_the_same_models() {
    let errand = Errand::new();
    let begun = errand.run(&["config", "init"]).out;
    let (head, models) = begun.split_once("\n# Text models").unwrap();
    let is_setting = |it: &&str| it.starts_with('#') && !it.starts_with("# ") && *it != "#";
    let models: String =
        models.lines().filter(is_setting).map(|it| format!("{}\n", &it[1..])).collect();
    let file = errand.file("errand.toml", &format!("{head}\n{models}"));
    let shown = errand.run(&["config", "show", "--config", &file]).out;
    let again = errand.file("shown.toml", &shown);
    assert_eq!(errand.run(&["config", "show", "--config", &again]).out, shown);
    let ids: Vec<&str> = shown.lines().filter(|it| it.starts_with("id = ")).collect();
    assert_eq!(ids, ["id = \"local/llama3.2\"", "id = \"local/qwen\"", "id = \"hosted/large\""]);
    let sources = errand.json(&["config", "show", "--config", &file]);
    assert_eq!(sources["models"][0]["id"], "local/llama3.2");
    let listing = errand.run(&["config", "keys"]).out;
    assert!(listing.contains("[[models]] input_per_million\n"), "{listing}");
}

#[test]
fn the_example_of_the_readme_is_a_good_settings_file() {
    let readme = include_str!("../../README.md");
    let (_, example) = readme.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let errand = Errand::new();
    let file = errand.file("errand.toml", example);
    let shown = errand.json(&["config", "show", "--config", &file]);
    let ids: Vec<&Value> = shown["models"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["local/llama3.2", "local/qwen", "hosted/large"]);
}

#[test]
fn a_daemon_for_customers_gives_nothing_away_that_it_finds() {
    let errand = Errand::new();
    let file = errand.file("errand.toml", "[chat]\ndiscover = \"on\"\n");
    let said = errand.refusal(7, &["config", "check", &file]);
    assert!(said.contains("errand.toml:2: chat.discover is for `errand dev`"), "{said}");
    let shown = errand.json(&["config", "show"]);
    let settings = shown["settings"].as_array().unwrap();
    let discover = settings.iter().find(|it| it["key"] == "chat.discover").unwrap();
    assert_eq!(discover["value"], "\"off\"");
}

#[test]
fn a_developers_daemon_is_asked_without_any_flag() {
    let errand = Errand::new();
    let text = "[[models]]\nid = \"local/silent\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
                input_per_million = \"1.5\"\noutput_per_million = \"6\"\n";
    let file = errand.file("models.toml", text);
    let daemon = Daemon::start(&errand, &["dev", "--listen", "127.0.0.1:0", "--config", &file]);
    let shown = errand.json(&["models", "list"]);
    let ids: Vec<&Value> = shown["data"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["local/silent", "offline/echo", "offline/extract", "offline/lorem-stream"]);
    let tokens = ["--input-tokens", "1000", "--output-tokens", "1"];
    let price = errand.json(&[&["models", "price", "local/silent"][..], &tokens].concat());
    assert_eq!(price["cost"], "0.001506");
    assert_eq!(errand.json(&["models", "test", "offline/echo"])["ok"], true);
    for how in [
        &["chat", "--model", "offline/echo", "hello"][..],
        &["chat", "--model", "offline/echo", "--no-stream", "hello"],
    ] {
        let done = errand.run(how);
        assert_eq!(
            (done.code, done.out.as_str()),
            (Some(0), "[offline model] hello\n"),
            "{done:?}"
        );
        assert!(done.err.starts_with("offline/echo: 0 EUR for 1 + "), "{done:?}");
    }
    errand.refusal(5, &["models", "price", "no/such"]);
    errand.refusal(5, &["chat", "--model", "no/such", "hello"]);
    let silent = errand.run(&["chat", "hello"]);
    assert_eq!((silent.code, silent.out.as_str()), (Some(1), ""), "{silent:?}");
    daemon.stop();
}
