//! One call of the binary in a home of its own.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// The longest that a test waits for anything.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// The binary, with a home and a temporary directory that are empty at first.
pub struct Errand {
    home: TempDir,
    variables: Vec<(String, String)>,
}

/// How a call ended.
#[derive(Debug)]
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Errand {
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("tmp")).unwrap();
        Self { home, variables: Vec::new() }
    }

    /// The same with one more variable.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Where the binary is called.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Where `errand serve` keeps its data.
    pub fn data(&self) -> PathBuf {
        self.home().join(".local/share/errand")
    }

    /// What is left in the temporary directory.
    pub fn left_behind(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.home().join("tmp")).unwrap();
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// Writes a file in the home and gives its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.home().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A call with these arguments, not yet made.
    pub fn command(&self, args: &[&str]) -> Command {
        self.prepared(Command::new(env!("CARGO_BIN_EXE_errand")), args)
    }

    /// A call of another program that calls the binary.
    pub fn through(&self, program: &str, args: &[&str]) -> Command {
        self.prepared(Command::new(program), args)
    }

    fn prepared(&self, mut command: Command, args: &[&str]) -> Command {
        command
            .args(args)
            .current_dir(self.home())
            .env_clear()
            .env("HOME", self.home())
            .env("TMPDIR", self.home().join("tmp"))
            .env("PATH", "/usr/bin:/bin")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Calls the binary and waits for its end.
    #[track_caller]
    pub fn run(&self, args: &[&str]) -> Done {
        finish(self.command(args).spawn().unwrap())
    }

    /// Calls the binary, which must do its work, and reads what it prints for scripts.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let done = self.run(&[args, &["--output", "json"]].concat());
        assert_eq!(done.code, Some(0), "{args:?}: {done:?}");
        serde_json::from_str(&done.out).unwrap_or_else(|it| panic!("{args:?}: {it}: {done:?}"))
    }

    /// Calls the binary, which must end with `code`, and gives what it says on standard error.
    #[track_caller]
    pub fn refusal(&self, code: i32, args: &[&str]) -> String {
        let done = self.run(args);
        assert_eq!(done.code, Some(code), "{args:?}: {done:?}");
        done.err
    }

    /// Makes an account with money in it; its id.
    #[track_caller]
    pub fn account(&self, data: &[&str]) -> String {
        let made = self.json(&[&["account", "create", "--name", "Ana"], data].concat());
        let id = made["id"].as_str().unwrap().to_owned();
        self.json(&[&["balance", "credit", &id, "10"], data].concat());
        id
    }
}

/// Waits for the end of a child and takes all that it printed.
#[track_caller]
pub fn finish(mut child: Child) -> Done {
    let out = drained(child.stdout.take().unwrap());
    let err = drained(child.stderr.take().unwrap());
    let told = |from: &mpsc::Receiver<String>| from.recv_timeout(DEADLINE);
    let (Ok(out), Ok(err)) = (told(&out), told(&err)) else {
        child.kill().unwrap();
        panic!("the command did not end in time");
    };
    Done { code: child.wait().unwrap().code(), out, err }
}

/// Reads all of a pipe in a thread, so that two pipes cannot wait for each other.
pub fn drained(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (tx, rx) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        // What is not UTF-8 ends the text; the test sees it.
        let _ = pipe.read_to_string(&mut text);
        let _ = tx.send(text);
    });
    rx
}
