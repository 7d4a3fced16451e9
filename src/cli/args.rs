//! The command tree: verbs, flags and their help.
//!
//! The help of a flag that mirrors a setting comes from the table of settings.

use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

use crate::cli::balance::BalanceVerb;
use crate::cli::examples;
use crate::cli::exit::{Exit, Failure};
use crate::cli::key::KeyVerb;
use crate::cli::models::{CHAT_EXAMPLES, ChatArgs, ModelsVerb};
use crate::cli::schedule::ScheduleVerb;
use crate::cli::webhook::{ListenArgs, TriggerArgs, WebhookVerb};
use crate::config::{Profile, help};

/// Paid background work from one binary: runs, a balance, an HTTP API.
#[derive(Debug, Parser)]
#[command(
    name = "errand",
    bin_name = "errand",
    version,
    about = "Paid background work over HTTP, from one binary and one data file",
    after_help = examples::FIRST_STEPS,
    arg_required_else_help = true,
    max_term_width = 100,
    styles = STYLES,
)]
pub(super) struct Cli {
    /// What holds for every verb.
    #[command(flatten)]
    pub(super) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(super) verb: Verb,
}

/// What holds for every verb.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    #[arg(long, global = true, value_name = "DIR", help = help("data.dir"))]
    pub(super) data_dir: Option<String>,
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "Settings file [ERRAND_CONFIG; default: the first errand.toml of \
                $CONFIGURATION_DIRECTORY, /etc/errand, ~/.config/errand; dev: none]"
    )]
    pub(super) config: Option<String>,
    /// What to print on standard output: text for people, or one JSON value for scripts; a ledger
    /// also as CSV
    #[arg(long, global = true, value_name = "FORM", default_value = "text", value_parser = forms())]
    pub(super) output: Form,
    /// No colours, also on a terminal
    #[arg(long, global = true)]
    pub(super) no_color: bool,
}

/// What to print on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Text for people.
    Text,
    /// One JSON value for scripts.
    Json,
    /// Comma-separated values for spreadsheets.
    Csv,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// See it work: one audit from start to end, nothing to set up, nothing left behind
    #[command(after_help = examples::TRY_EXAMPLES)]
    Try {
        /// The page to audit; without it, a small site that comes with the program
        url: Option<String>,
    },
    /// Run it for developing against: loopback, a key that stays, money to spend
    #[command(after_help = examples::DEV_EXAMPLES)]
    Dev(DevArgs),
    /// Run it for customers
    #[command(after_help = examples::SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Accounts: who owns runs and keys, and pays
    Account {
        #[command(subcommand)]
        verb: AccountVerb,
    },
    /// API keys: what callers show
    Key {
        #[command(subcommand)]
        verb: KeyVerb,
    },
    /// Money: credit it, look at it, check that it adds up
    Balance {
        #[command(subcommand)]
        verb: BalanceVerb,
    },
    /// Schedules: what is started by the clock
    Schedule {
        #[command(subcommand)]
        verb: ScheduleVerb,
    },
    /// Text models: which there are, whether they answer, what they cost
    Models {
        #[command(subcommand)]
        verb: ModelsVerb,
    },
    /// Say something to a model and read the answer as it comes
    #[command(after_help = CHAT_EXAMPLES)]
    Chat(ChatArgs),
    /// Webhooks: sign a body as the daemon does, find out why a request is not believed
    Webhook {
        #[command(subcommand)]
        verb: WebhookVerb,
    },
    /// Send a receiver one sample event, right or tampered with, and judge its answer
    #[command(after_help = examples::TRIGGER_EXAMPLES)]
    Trigger(TriggerArgs),
    /// Be a receiver on this machine: show every webhook that arrives
    #[command(after_help = examples::LISTEN_EXAMPLES)]
    Listen(ListenArgs),
    /// How the running daemon does
    #[command(after_help = examples::STATUS_EXAMPLES)]
    Status,
    /// Check the whole data file: every record, every index, every sum
    #[command(after_help = examples::DOCTOR_EXAMPLES)]
    Doctor,
    /// Settings: what there is, what holds, what is wrong
    Config {
        #[command(subcommand)]
        verb: ConfigVerb,
    },
}

impl Verb {
    /// Refuses a form that the verb does not print.
    ///
    /// # Errors
    ///
    /// [`Exit::Usage`]
    pub(super) fn check(&self, form: Form) -> Result<(), Failure> {
        let is_table = matches!(self, Self::Balance { verb: BalanceVerb::Ledger(_) });
        if form != Form::Csv || is_table {
            return Ok(());
        }
        let what = "only `errand balance ledger` is printed as CSV";
        Err(Failure::new(Exit::Usage, what).then("take --output json"))
    }
}

