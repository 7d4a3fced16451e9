//! The binary as a process, and what is asked of it.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::http;
use crate::upstream::Upstream;

/// A daemon that runs.
pub(crate) struct Daemon {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) key: String,
    pub(crate) account: String,
}

impl Daemon {
    /// Starts it on the files in `dir` and waits until it is ready. What it logs is kept beside
    /// them, to be read when it does not come up.
    pub(crate) fn start(dir: &Path, upstream: &Upstream) -> Self {
        let mut command = errand();
        let settings = dir.with_file_name("errand.toml");
        std::fs::write(&settings, upstream.settings()).unwrap();
        command.args(["dev", "--listen", "127.0.0.1:0", "--config"]).arg(settings);
        command.arg("--data-dir").arg(dir).env("ERRAND_CHAT_DISCOVER", "off");
        let log = dir.with_file_name("log");
        let keep = File::options().append(true).create(true).open(&log).unwrap();
        command.stdout(Stdio::piped()).stderr(keep);
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = Vec::new();
        for line in lines {
            said.push(line.unwrap());
            if said.last().is_some_and(|it| it.trim_start().starts_with("ready")) {
                break;
            }
        }
        let told = std::fs::read_to_string(dir.join("dev.json"));
        let told =
            told.unwrap_or_else(|it| panic!("{it}; the daemon said: {said:#?} {}", read(&log)));
        let told: Value = serde_json::from_str(&told).unwrap();
        let base = told["base_url"].as_str().unwrap();
        let address = base.trim_start_matches("http://").trim_end_matches("/v1");
        let key = told["api_key"].as_str().unwrap().to_owned();
        let account = told["account_id"].as_str().unwrap().to_owned();
        Self { child, address: address.parse().unwrap(), key, account }
    }

    /// Kills it as the kernel does when memory is short: at once, whatever it is doing.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it as an operator does.
    pub(crate) fn stop(mut self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
    }

    /// Makes a resource; its JSON.
    pub(crate) fn post(&self, path: &str, body: &str) -> Value {
        let (status, body) = http::ask(self.address, &self.key, "POST", path, body).unwrap();
        assert_eq!(status, 201, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// The JSON of a resource.
    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, body) = http::ask(self.address, &self.key, "GET", path, "").unwrap();
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind; a daemon that is gone is no fault here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary, without the setting of this test: it would call it an unknown one of its own.
fn errand() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_errand"));
    command.env_remove("ERRAND_KILLS");
    command
}

/// The text of a file that may not be there.
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The JSON that a command prints about the files in `dir` while no daemon has them.
pub(crate) fn offline(dir: &Path, words: &[&str]) -> Value {
    let mut command = errand();
    command.args(words).args(["--output", "json", "--data-dir"]).arg(dir);
    let done = command.output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    serde_json::from_str(&text)
        .unwrap_or_else(|it| panic!("{it}: {text} {}", String::from_utf8_lossy(&done.stderr)))
}
