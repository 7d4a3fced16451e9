//! `errand serve`: it starts, it is alone, it ends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;

use crate::support::{Daemon, Errand, get};

#[test]
fn it_says_what_it_serves_and_answers() {
    let errand = Errand::new();
    let daemon = Daemon::serve(&errand);
    assert_eq!(daemon.fact("API"), format!("http://{}/v1", daemon.address()));
    assert_eq!(daemon.fact("data"), format!("{} (new)", errand.data().display()));
    assert!(daemon.fact("settings").starts_with("none"));
    assert!(daemon.fact("next").contains("errand account create"));
    assert!(!daemon.banner.concat().contains("WARNING"));
    assert_eq!(daemon.get("/healthz", "").body, "ok\n");
    assert_eq!(daemon.get("/readyz", "").status, 200);
    assert_eq!(daemon.get("/v1/account", "").status, 401);
    daemon.stop();
    let again = Daemon::serve(&errand);
    assert_eq!(again.fact("data"), errand.data().display().to_string());
}

#[test]
fn a_directory_has_one_daemon() {
    let errand = Errand::new();
    let daemon = Daemon::serve(&errand);
    let said = errand.refusal(6, &["serve", "--listen", "127.0.0.1:0"]);
    assert!(said.contains(&format!("process {}", daemon.pid())), "{said}");
    assert_eq!(daemon.get("/healthz", "").status, 200);
    daemon.stop();
    Daemon::serve(&errand).stop();
}

#[test]
fn a_port_that_is_taken_is_a_conflict() {
    let (errand, other) = (Errand::new(), Errand::new());
    let daemon = Daemon::serve(&errand);
    let said = other.refusal(6, &["serve", "--listen", &daemon.address()]);
    assert!(said.contains(&daemon.address()) && said.contains("--listen 127.0.0.1:0"), "{said}");
    assert!(!other.data().join("errand.redb").exists(), "a data file was made for nothing");
}

#[test]
fn it_ends_well_within_the_grace_while_connections_are_open() {
    let errand = Errand::new().with("ERRAND_HTTP_DRAIN_TIMEOUT", "30s");
    let mut daemon = Daemon::serve(&errand);
    let mut idle = TcpStream::connect(daemon.address()).unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
    let mut first = [0; 15];
    idle.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK");
    daemon.signal("TERM");
    assert!(daemon.line().starts_with("stopping"));
    let (code, errors) = daemon.end();
    assert_eq!(code, Some(0), "{errors}");
    assert!(!errand.data().join("control.sock").exists());
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let errand = Errand::new().with("ERRAND_HTTP_DRAIN_TIMEOUT", "1h");
    let mut daemon = Daemon::serve(&errand);
    let mut busy = TcpStream::connect(daemon.address()).unwrap();
    // A request that is under way until its body comes.
    let head = "POST /v1/agents/runs HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n";
    busy.write_all(head.as_bytes()).unwrap();
    daemon.signal("INT");
    assert!(daemon.line().starts_with("stopping"));
    daemon.signal("INT");
    assert_eq!(daemon.end().0, Some(0));
}

#[test]
fn what_a_killed_daemon_leaves_is_in_nobodys_way() {
    let errand = Errand::new();
    let account = errand.account(&[]);
    Daemon::serve(&errand).kill();
    assert!(errand.data().join("control.sock").exists());
    errand.refusal(3, &["status"]);
    assert_eq!(errand.json(&["balance", "show", &account])["balance"], "10");
    assert_eq!(errand.json(&["doctor"])["ok"], true);
    let daemon = Daemon::serve(&errand);
    assert_eq!(errand.json(&["status"])["accounts"], 1);
    daemon.stop();
}

