//! The arguments of `errand key`, and what stands below their help.

use clap::{Args, Subcommand};

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum KeyVerb {
    /// Make a key; it is shown once
    #[command(after_help = CREATE_EXAMPLES)]
    Create(Box<CreateArgs>),
    /// All keys, revoked ones included; never the secrets
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Only those of this account
        #[arg(long, value_name = "ACCOUNT_ID")]
        account: Option<String>,
    },
    /// One key: what it opens, what it is restricted to, when it was last used
    #[command(after_help = "Example:\n  errand key show KEY_ID")]
    Show {
        /// Its id
        #[arg(value_name = "KEY_ID")]
        id: String,
    },
    /// Change a key from the next request on; what is not named stays
    #[command(after_help = UPDATE_EXAMPLES)]
    Update(Box<UpdateArgs>),
    /// End a key from the next request on; what it has started goes on
    #[command(after_help = REVOKE_EXAMPLES)]
    Revoke {
        /// Its id
        #[arg(value_name = "KEY_ID")]
        id: String,
    },
}

/// What a key is to be.
#[derive(Args, Debug)]
pub(in crate::cli) struct CreateArgs {
    /// Whose it is
    #[arg(long, value_name = "ACCOUNT_ID")]
    pub(in crate::cli) account: String,
    /// What people call it
    #[arg(long)]
    pub(in crate::cli) name: String,
    /// What it opens: models, agents or both
    #[arg(long, value_name = "RIGHTS", default_value = "models,agents")]
    pub(in crate::cli) rights: String,
    /// How long it is good for, such as 90d [default: for ever]
    #[arg(long, value_name = "TIME")]
    pub(in crate::cli) expires: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) restrictions: RestrictionArgs,
}

/// What is to become of a key.
#[derive(Args, Debug)]
pub(in crate::cli) struct UpdateArgs {
    /// Its id
    #[arg(value_name = "KEY_ID")]
    pub(in crate::cli) id: String,
    /// What people call it
    #[arg(long)]
    pub(in crate::cli) name: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) restrictions: RestrictionArgs,
}

/// What a key is restricted to.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Restrictions; `off` lifts one")]
pub(in crate::cli) struct RestrictionArgs {
    /// Only these models, with commas: vendor/name, or vendor/* for all of a vendor
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(in crate::cli) models: Option<Vec<String>>,
    /// Only these kinds of agents, with commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(in crate::cli) kinds: Option<Vec<String>>,
    /// Only from these networks, with commas, such as 192.0.2.0/24
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(in crate::cli) networks: Option<Vec<String>>,
    /// So many requests a minute, in place of the setting limits.requests
    #[arg(long, value_name = "N")]
    pub(in crate::cli) rpm: Option<String>,
    /// So many chats at once
    #[arg(long, value_name = "N")]
    pub(in crate::cli) concurrency: Option<String>,
    /// What it may spend: 10/month, 0.5/day (of UTC), or 10 in all
    #[arg(long, value_name = "AMOUNT")]
    pub(in crate::cli) budget: Option<String>,
    /// Refuse chats with parameters that nobody knows
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "true")]
    pub(in crate::cli) strict: Option<bool>,
}

const CREATE_EXAMPLES: &str = "\
Examples:
  errand key create --account ACCOUNT_ID --name laptop
  errand key create --account ACCOUNT_ID --name ci --rights agents --expires 90d
  errand key create --account ACCOUNT_ID --name bot --models 'offline/*' --budget 10/month";

const LIST_EXAMPLES: &str = "\
Examples:
  errand key list
  errand key list --account ACCOUNT_ID";

const UPDATE_EXAMPLES: &str = "\
Examples:
  errand key update KEY_ID --kinds seo_audit --networks 192.0.2.0/24,2001:db8::/32
  errand key update KEY_ID --budget off --strict=false";

const REVOKE_EXAMPLES: &str = "Example:\n  errand key revoke 01920f3c-1d2e-7a4b-8c5d-6e7f80910a1b";
