//! The arguments of `errand schedule`, and what stands below their help.

use clap::{Args, Subcommand};

use crate::domain::limits::TICKS_KEPT;

/// What to do with schedules.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ScheduleVerb {
    /// Make a schedule
    #[command(override_usage = CREATE_USAGE, after_help = CREATE_EXAMPLES)]
    Create(CreateArgs),
    /// All schedules and when they fire next
    #[command(
        after_help = "Examples:\n  errand schedule list\n  errand schedule list --account ACCOUNT_ID \
              --limit 200 --offset 200"
    )]
    List {
        /// Only those of this account
        #[arg(long, value_name = "ACCOUNT_ID")]
        account: Option<String>,
        /// So many at most
        #[arg(long, value_name = "N", default_value_t = 50)]
        #[arg(value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
        /// After so many others
        #[arg(long, value_name = "N", default_value_t = 0)]
        #[arg(value_parser = clap::value_parser!(u32).range(0..=100_000))]
        offset: u32,
    },
    /// One schedule, its next slots and what became of the last ones
    #[command(
        after_help = "Examples:\n  errand schedule show SCHEDULE_ID\n  errand schedule show SCHEDULE_ID --limit 200"
    )]
    Show {
        /// Its id
        #[arg(value_name = "SCHEDULE_ID")]
        id: String,
        /// So many lines of its log at most, the latest first
        #[arg(long, value_name = "N", default_value_t = 20)]
        #[arg(value_parser = clap::value_parser!(u32).range(1..=TICKS_KEPT as i64))]
        limit: u32,
    },
    /// Let a schedule fire from now on; nothing that has passed is made up for
    #[command(after_help = "Example:\n  errand schedule enable SCHEDULE_ID")]
    Enable {
        /// Its id
        #[arg(value_name = "SCHEDULE_ID")]
        id: String,
    },
    /// Stop a schedule; runs that it has started go on
    #[command(after_help = "Example:\n  errand schedule disable SCHEDULE_ID")]
    Disable {
        /// Its id
        #[arg(value_name = "SCHEDULE_ID")]
        id: String,
    },
    /// Delete a schedule and its log; its runs stay
    #[command(after_help = "Example:\n  errand schedule delete SCHEDULE_ID")]
    Delete {
        /// Its id
        #[arg(value_name = "SCHEDULE_ID")]
        id: String,
    },
    /// Run a schedule now, as if its time had come; the next slot stays
    #[command(after_help = "Example:\n  errand schedule run SCHEDULE_ID")]
    Run {
        /// Its id
        #[arg(value_name = "SCHEDULE_ID")]
        id: String,
    },
    /// Say what a cron expression means and when it comes next, without a daemon
    #[command(after_help = PREVIEW_EXAMPLES)]
    Preview {
        /// Five fields, in UTC
        #[arg(value_name = "CRON")]
        cron: String,
        /// So many slots
        #[arg(long, value_name = "N", default_value_t = 10)]
        #[arg(value_parser = clap::value_parser!(u32).range(1..=20))]
        count: u32,
    },
}

/// A schedule to make.
#[derive(Args, Debug)]
pub(in crate::cli) struct CreateArgs {
    /// Whose it is
    #[arg(long, value_name = "ACCOUNT_ID")]
    pub(super) account: String,
    /// The agent of its runs
    #[arg(long)]
    pub(super) kind: String,
    /// When it fires: five fields, in UTC
    #[arg(long, value_name = "CRON")]
    pub(super) cron: String,
    /// The input of its runs, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(super) input: String,
    /// Where results go besides webhooks, with commas between
    #[arg(long, value_name = "CHANNELS", value_delimiter = ',')]
    #[arg(value_parser = ["email", "telegram", "slack"])]
    pub(super) delivery_channels: Vec<String>,
    /// Make it stopped; it fires once it is enabled
    #[arg(long)]
    pub(super) disabled: bool,
    /// Fire once, then stop
    #[arg(long)]
    pub(super) one_shot: bool,
    /// What happens to a slot while an earlier run is not over
    #[arg(long, value_name = "RULE", default_value = "skip")]
    #[arg(value_parser = ["skip", "queue_one", "allow"])]
    pub(super) overlap: String,
    /// What happens to slots that pass while the daemon is down
    #[arg(long, value_name = "RULE", default_value = "fire_once")]
    #[arg(value_parser = ["fire_once", "skip"])]
    pub(super) missed: String,
}

/// In two lines; one would be wider than a terminal.
const CREATE_USAGE: &str = "\
errand schedule create [OPTIONS] --account <ACCOUNT_ID> --kind <KIND>
                              --cron <CRON> --input <JSON>";

const CREATE_EXAMPLES: &str = "\
Examples:
  errand schedule create --account ACCOUNT_ID --kind seo_audit --cron '0 6 * * 1-5' \\
    --input '{\"url\": \"https://example.org/\"}'
  errand schedule create --account ACCOUNT_ID --kind seo_audit --cron '30 9 1 * *' \\
    --input '{\"url\": \"https://example.org/\"}' --one-shot";

const PREVIEW_EXAMPLES: &str = "\
Examples:
  errand schedule preview '*/15 8-18 * * 1-5'
  errand schedule preview '0 0 29 2 *' --count 3 --output json";
