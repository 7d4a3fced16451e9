//! One call of the command: reads its arguments, does its verb, ends with a code.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser as _;

use crate::cli::args::{Cli, Global, Verb};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::webhook::{self, WebhookVerb};
use crate::cli::{
    account, balance, chat, configure, dev, doctor, key, models, schedule, serve, status, trial,
};
use crate::config::{Environment, Flag, Loaded, Mode, Sources, load};
use crate::sys::clock::{Clock, Mark};

/// What every verb has at hand.
pub(super) struct Here {
    /// Where it prints to.
    pub(super) out: Output,
    /// What the process found around itself.
    pub(super) environment: Environment,
    /// When the process began.
    pub(super) begun: Mark,
    global: Global,
}

/// Runs the command that the process was called with.
#[must_use]
pub fn main() -> ExitCode {
    let begun = Clock::host().mark();
    let environment = Environment::of_process();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come this way too, and end well.
            let printed = error.print().is_ok();
            let usage = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            return if printed { usage.into() } else { Exit::Failed.into() };
        }
    };
    let out = Output::new(&cli.global, &environment);
    let here = Here { out, environment, begun, global: cli.global };
    match cli.verb.check(here.global.output).and_then(|()| run(&here, cli.verb)) {
        Ok(()) => Exit::Done.into(),
        Err(failure) => {
            here.out.failure(&failure);
            failure.exit.into()
        }
    }
}

fn run(here: &Here, verb: Verb) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Failure::new(Exit::Failed, format!("the threads could not be started: {error}"))
    })?;
    let done = runtime.block_on(Box::pin(act(here, verb)));
    runtime.shutdown_timeout(THREADS_WAIT);
    done
}

async fn act(here: &Here, verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Try { url } => trial::run(here, url).await,
        Verb::Dev(args) => dev::run(here, &args).await,
        Verb::Serve(args) => serve::run(here, &args).await,
        Verb::Account { verb } => account::run(here, verb).await,
        Verb::Key { verb } => key::run(here, verb).await,
        Verb::Balance { verb } => balance::run(here, verb).await,
        Verb::Schedule { verb } => schedule::run(here, verb).await,
        Verb::Models { verb } => models::run(here, verb).await,
        Verb::Chat(args) => chat::run(here, &args).await,
        Verb::Webhook { verb: WebhookVerb::Sign(args) } => webhook::sign(here, &args),
        Verb::Webhook { verb: WebhookVerb::Verify(args) } => webhook::verify(here, &args),
        Verb::Trigger(args) => webhook::trigger(here, &args).await,
        Verb::Listen(args) => webhook::listen(here, &args).await,
        Verb::Status => status::run(here).await,
        Verb::Doctor => doctor::run(here).await,
        Verb::Config { verb } => configure::run(here, verb),
    }
}

impl Here {
    /// The settings that `errand serve` would have.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them.
    pub(super) fn load(&self) -> Result<Loaded, Failure> {
        self.load_as(Mode::Serve, None, &[])
    }

    /// The settings of a mode, with `file` before any other and these addresses to listen at.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them.
    pub(super) fn load_as(
        &self,
        mode: Mode,
        file: Option<String>,
        listen: &[String],
    ) -> Result<Loaded, Failure> {
        let flag = |flag, setting, value: &String| Flag { flag, setting, value: value.clone() };
        let data = self.global.data_dir.iter().map(|it| flag("--data-dir", "data.dir", it));
        let listen = listen.iter().map(|it| flag("--listen", "http.listen", it));
        let sources = Sources {
            mode,
            environment: &self.environment,
            file: file.or_else(|| self.global.config.clone()).map(PathBuf::from),
            flags: data.chain(listen).collect(),
        };
        Ok(load(&sources)?)
    }

    /// Whether a flag names a data directory or a settings file.
    pub(super) const fn names_data(&self) -> bool {
        self.global.data_dir.is_some() || self.global.config.is_some()
    }

    /// What to add to a command so that it finds the same data; begins with a space.
    pub(super) fn same_data(&self) -> String {
        let flag = |name: &str, value: &Option<String>| {
            value.as_ref().map_or_else(String::new, |it| format!(" {name} {it}"))
        };
        flag("--config", &self.global.config) + &flag("--data-dir", &self.global.data_dir)
    }
}

/// Time for threads to end that are still at work when the verb is done.
const THREADS_WAIT: Duration = Duration::from_secs(5);
