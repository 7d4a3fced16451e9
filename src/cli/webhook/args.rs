//! The flags of the tools for webhooks.

use std::fmt;

use clap::builder::{PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::cli::examples;
use crate::domain::event::EventType;
use crate::domain::time::Timestamp;

/// What to do with one request.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum WebhookVerb {
    /// Sign a body as the daemon does, and print the headers
    #[command(after_help = examples::WEBHOOK_SIGN_EXAMPLES)]
    Sign(SignArgs),
    /// Find out whether a request is to be believed, and if not, why; exit 1 then
    #[command(after_help = examples::WEBHOOK_VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
}

/// Where the signing secret comes from; without a flag from `dev.json` of the data directory.
#[derive(Args, Debug)]
pub(in crate::cli) struct SecretArgs {
    /// The signing secret; others on this host can see it here, so rather use --secret-file
    #[arg(long, value_name = "WHSEC", conflicts_with = "secret_file")]
    #[arg(value_parser = StringValueParser::new().map(Typed))]
    pub(super) secret: Option<Typed>,
    /// A file with the signing secret [default: dev.json of --data-dir, or of ./.errand]
    #[arg(long, value_name = "FILE")]
    pub(super) secret_file: Option<String>,
}

/// A secret as somebody typed it; never shown.
#[derive(Clone)]
pub(in crate::cli) struct Typed(pub(super) String);

/// What to sign.
#[derive(Args, Debug)]
pub(in crate::cli) struct SignArgs {
    #[command(flatten)]
    pub(super) secret: SecretArgs,
    /// Seconds since 1970 [default: now]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) timestamp: Option<i64>,
    /// The body, byte for byte; `-` is standard input
    #[arg(default_value = "-")]
    pub(super) file: String,
}

/// What to believe or not.
#[derive(Args, Debug)]
pub(in crate::cli) struct VerifyArgs {
    #[command(flatten)]
    pub(super) secret: SecretArgs,
    /// The whole request as it came: headers, an empty line, the body byte for byte
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["timestamp", "signature", "event_id", "file"])]
    pub(super) request: Option<String>,
    /// The header X-Service-Timestamp
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    #[arg(required_unless_present = "request")]
    pub(super) timestamp: Option<String>,
    /// The header X-Service-Signature
    #[arg(long, value_name = "S", required_unless_present = "request")]
    pub(super) signature: Option<String>,
    /// The header X-Service-Event-Id, to be compared with the body's id
    #[arg(long, value_name = "ID")]
    pub(super) event_id: Option<String>,
    /// The body, byte for byte; `-` is standard input
    #[arg(default_value = "-")]
    pub(super) file: String,
    /// The receiver's clock, such as 2026-01-01T00:00:00Z [default: now]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(super) now: Option<Timestamp>,
    /// How far the timestamp may be from that clock
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(super) tolerance: u64,
}

/// What to send.
#[derive(Args, Debug)]
pub(in crate::cli) struct TriggerArgs {
    /// What happened
    #[arg(value_name = "TYPE", value_parser = types())]
    pub(super) kind: EventType,
    /// The receiver, by http or https [default: where dev.json says to forward to]
    #[arg(long)]
    pub(super) url: Option<String>,
    #[command(flatten)]
    pub(super) secret: SecretArgs,
    /// Send this body, byte for byte, instead of a sample; it must be an event of this type
    #[arg(long, value_name = "FILE", conflicts_with = "output_text")]
    pub(super) body: Option<String>,
    /// The report in the sample
    #[arg(long, value_name = "TEXT")]
    pub(super) output_text: Option<String>,
    /// Make it one that a receiver must refuse: signature and timestamp with 401, id with 400
    #[arg(long, value_name = "WHAT", value_parser = tampers())]
    pub(super) tamper: Option<Tamper>,
}

/// What of a request is made wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Tamper {
    /// The signature is that of other bytes.
    Signature,
    /// The timestamp, and the signature with it, is ten minutes old.
    Timestamp,
    /// The header names another event than the body.
    Id,
}

/// How to listen.
#[derive(Args, Debug)]
pub(in crate::cli) struct ListenArgs {
    /// The loopback port; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 7271)]
    pub(super) port: u16,
    #[command(flatten)]
    pub(super) secret: SecretArgs,
    /// Answer every delivery with this status, to play a receiver that fails
    #[arg(long, value_name = "CODE", value_parser = clap::value_parser!(u16).range(200..=599))]
    pub(super) status: Option<u16>,
}

impl SecretArgs {
    /// What to add to a command so that it has the same secret; begins with a space.
    pub(super) fn again(&self) -> String {
        match (&self.secret, &self.secret_file) {
            (Some(_), _) => " --secret ...".to_owned(),
            (None, Some(file)) => format!(" --secret-file {file}"),
            (None, None) => String::new(),
        }
    }
}

impl Tamper {
    /// Everything that can be made wrong.
    pub(super) const ALL: [Self; 3] = [Self::Signature, Self::Timestamp, Self::Id];

    /// The word for it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Signature => "signature",
            Self::Timestamp => "timestamp",
            Self::Id => "id",
        }
    }
}

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("whsec_…")
    }
}

fn time(text: &str) -> Result<Timestamp, &'static str> {
    Timestamp::parse(text).ok_or("a time is written like 2026-01-01T00:00:00Z")
}

fn types() -> impl TypedValueParser<Value = EventType> {
    let words = PossibleValuesParser::new(EventType::ALL.map(EventType::as_str));
    words.try_map(|it| EventType::parse(&it).ok_or("no such type"))
}

fn tampers() -> impl TypedValueParser<Value = Tamper> {
    let words = PossibleValuesParser::new(Tamper::ALL.map(Tamper::as_str));
    words.try_map(|word| {
        let found = Tamper::ALL.into_iter().find(|it| it.as_str() == word);
        found.ok_or("nothing that can be made wrong")
    })
}