/// How to run it for developing.
#[derive(Args, Debug)]
pub(super) struct DevArgs {
    #[arg(long, value_name = "ADDR", help = listen_help())]
    pub(super) listen: Vec<String>,
    /// Keep nothing: a temporary data directory, removed at the end
    #[arg(long, conflicts_with = "data_dir")]
    pub(super) ephemeral: bool,
    /// Send every event to this URL, signed with the secret of the directory, and show each attempt
    #[arg(long, value_name = "URL")]
    pub(super) forward_to: Option<String>,
    /// Wait 1, 2, 4, 8 and 16 minutes between attempts, and not seconds
    #[arg(long)]
    pub(super) real_retries: bool,
}

/// How to run it for customers.
#[derive(Args, Debug)]
pub(super) struct ServeArgs {
    #[arg(long, value_name = "ADDR", help = listen_help())]
    pub(super) listen: Vec<String>,
    /// Take over a data directory that `errand dev` made
    #[arg(long)]
    pub(super) adopt_dev: bool,
    /// Let agents and webhooks reach the networks of outbound.allow, for every customer
    #[arg(long)]
    pub(super) allow_private_targets: bool,
}

/// What to do with accounts.
#[derive(Debug, Subcommand)]
pub(super) enum AccountVerb {
    /// Make an account with nothing in it
    #[command(after_help = examples::ACCOUNT_CREATE_EXAMPLES)]
    Create {
        /// What people call it
        #[arg(long)]
        name: String,
        /// What its balance counts in, for ever [default: the setting billing.currency]
        #[arg(long, value_name = "CODE")]
        currency: Option<String>,
    },
    /// All accounts and what they have, oldest first
    #[command(after_help = examples::ACCOUNT_LIST_EXAMPLES)]
    List,
    /// One account and what it has
    #[command(after_help = examples::ACCOUNT_SHOW_EXAMPLES)]
    Show {
        /// Its id
        #[arg(value_name = "ACCOUNT_ID")]
        id: String,
    },
}

/// What to do with settings.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigVerb {
    /// Print a settings file to begin with, every setting explained
    #[command(after_help = examples::CONFIG_INIT_EXAMPLES)]
    Init {
        /// What it is for
        #[arg(long, value_name = "NAME", default_value = "local", value_parser = profiles())]
        profile: Profile,
    },
    /// Check all settings and the files that they name; exit 7 when something is wrong
    #[command(after_help = examples::CONFIG_CHECK_EXAMPLES)]
    Check {
        /// The settings file [default: the one that `errand serve` would take]
        file: Option<String>,
    },
    /// Print the settings that hold
    #[command(after_help = examples::CONFIG_SHOW_EXAMPLES)]
    Show {
        /// Also who says so: default, file and line, variable or flag
        #[arg(long)]
        sources: bool,
    },
    /// List all settings there are
    #[command(after_help = examples::CONFIG_KEYS_EXAMPLES)]
    Keys {
        /// As a table in Markdown
        #[arg(long)]
        markdown: bool,
    },
}

fn forms() -> impl TypedValueParser<Value = Form> {
    let words = PossibleValuesParser::new(["text", "json", "csv"]);
    words.map(|it| match it.as_str() {
        "json" => Form::Json,
        "csv" => Form::Csv,
        _ => Form::Text,
    })
}

fn profiles() -> impl TypedValueParser<Value = Profile> {
    let words = PossibleValuesParser::new(Profile::ALL.map(Profile::as_str));
    words.try_map(|it| Profile::parse(&it).ok_or("no such profile"))
}

fn listen_help() -> String {
    format!("{}; may be repeated", help("http.listen"))
}

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_tree_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_has_an_example() {
        fn walk(command: &clap::Command) {
            if command.get_subcommands().next().is_none() {
                let shown = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(shown.contains("errand "), "{} has no example", command.get_name());
            }
            command.get_subcommands().for_each(walk);
        }
        walk(&Cli::command());
    }

    #[test]
    fn flags_that_mirror_a_setting_have_its_help() {
        for name in ["data.dir", "http.listen"] {
            assert!(!help(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn only_a_ledger_is_a_table_for_spreadsheets() {
        let form = |args: &[&str]| {
            let cli = Cli::try_parse_from(["errand", "--output", "csv"].iter().chain(args));
            cli.unwrap().verb.check(Form::Csv).is_ok()
        };
        assert!(form(&["balance", "ledger", "id"]));
        assert!(!form(&["balance", "show", "id"]) && !form(&["key", "list"]));
    }

    #[test]
    fn a_negative_amount_is_no_flag() {
        let cli = Cli::try_parse_from(["errand", "balance", "credit", "id", "-5"]).unwrap();
        let Verb::Balance { verb: BalanceVerb::Credit { amount, .. } } = cli.verb else {
            panic!("another verb");
        };
        assert_eq!(amount, "-5");
    }
}
