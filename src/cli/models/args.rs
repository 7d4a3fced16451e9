//! The arguments of `errand models` and `errand chat`, and what stands below their help.

use clap::{Args, Subcommand};

use crate::cli::access::AccessArgs;

/// What to do with models.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ModelsVerb {
    /// The models that a key may use, and what they cost
    #[command(after_help = LIST_EXAMPLES)]
    List {
        #[command(flatten)]
        access: AccessArgs,
    },
    /// Ask a model for one word and say how long it took; costs what a short chat costs
    #[command(after_help = TEST_EXAMPLES)]
    Test {
        /// What the model is called
        #[arg(value_name = "MODEL")]
        id: String,
        #[command(flatten)]
        access: AccessArgs,
    },
    /// What a model costs, and what so many tokens come to
    #[command(after_help = PRICE_EXAMPLES)]
    Price(PriceArgs),
}

/// What is asked about a price.
#[derive(Args, Debug)]
pub(in crate::cli) struct PriceArgs {
    /// What the model is called
    #[arg(value_name = "MODEL")]
    pub(super) id: String,
    /// Tokens of a conversation
    #[arg(long, value_name = "N")]
    pub(super) input_tokens: Option<u64>,
    /// Tokens of an answer
    #[arg(long, value_name = "N")]
    pub(super) output_tokens: Option<u64>,
    #[command(flatten)]
    pub(super) access: AccessArgs,
}

/// What is said to a model.
#[derive(Args, Debug)]
pub(in crate::cli) struct ChatArgs {
    /// What to say; without it, or as `-`, standard input
    pub(in crate::cli) prompt: Option<String>,
    /// Which model [default: the first that is not an offline one, else the first]
    #[arg(long, value_name = "MODEL")]
    pub(in crate::cli) model: Option<String>,
    /// What the model is told before
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) system: Option<String>,
    /// Wait for the whole answer, and do not show it as it comes
    #[arg(long)]
    pub(in crate::cli) no_stream: bool,
    #[command(flatten)]
    pub(in crate::cli) access: AccessArgs,
}

const LIST_EXAMPLES: &str = "\
Examples:
  errand models list
  errand models list --url https://errand.example/v1 --key-file key --output json";

const TEST_EXAMPLES: &str = "\
Exit 1 when no text comes.

Example:
  errand models test offline/echo";

const PRICE_EXAMPLES: &str = "\
Examples:
  errand models price offline/echo
  errand models price hosted/large --input-tokens 1200 --output-tokens 300";

pub(in crate::cli) const CHAT_EXAMPLES: &str = "\
The answer goes to standard output, what it cost to standard error. Each call is a chat of its own.

Examples:
  errand chat --model offline/echo hello
  errand chat --system 'Summarise in one sentence.' < report.md
  errand chat --no-stream --output json 'Why is the sky blue?' | jq .usage";
