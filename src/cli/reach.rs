//! Finds who answers for a data directory: the daemon at its socket, or the file itself.
//!
//! A socket that nobody listens at is no daemon. Whoever holds the lock without listening is
//! starting or stopping, and is given a few seconds.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::net::UnixStream;

use crate::cli::client::{self, Answer, Ask, NoAnswer};
use crate::cli::exit::{Exit, Failure};
use crate::cli::offline::Offline;
use crate::cli::output::Output;
use crate::config::Config;
use crate::store::{self, DataDir, FileDisk};
use crate::sys::clock::Clock;

/// Who answers for a data directory.
pub(super) struct Reach {
    dir: PathBuf,
    clock: Clock,
    way: Way,
    is_new: bool,
}

enum Way {
    Daemon,
    Offline(Box<Offline>),
}

/// What to do when there is no data yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// Begin a new data file.
    Begin,
    /// Refuse: a look into an empty file would show that everything is lost.
    Refuse,
}

impl Reach {
    /// Finds who answers for the data directory of the settings.
    ///
    /// # Errors
    ///
    /// [`Exit::NotFound`] when there is no data, [`Exit::Conflict`] when somebody holds it and does
    /// not answer, [`Exit::Denied`] when the daemon is another user's.
    pub(super) async fn find(config: &Config, missing: Missing) -> Result<Self, Failure> {
        let (dir, clock) = (config.data.dir.clone(), Clock::host());
        let is_new = !data_file(&dir).exists();
        let until = clock.mark().after(HOLDER_WAIT);
        loop {
            if is_listened_at(&dir).await? {
                return Ok(Self { dir, clock, way: Way::Daemon, is_new: false });
            }
            if missing == Missing::Refuse && !data_file(&dir).exists() {
                return Err(no_data(&dir));
            }
            match DataDir::lock(&dir) {
                Ok(held) => {
                    let offline = Offline::open(config, held).await?;
                    return Ok(Self { dir, clock, way: Way::Offline(Box::new(offline)), is_new });
                }
                Err(store::Error::Locked { .. }) if !until.left().is_zero() => {
                    clock.sleep(LOOK_PAUSE).await;
                }
                Err(store::Error::Locked { pid, .. }) => return Err(silent(&dir, pid)),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Finds the daemon of a data directory.
    ///
    /// # Errors
    ///
    /// [`Exit::NotRunning`] when there is none.
    pub(super) async fn daemon(config: &Config) -> Result<Self, Failure> {
        let dir = config.data.dir.clone();
        if is_listened_at(&dir).await? {
            return Ok(Self { dir, clock: Clock::host(), way: Way::Daemon, is_new: false });
        }
        let what = format!("no daemon runs on {}", dir.display());
        Err(Failure::new(Exit::NotRunning, what).then(start_hint(&dir)))
    }

    /// Asks, and gives back the body of an answer that says yes.
    ///
    /// # Errors
    ///
    /// The failure that another answer stands for, with the data that was asked.
    pub(super) async fn ask(&self, ask: &Ask) -> Result<Value, Failure> {
        let answer = match self.clock.within(ask.patience, self.answer(ask)).await {
            Ok(Ok(answer)) => answer.success(),
            Ok(Err(error)) => Err(error.failure(self.whom())),
            Err(_) => {
                Err(Failure::new(Exit::Failed, self.whom().to_owned() + " did not answer in time"))
            }
        };
        answer.map_err(|it| it.then(format!("data: {}", self.place())))
    }

    async fn answer(&self, ask: &Ask) -> Result<Answer, NoAnswer> {
        match &self.way {
            Way::Offline(offline) => offline.ask(ask).await,
            Way::Daemon => {
                let stream = UnixStream::connect(socket(&self.dir)).await;
                client::exchange(stream.map_err(NoAnswer::Connect)?, ask).await
            }
        }
    }

    /// Ends the reach, after saying which data it was and how it was reached.
    ///
    /// # Errors
    ///
    /// When that cannot be printed.
    pub(super) fn close(self, out: &Output) -> Result<(), Failure> {
        out.aside("data", &self.place())
    }

    /// The data directory, and how it was reached.
    fn place(&self) -> String {
        let how = match (&self.way, self.is_new) {
            (Way::Daemon, _) => "the running daemon was asked",
            (Way::Offline(_), false) => "no daemon runs; the file was opened",
            (Way::Offline(_), true) => "no daemon runs; a new file was made",
        };
        format!("{} ({how})", self.dir.display())
    }

    /// Whether the file was opened by this command.
    pub(super) const fn is_offline(&self) -> bool {
        matches!(self.way, Way::Offline(_))
    }

    const fn whom(&self) -> &'static str {
        match self.way {
            Way::Daemon => "the daemon",
            Way::Offline(_) => "the data file",
        }
    }
}

/// Where the control socket of a data directory is.
pub(super) fn socket(dir: &Path) -> PathBuf {
    dir.join("control.sock")
}

/// Where the data file of a data directory is.
pub(super) fn data_file(dir: &Path) -> PathBuf {
    dir.join("errand.redb")
}

/// The data file of a directory that this process holds, with its master key.
///
/// # Errors
///
/// When something else is in its place.
pub(super) fn disk(config: &Config, dir: &DataDir) -> Result<Arc<FileDisk>, Failure> {
    let disk = FileDisk::new(dir.file()?);
    Ok(Arc::new(match &config.data.master_key_file {
        Some(path) => disk.with_key_file(path.clone()),
        None => disk,
    }))
}

/// Whether somebody listens at the control socket.
async fn is_listened_at(dir: &Path) -> Result<bool, Failure> {
    let path = socket(dir);
    match UnixStream::connect(&path).await {
        Ok(_stream) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let what = format!("{} belongs to another user", path.display());
            Err(Failure::new(Exit::Denied, what).then("run this as that user, or with sudo"))
        }
        // No file, a file that nobody listens at, or a name that no socket can have.
        Err(_) => Ok(false),
    }
}

fn no_data(dir: &Path) -> Failure {
    let what = format!("there is no data in {}", dir.display());
    Failure::new(Exit::NotFound, what).then(format!(
        "begin with `errand serve`, or name another directory with --data-dir{}",
        dev_hint(dir)
    ))
}

fn start_hint(dir: &Path) -> String {
    format!("start it: errand serve --data-dir {}{}", dir.display(), dev_hint(dir))
}

/// A word about a developer's data in the directory where the command was called.
fn dev_hint(dir: &Path) -> &'static str {
    let here = Path::new(".errand");
    if here.join("dev.json").exists() && !dir.ends_with(here) {
        "\nthere is data of `errand dev` here: add --data-dir .errand"
    } else {
        ""
    }
}

