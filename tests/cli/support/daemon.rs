//! A daemon that runs until its test ends.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use serde_json::Value;

use super::http::{self, Reply};
use super::once::{DEADLINE, Errand, drained};

/// A daemon that said that it is ready.
pub struct Daemon {
    child: Child,
    lines: mpsc::Receiver<String>,
    errors: mpsc::Receiver<String>,
    /// What it printed, up to the line `ready`.
    pub banner: Vec<String>,
}

impl Daemon {
    /// Starts a daemon and waits until it is ready.
    #[track_caller]
    pub fn start(errand: &Errand, args: &[&str]) -> Self {
        Self::of(&mut errand.command(args))
    }

    /// Starts `errand serve` on a free port.
    #[track_caller]
    pub fn serve(errand: &Errand) -> Self {
        Self::start(errand, &["serve", "--listen", "127.0.0.1:0"])
    }

    /// Starts `errand dev` on a free port.
    #[track_caller]
    pub fn dev(errand: &Errand) -> Self {
        Self::start(errand, &["dev", "--listen", "127.0.0.1:0"])
    }

    #[track_caller]
    pub fn of(command: &mut Command) -> Self {
        // What else runs on this host is none of a test's business.
        command.env("ERRAND_CHAT_DISCOVER", "off");
        let mut child = command.stdin(Stdio::null()).spawn().unwrap();
        let (tx, lines) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            out.lines().map_while(Result::ok).try_for_each(|it| tx.send(it))
        });
        let errors = drained(child.stderr.take().unwrap());
        let mut daemon = Self { child, lines, errors, banner: Vec::new() };
        loop {
            let line = daemon.line();
            let is_ready = line.starts_with("ready in ");
            daemon.banner.push(line);
            if is_ready {
                return daemon;
            }
        }
    }

    /// The next line that it prints.
    #[track_caller]
    pub fn line(&mut self) -> String {
        self.lines.recv_timeout(DEADLINE).unwrap_or_else(|_| {
            let _ = self.child.kill();
            let errors = self.errors.recv_timeout(DEADLINE).unwrap_or_default();
            panic!("no line came: {:?} {errors}", self.banner)
        })
    }

    /// The value that its banner has for a label.
    #[track_caller]
    pub fn fact(&self, label: &str) -> String {
        let line = self.banner.iter().find_map(|it| it.trim_start().strip_prefix(label));
        line.unwrap_or_else(|| panic!("no {label} in {:?}", self.banner)).trim().to_owned()
    }

    /// Where it listens, as `127.0.0.1:port`.
    #[track_caller]
    pub fn address(&self) -> String {
        let line = self.banner.iter().find_map(|it| it.split_once("://")).unwrap().1;
        line.split('/').next().unwrap().to_owned()
    }

    /// Asks the API with a key.
    #[track_caller]
    pub fn get(&self, path: &str, key: &str) -> Reply {
        http::get(&self.address(), path, key)
    }

    /// Sends the API a body with a key.
    #[track_caller]
    pub fn post(&self, path: &str, key: &str, body: &Value) -> Reply {
        http::post(&self.address(), path, key, body)
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal by name, such as `TERM`.
    #[track_caller]
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end; its code, and what it said on standard error.
    #[track_caller]
    pub fn end(mut self) -> (Option<i32>, String) {
        let Ok(errors) = self.errors.recv_timeout(DEADLINE) else {
            panic!("the daemon did not end in time");
        };
        (self.child.wait().unwrap().code(), errors)
    }

    /// Stops it as a service manager does; it must end well.
    #[track_caller]
    pub fn stop(self) {
        self.signal("TERM");
        let (code, errors) = self.end();
        assert_eq!(code, Some(0), "{errors}");
    }

    /// Ends it without a word, as the power does.
    #[track_caller]
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
