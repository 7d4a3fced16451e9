//! Paths and methods: what there is, and how the rest is refused.

use serde_json::json;

use crate::support::{House, RUNS, golden, path_of, shown};

/// Every path, and the methods that it has.
const PATHS: [(&str, &str); 9] = [
    ("/healthz", "GET, HEAD"),
    ("/readyz", "GET, HEAD"),
    ("/v1/account", "GET, HEAD"),
    ("/v1/agents", "GET, HEAD"),
    ("/v1/agents/", "GET, HEAD"),
    ("/v1/agents/runs", "POST, GET, HEAD"),
    ("/v1/agents/runs/x", "GET, HEAD, DELETE"),
    ("/v1/agents/runs/x/result", "GET, HEAD"),
    ("/v1/agents/runs/x/cancel", "POST"),
];

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

#[tokio::test(start_paused = true)]
async fn a_path_refuses_the_methods_it_does_not_have_and_names_those_it_has() {
    let house = House::new().await;
    for (path, methods) in PATHS {
        for method in METHODS {
            let has = methods.split(", ").any(|it| it == method);
            // Whoever asks: the answer is about the path.
            for key in ["", &house.key] {
                let reply = house.ask_as(key, method, path, None).await;
                assert_eq!(reply.status == 405, !has, "{method} {path}: {}", reply.raw);
                if !has {
                    assert_eq!(reply.header("allow"), Some(methods), "{method} {path}");
                    let code = if method == "HEAD" { "" } else { "method_not_allowed" };
                    let found = if reply.text.is_empty() { String::new() } else { reply.code() };
                    assert_eq!(found, code, "{method} {path}");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_path_that_is_not_there_is_not_normalised_into_one_that_is() {
    let house = House::new().await;
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v2/agents",
        "/api/v1/agents",
        "/V1/agents",
        "/v1//agents",
        "/v1/agents//",
        "/v1/agents/runs/x/",
        "/v1/agents/runs/x/steps/",
        "/v1/agents/../account",
        "/v1/./account",
        "/v1/%61ccount/",
        "/v1%2Faccount",
        "/healthz/",
        "/metrics",
        "/status",
        "/accounts",
    ] {
        let reply = house.ask("GET", path, None).await;
        assert_eq!((reply.status, reply.code().as_str()), (404, "route_not_found"), "{path}");
    }
    for path in ["/v1/%00", "/v1/%zz", "/v1/%c3%a9", "/v1/agents/runs/%0a"] {
        let reply = house.ask("GET", path, None).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_path"), "{path}");
    }
    // An escape that needs none is the same path.
    assert_eq!(house.ask("GET", "/v1/%61ccount", None).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_head_is_a_get_without_its_body() {
    let house = House::new().await;
    let run = house.run(json!({})).await;
    house.over(&run).await;
    let result = format!("{}/result", path_of(&run));
    for path in [
        "/healthz",
        "/v1/account",
        "/v1/agents/",
        RUNS,
        &path_of(&run),
        &result,
        "/v1/agents/runs/x",
    ] {
        let get = house.ask("GET", path, None).await;
        let head = house.ask("HEAD", path, None).await;
        assert_eq!((head.status, head.text.as_str()), (get.status, ""), "{path}");
        let without_id = |headers: &[(String, String)]| {
            headers.iter().filter(|it| it.0 != "x-request-id").cloned().collect::<Vec<_>>()
        };
        assert_eq!(without_id(&head.headers), without_id(&get.headers), "{path}");
    }
    assert_eq!(house.ask_as("", "HEAD", RUNS, None).await.status, 401);
}

#[tokio::test(start_paused = true)]
async fn health_is_open_to_everybody() {
    let house = House::new().await;
    house.settle().await;
    golden("api/healthz.txt", &shown(&house.ask_as("", "GET", "/healthz", None).await));
    golden("api/readyz.txt", &shown(&house.ask_as("", "GET", "/readyz", None).await));
}

#[tokio::test(start_paused = true)]
async fn requests_of_one_connection_are_answered_in_order_and_have_ids_of_their_own() {
    use tokio::io::AsyncWriteExt as _;
    let house = House::new().await;
    let one = crate::support::http::request("GET", "/v1/account", &house.key, "");
    let keep = one.replace("connection: close\r\n", "");
    let mut connection = house.client().connect();
    let all = [keep.clone(), keep.replace("/v1/account", "/v1/nowhere"), one].concat();
    connection.stream.write_all(all.as_bytes()).await.unwrap();
    let reply = crate::support::http::read(&mut connection.stream).await;
    let ids: Vec<_> = reply.raw.split("x-request-id: ").skip(1).map(|it| &it[..30]).collect();
    assert_eq!(ids.len(), 3, "{}", reply.raw);
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
    let statuses: Vec<_> = reply.raw.split("HTTP/1.1 ").skip(1).map(|it| &it[..3]).collect();
    assert_eq!(statuses, ["200", "404", "200"]);
}