fn silent(dir: &Path, pid: Option<u32>) -> Failure {
    let who = pid.map_or_else(|| "another process".to_owned(), |it| format!("process {it}"));
    let what = format!(
        "{} is in use by {who}, which does not answer at its control socket",
        dir.display()
    );
    Failure::new(Exit::Conflict, what).then("it may be starting or stopping: try again, or stop it")
}

/// Time for a daemon that starts to listen, or for one that stops to let go.
const HOLDER_WAIT: Duration = Duration::from_secs(5);
const LOOK_PAUSE: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[tokio::test]
    async fn a_directory_without_data_is_no_empty_data() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::serve(dir.path().join("none"));
        let refused = Reach::find(&config, Missing::Refuse).await.err().unwrap();
        assert_eq!(refused.exit, Exit::NotFound);
        assert!(!config.data.dir.exists(), "a look made a directory");
        let refused = Reach::daemon(&config).await.err().unwrap();
        assert_eq!(refused.exit, Exit::NotRunning);
    }

    #[tokio::test]
    async fn a_socket_that_nobody_listens_at_is_no_daemon() {
        let dir = tempfile::tempdir().unwrap();
        drop(UnixListener::bind(socket(dir.path())).unwrap());
        let config = Config::serve(dir.path().to_owned());
        let reach = Reach::find(&config, Missing::Begin).await.unwrap();
        assert!(reach.is_offline());
        let accounts = reach.ask(&Ask::get("/accounts")).await.unwrap();
        assert_eq!(accounts["data"], serde_json::json!([]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_holder_that_does_not_answer_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::serve(dir.path().to_owned());
        let _held = DataDir::lock(dir.path()).unwrap();
        let refused = Reach::find(&config, Missing::Begin).await.err().unwrap();
        assert_eq!(refused.exit, Exit::Conflict);
        assert!(refused.what.contains(&format!("process {}", std::process::id())), "{refused}");
    }
}
