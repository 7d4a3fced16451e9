//! The kinds of values that settings have, and how each is described.
//!
//! The description is the one that the reference prints and that a refusal repeats, so the two
//! cannot differ.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use crate::config::shape::Config;
use crate::config::units::{show_duration, show_size};
use crate::domain::address::Network;
use crate::domain::chat::ModelId;
use crate::domain::money::{Amount, Currency};
use crate::outbound::Ports;

/// What values a setting takes, and where they go: into the [`Config`], or into one model.
pub(super) enum Kind<C = Config> {
    /// A file or directory; a relative one begins where the daemon is started.
    Path(fn(&mut C, PathBuf)),
    /// A number of bytes.
    Size(u64, u64, fn(&mut C, u64)),
    /// A time.
    Span(Duration, Duration, fn(&mut C, Duration)),
    /// A time, or a word for none.
    SpanOr(Duration, Duration, &'static str, fn(&mut C, Option<Duration>)),
    /// A whole number.
    Count(u32, u32, fn(&mut C, u32)),
    /// A whole number, or a word for another rule.
    CountOr(u32, u32, &'static str, fn(&mut C, Option<u32>)),
    /// One of a few words.
    Word(&'static [&'static str], fn(&mut C, &str)),
    /// What the log lets through.
    Filter(fn(&mut C, String)),
    /// A short text.
    Line(usize, fn(&mut C, String)),
    /// Addresses to listen at.
    Addresses(fn(&mut C, Vec<SocketAddr>)),
    /// One address to listen at, or `off`.
    AddressOr(fn(&mut C, Option<SocketAddr>)),
    /// Blocks of addresses.
    Networks(fn(&mut C, Vec<Network>)),
    /// Ports, or `any`.
    Ports(fn(&mut C, Ports)),
    /// A price.
    Money(fn(&mut C, Amount)),
    /// What an account counts in.
    Currency(fn(&mut C, Currency)),
    /// Factors between currencies.
    Rates(fn(&mut C, BTreeMap<Currency, Amount>)),
    /// Yes or no, as TOML has it.
    Truth(fn(&mut C, bool)),
    /// Some of a few words.
    Words(&'static [&'static str], fn(&mut C, Vec<&'static str>)),
    /// What callers call a model.
    Model(fn(&mut C, ModelId)),
    /// Where an upstream is.
    BaseUrl(fn(&mut C, Url)),
}

impl<C> Kind<C> {
    /// What values it takes, to stand after "must be".
    pub(super) fn expectation(&self) -> String {
        match self {
            Self::Path(_) => "a path".to_owned(),
            Self::Size(min, max, _) => {
                format!("a size from {} to {}, such as \"64MiB\"", show_size(*min), show_size(*max))
            }
            Self::Span(min, max, _) => span_text(*min, *max),
            Self::SpanOr(min, max, word, _) => format!("{}, or \"{word}\"", span_text(*min, *max)),
            Self::Count(min, max, _) => format!("a whole number from {min} to {max}"),
            Self::CountOr(min, max, word, _) => {
                format!("a whole number from {min} to {max}, or \"{word}\"")
            }
            Self::Word(words, _) => format!("one of {}", quoted(words)),
            Self::Filter(_) => "a level (error, warn, info, debug, trace, off), or a list such as \
                                \"info,errand=debug\""
                .to_owned(),
            Self::Line(max, _) => format!("1 to {max} printable ASCII characters"),
            Self::Addresses(_) => {
                "one or more IP addresses with ports, such as \"127.0.0.1:7270\"".to_owned()
            }
            Self::AddressOr(_) => {
                "an IP address with a port, such as \"127.0.0.1:7271\", or \"off\"".to_owned()
            }
            Self::Networks(_) => "a list of networks, such as [\"10.0.0.0/8\"]".to_owned(),
            Self::Ports(_) => "a list of ports from 1 to 65535, or \"any\"".to_owned(),
            Self::Money(_) => "a decimal string, such as \"0.02\"".to_owned(),
            Self::Currency(_) => "a currency code, such as \"EUR\"".to_owned(),
            Self::Rates(_) => {
                "a table of decimal strings by currency, such as { USD = \"1.08\" }".to_owned()
            }
            Self::Truth(_) => "true or false".to_owned(),
            Self::Words(words, _) => format!("a list of some of {}", quoted(words)),
            Self::Model(_) => {
                "1 to 128 visible ASCII characters, none of them a quote, a comma or \
                               a backslash, such as \"local/llama3\""
                    .to_owned()
            }
            Self::BaseUrl(_) => {
                "an http or https URL, such as \"http://127.0.0.1:11434/v1\"".to_owned()
            }
        }
    }
}

fn quoted(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|it| format!("\"{it}\"")).collect();
    quoted.join(", ")
}

fn span_text(min: Duration, max: Duration) -> String {
    format!("a duration from {} to {}, such as \"90s\"", show_duration(min), show_duration(max))
}