#[test]
fn the_data_of_a_developer_is_served_only_when_it_is_adopted() {
    let errand = Errand::new();
    let daemon = Daemon::dev(&errand);
    let key = daemon.fact("key");
    daemon.stop();
    let said = errand.refusal(6, &["serve", "--data-dir", ".errand", "--listen", "127.0.0.1:0"]);
    assert!(said.contains("--adopt-dev"), "{said}");
    let args = ["serve", "--data-dir", ".errand", "--listen", "127.0.0.1:0", "--adopt-dev"];
    let daemon = Daemon::start(&errand, &args);
    assert_eq!(daemon.get("/v1/account", &key).json()["balance"], "1000");
    assert!(!errand.home().join(".errand/dev.json").exists());
    daemon.stop();
    let said = errand.refusal(0, &["config", "check"]);
    assert_eq!(said, "");
    Daemon::start(&errand, &args[..5]).stop();
}

#[test]
fn a_service_manager_is_told_when_it_is_ready_and_when_it_stops() {
    let errand = Errand::new();
    let path = errand.home().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let told = || {
        let mut text = [0; 256];
        let length = manager.recv(&mut text).unwrap();
        String::from_utf8(text[..length].to_vec()).unwrap()
    };
    let errand =
        errand.with("NOTIFY_SOCKET", path.to_str().unwrap()).with("WATCHDOG_USEC", "600000");
    let daemon = Daemon::serve(&errand);
    assert!(told().starts_with("STATUS=opening the data file\nEXTEND_TIMEOUT_USEC="));
    let ready = told();
    assert!(ready.starts_with("READY=1\n") && ready.contains(&daemon.address()), "{ready}");
    assert_eq!(told(), "WATCHDOG=1");
    assert_eq!(told(), "WATCHDOG=1");
    daemon.stop();
    let last = std::iter::repeat_with(told).find(|it| it != "WATCHDOG=1").unwrap();
    assert!(last.starts_with("STOPPING=1\n"), "{last}");
}

#[test]
fn counters_have_a_port_of_their_own() {
    let errand = Errand::new().with("ERRAND_METRICS_LISTEN", "127.0.0.1:0");
    let daemon = Daemon::serve(&errand);
    let url = daemon.fact("counters");
    let address = url.strip_prefix("http://").unwrap().strip_suffix("/metrics").unwrap();
    assert!(get(address, "/metrics", "").body.contains("errand_commits_total"));
    assert_eq!(daemon.get("/metrics", "").status, 404);
}

#[test]
fn strangers_that_could_listen_in_are_warned_of() {
    let daemon = Daemon::start(&Errand::new(), &["serve", "--listen", "0.0.0.0:0"]);
    assert!(daemon.fact("WARNING").contains("keys travel in the clear"));
}

#[test]
fn certificates_are_read_again_at_sighup() {
    let errand = Errand::new().with("ERRAND_LOG_FORMAT", "text");
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let cert = errand.file("cert.pem", &issued.cert.pem());
    let key = errand.file("key.pem", &issued.signing_key.serialize_pem());
    let file = errand.file("errand.toml", &format!("[tls]\ncert = \"{cert}\"\nkey = \"{key}\"\n"));
    let args = ["serve", "--listen", "127.0.0.1:0", "--config", &file];
    let daemon = Daemon::start(&errand, &args);
    assert!(daemon.fact("API").starts_with("https://127.0.0.1:"));
    daemon.signal("HUP");
    // Signals of different kinds may overtake each other; an answer shows that the loop has turned.
    errand.json(&["status"]);
    daemon.signal("TERM");
    let (code, errors) = daemon.end();
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("the TLS files were read again"), "{errors}");
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_not_a_death() {
    let errand = Errand::new();
    let call =
        format!("ulimit -f 64; exec {} serve --listen 127.0.0.1:0", env!("CARGO_BIN_EXE_errand"));
    let done = errand.through("sh", &["-c", &call]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("error: "), "{said}");
}

#[test]
fn a_directory_whose_socket_can_have_no_name_is_refused_at_once() {
    let errand = Errand::new();
    let long = "x".repeat(120);
    let said = errand.refusal(1, &["serve", "--data-dir", &long, "--listen", "127.0.0.1:0"]);
    assert!(said.contains("longer than the name of a socket"), "{said}");
    assert!(!errand.home().join(&long).join("errand.redb").exists());
}
