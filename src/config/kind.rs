//! The kinds of values that settings have, and how each is described.
//!
//! The description is the one that the reference prints and that a refusal repeats, so the two
//! cannot differ.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use crate::config::shape::Config;
use crate::config::units::{show_duration, show_size};
use crate::domain::address::Network;
use crate::domain::money::{Amount, Currency};
use crate::outbound::Ports;

/// What values a setting takes, and where in the [`Config`] they go.
pub(super) enum Kind {
    /// A file or directory; a relative one begins where the daemon is started.
    Path(fn(&mut Config, PathBuf)),
    /// A number of bytes.
    Size(u64, u64, fn(&mut Config, u64)),
    /// A time.
    Span(Duration, Duration, fn(&mut Config, Duration)),
    /// A time, or a word for none.
    SpanOr(Duration, Duration, &'static str, fn(&mut Config, Option<Duration>)),
    /// A whole number.
    Count(u32, u32, fn(&mut Config, u32)),
    /// A whole number, or a word for another rule.
    CountOr(u32, u32, &'static str, fn(&mut Config, Option<u32>)),
    /// One of a few words.
    Word(&'static [&'static str], fn(&mut Config, &str)),
    /// What the log lets through.
    Filter(fn(&mut Config, String)),
    /// A short text.
    Line(usize, fn(&mut Config, String)),
    /// Addresses to listen at.
    Addresses(fn(&mut Config, Vec<SocketAddr>)),
    /// One address to listen at, or `off`.
    AddressOr(fn(&mut Config, Option<SocketAddr>)),
    /// Blocks of addresses.
    Networks(fn(&mut Config, Vec<Network>)),
    /// Ports, or `any`.
    Ports(fn(&mut Config, Ports)),
    /// A price.
    Money(fn(&mut Config, Amount)),
    /// What an account counts in.
    Currency(fn(&mut Config, Currency)),
    /// Factors between currencies.
    Rates(fn(&mut Config, BTreeMap<Currency, Amount>)),
}

impl Kind {
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
            Self::Word(words, _) => {
                let quoted: Vec<String> = words.iter().map(|it| format!("\"{it}\"")).collect();
                format!("one of {}", quoted.join(", "))
            }
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
        }
    }
}

fn span_text(min: Duration, max: Duration) -> String {
    format!("a duration from {} to {}, such as \"90s\"", show_duration(min), show_duration(max))
}
