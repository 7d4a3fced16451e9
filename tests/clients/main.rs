//! The public client libraries for Python and Node, unchanged, against `errand dev`.
//!
//! Only their base URL and their key are set. A library that is not installed is passed over, and
//! that is said on standard error; `ERRAND_TEST_PYTHONPATH` and `ERRAND_TEST_NODE_PATH` name
//! further places where they may be.

#[cfg(test)]
mod daemon;
#[cfg(test)]
mod upstream;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use crate::daemon::Daemon;
    use crate::upstream;

    /// Runs a script against a daemon with offline models and a mock upstream.
    fn check_client(mut client: Command) {
        let daemon = Daemon::start(upstream::start());
        let [full, poor, agents] = daemon.keys();
        client.env("BASE_URL", daemon.base_url()).env("KEY", full);
        client.env("POOR_KEY", poor).env("AGENTS_KEY", agents);
        let done = client.output().unwrap();
        let (out, errors) =
            (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{out}{errors}");
        assert!(out.ends_with("all is well\n"), "{out}{errors}");
        daemon.check();
    }

    fn script(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
    }

    /// A call of a program that finds the libraries of a place named in the environment too.
    fn program(name: &str, paths: &str, place: &str) -> Command {
        let mut command = Command::new(name);
        if let Some(place) = std::env::var_os(place) {
            command.env(paths, place);
        }
        command
    }

    /// Whether a library is there; says so when it is not.
    fn is_installed(mut look: Command, what: &str) -> bool {
        let is_there = look.output().is_ok_and(|it| it.status.success());
        if !is_there {
            eprintln!("{what} was not tried: it is not installed");
        }
        is_there
    }

    #[test]
    fn the_python_library_lists_chats_streams_and_raises() {
        let python = || program("python3", "PYTHONPATH", "ERRAND_TEST_PYTHONPATH");
        let mut look = python();
        look.args(["-c", "import openai"]);
        if is_installed(look, "openai for Python") {
            let mut client = python();
            client.arg(script("client.py"));
            check_client(client);
        }
    }

    #[test]
    fn the_node_library_lists_chats_streams_and_throws() {
        let node = || program("node", "NODE_PATH", "ERRAND_TEST_NODE_PATH");
        let mut look = node();
        look.args(["-e", "require('openai')"]);
        if is_installed(look, "openai for Node") {
            let mut client = node();
            client.arg(script("client.cjs"));
            check_client(client);
        }
    }
}
