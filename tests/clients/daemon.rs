//! `errand dev` with a mock upstream, and what its operator sees.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A daemon that runs.
pub(crate) struct Daemon {
    child: Child,
    dir: TempDir,
    told: Value,
}

impl Daemon {
    /// Starts one that offers the models of `upstream`, and waits until it is ready.
    pub(crate) fn start(upstream: SocketAddr) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let settings: String = ["paid", "cut", "broken"].map(|it| model(it, upstream)).concat();
        std::fs::write(dir.path().join("errand.toml"), settings).unwrap();
        let mut command = errand();
        command.args(["dev", "--listen", "127.0.0.1:0", "--data-dir", "data"]);
        command.args(["--config", "errand.toml"]).current_dir(dir.path());
        command.env("ERRAND_CHAT_DISCOVER", "off").stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let is_ready = lines.into_iter().any(|it| it.trim_start().starts_with("ready"));
        assert!(is_ready, "the daemon did not come up");
        let told = std::fs::read_to_string(dir.path().join("data/dev.json")).unwrap();
        Self { child, told: serde_json::from_str(&told).unwrap(), dir }
    }

    pub(crate) fn base_url(&self) -> &str {
        self.told["base_url"].as_str().unwrap()
    }

    /// A key with everything, one of an account without money, and one without the right to chat.
    pub(crate) fn keys(&self) -> [String; 3] {
        let poor = self.operator(&["account", "create", "--name", "poor"]);
        let key = |account: &str, rights: &str| {
            let words =
                ["key", "create", "--account", account, "--name", "test", "--rights", rights];
            self.operator(&words)["key"].as_str().unwrap().to_owned()
        };
        let mine = self.told["account_id"].as_str().unwrap();
        [
            self.told["api_key"].as_str().unwrap().to_owned(),
            key(poor["id"].as_str().unwrap(), "models"),
            key(mine, "agents"),
        ]
    }

    /// The sums are right, and nothing is held any more.
    pub(crate) fn check(self) {
        assert_eq!(self.operator(&["balance", "verify"])["ok"], true);
        let account = self.told["account_id"].as_str().unwrap();
        assert_eq!(self.operator(&["balance", "show", account])["held"], "0");
    }

    fn operator(&self, words: &[&str]) -> Value {
        let mut command = errand();
        command.args(words).args(["--output", "json", "--data-dir"]);
        let done = command.arg(self.dir.path().join(Path::new("data"))).output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        serde_json::from_str(&text).unwrap_or_else(|it| {
            panic!("{words:?}: {it}: {text} {}", String::from_utf8_lossy(&done.stderr))
        })
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary, without the settings of this test: it would call them unknown ones of its own.
fn errand() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_errand"));
    command.env_remove("ERRAND_TEST_PYTHONPATH").env_remove("ERRAND_TEST_NODE_PATH");
    command
}

/// A model whose tokens cost a millionth each.
fn model(name: &str, upstream: SocketAddr) -> String {
    format!(
        "[[models]]\nid = \"mock/{name}:1\"\nbase_url = \"http://{upstream}/v1\"\n\
         upstream_model = \"{name}\"\ninput_per_million = \"1\"\noutput_per_million = \"1\"\n"
    )
}
