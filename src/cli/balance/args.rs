//! The arguments of `errand balance`, and what stands below their help.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use crate::domain::ledger::EntryKind;

/// What to do with money.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BalanceVerb {
    /// Add money to an account; a negative amount takes it out
    #[command(after_help = CREDIT_EXAMPLES)]
    Credit {
        /// The account's id
        #[arg(value_name = "ACCOUNT_ID")]
        id: String,
        /// How much, as a plain decimal in the account's currency
        #[arg(allow_negative_numbers = true)]
        amount: String,
        /// What for; stands in the ledger
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
    /// What an account has, and how much of it is held for runs
    #[command(after_help = "Example:\n  errand balance show ACCOUNT_ID")]
    Show {
        /// The account's id
        #[arg(value_name = "ACCOUNT_ID")]
        id: String,
    },
    /// Every change of a balance, newest first; also as --output csv
    #[command(after_help = LEDGER_EXAMPLES)]
    Ledger(LedgerArgs),
    /// Add all ledgers up again and compare; exit 1 when something is off
    #[command(after_help = "Example:\n  errand balance verify && echo all good")]
    Verify,
}

/// Which lines of a ledger are wanted.
#[derive(Args, Debug)]
pub(in crate::cli) struct LedgerArgs {
    /// The account's id
    #[arg(value_name = "ACCOUNT_ID")]
    pub(in crate::cli) id: String,
    /// At most so many lines
    #[arg(long, value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(in crate::cli) limit: u32,
    /// Every line that there is
    #[arg(long, conflicts_with = "limit")]
    pub(in crate::cli) all: bool,
    /// Only lines before this number
    #[arg(long, value_name = "SEQ")]
    pub(in crate::cli) before: Option<u64>,
    /// Only lines of this kind
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    pub(in crate::cli) kind: Option<String>,
    /// Only what was started with this key
    #[arg(long, value_name = "KEY_ID")]
    pub(in crate::cli) key: Option<String>,
    /// Only lines from this day or time on, in UTC: 2026-01-31 or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) since: Option<String>,
    /// Only lines before this day or time
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) until: Option<String>,
}

fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(EntryKind::ALL.map(EntryKind::as_str))
}

const CREDIT_EXAMPLES: &str = "\
Examples:
  errand balance credit ACCOUNT_ID 25 --note \"invoice 17\"
  errand balance credit ACCOUNT_ID -5 --note \"paid back\"";

const LEDGER_EXAMPLES: &str = "\
Examples:
  errand balance ledger ACCOUNT_ID
  errand balance ledger ACCOUNT_ID --kind charge --key KEY_ID --limit 200
  errand balance ledger ACCOUNT_ID --since 2026-01-01 --until 2026-02-01 --all --output csv";
