//! How values of each kind are understood, and written again.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use url::Url;

use crate::config::environment::Environment;
use crate::config::kind::Kind;
use crate::config::raw::Raw;
use crate::config::shape::Config;
use crate::config::units::{parse_duration, parse_size, show_duration, show_size};
use crate::domain::address::Network;
use crate::domain::chat::ModelId;
use crate::domain::money::{Amount, Currency};
use crate::outbound::{self, BadUrl, Ports, UpstreamUrl};

/// A value that was understood.
pub(super) struct Reading<C = Config> {
    /// How the settings file writes it.
    pub(super) text: String,
    /// Puts it into its place.
    pub(super) apply: Box<dyn Fn(&mut C)>,
}

/// Why a value was not understood.
pub(super) enum Problem {
    /// It is none of this kind.
    Kind,
    /// It is, but not one that can be used; says why.
    Value(String),
}

impl<C: 'static> Kind<C> {
    /// Understands a value.
    pub(super) fn read(&self, raw: &Raw, here: &Environment) -> Result<Reading<C>, Problem> {
        match *self {
            Self::Path(set) => {
                let path = raw.text().filter(|it| !it.is_empty()).ok_or(Problem::Kind)?;
                let path = here.absolute(Path::new(path));
                Ok(reading(quoted(&path.display().to_string()), path, set))
            }
            Self::Size(min, max, set) => {
                let bytes = raw.text().and_then(parse_size).ok_or(Problem::Kind)?;
                Ok(reading(quoted(&show_size(bytes)), within(bytes, min, max)?, set))
            }
            Self::Span(min, max, set) => {
                let span = span(raw, min, max)?;
                Ok(reading(quoted(&show_duration(span)), span, set))
            }
            Self::SpanOr(min, max, word, set) => unless(word, raw, set, || {
                let span = span(raw, min, max)?;
                Ok((quoted(&show_duration(span)), span))
            }),
            Self::Count(min, max, set) => {
                let count = count(raw, min, max)?;
                Ok(reading(count.to_string(), count, set))
            }
            Self::CountOr(min, max, word, set) => unless(word, raw, set, || {
                let count = count(raw, min, max)?;
                Ok((count.to_string(), count))
            }),
            Self::Word(words, set) => word(raw, words, set),
            Self::Filter(set) => line(raw, FILTER_CHARS_MAX, is_filter, set),
            Self::Line(max, set) => line(raw, max, |_| true, set),
            Self::Addresses(set) => addresses(raw, set),
            Self::AddressOr(set) => unless("off", raw, set, || {
                let address: Option<SocketAddr> = raw.text().and_then(|it| it.parse().ok());
                let address = address.ok_or(Problem::Kind)?;
                Ok((quoted(&address.to_string()), address))
            }),
            Self::Networks(set) => {
                let all = networks(raw)?;
                Ok(reading(quoted_list(&all), all, set))
            }
            Self::Ports(set) => ports(raw, set),
            Self::Money(set) => {
                let amount = money(raw)?;
                Ok(reading(quoted(&amount.to_string()), amount, set))
            }
            Self::Currency(set) => {
                let currency = raw.text().and_then(Currency::parse).ok_or(Problem::Kind)?;
                Ok(reading(quoted(currency.as_str()), currency, set))
            }
            Self::Rates(set) => {
                let rates = rates(raw)?;
                Ok(reading(rates_text(&rates), rates, set))
            }
            Self::Truth(set) => {
                let truth = raw.truth().ok_or(Problem::Kind)?;
                Ok(reading(truth.to_string(), truth, set))
            }
            Self::Words(words, set) => {
                let known = |it: &Raw| words.iter().find(|word| Some(**word) == it.text()).copied();
                let found = list(raw, known)?;
                Ok(reading(quoted_list(&found), found, set))
            }
            Self::Model(set) => {
                let id = raw.text().and_then(ModelId::parse).ok_or(Problem::Kind)?;
                Ok(reading(quoted(id.as_str()), id, set))
            }
            Self::BaseUrl(set) => {
                let url = base_url(raw.text().ok_or(Problem::Kind)?)?;
                Ok(reading(quoted(url.as_str()), url, set))
            }
        }
    }
}

fn reading<C, T: Clone + 'static>(text: String, value: T, set: fn(&mut C, T)) -> Reading<C>
where
    C: 'static,
{
    Reading { text, apply: Box::new(move |it| set(it, value.clone())) }
}

/// Nothing when the value is `word`, else what `read` finds, with its text.
fn unless<C: 'static, T: Clone + 'static>(
    word: &'static str,
    raw: &Raw,
    set: fn(&mut C, Option<T>),
    read: impl FnOnce() -> Result<(String, T), Problem>,
) -> Result<Reading<C>, Problem> {
    if raw.text() == Some(word) {
        return Ok(reading(quoted(word), None, set));
    }
    let (text, value) = read()?;
    Ok(reading(text, Some(value), set))
}

fn within<T: PartialOrd + Copy>(value: T, min: T, max: T) -> Result<T, Problem> {
    if value < min || value > max { Err(Problem::Kind) } else { Ok(value) }
}

fn span(raw: &Raw, min: Duration, max: Duration) -> Result<Duration, Problem> {
    if raw.digits().is_some_and(|it| it.parse::<u64>().is_ok()) {
        return Err(Problem::Value("a duration needs a unit, such as \"90s\"".to_owned()));
    }
    within(raw.text().and_then(parse_duration).ok_or(Problem::Kind)?, min, max)
}

fn count(raw: &Raw, min: u32, max: u32) -> Result<u32, Problem> {
    within(raw.digits().and_then(|it| it.parse().ok()).ok_or(Problem::Kind)?, min, max)
}

fn word<C: 'static>(
    raw: &Raw,
    words: &[&'static str],
    set: fn(&mut C, &str),
) -> Result<Reading<C>, Problem> {
    let known = |text| words.iter().find(|it| **it == text);
    let word = *raw.text().and_then(known).ok_or(Problem::Kind)?;
    Ok(Reading { text: quoted(word), apply: Box::new(move |it| set(it, word)) })
}

fn line<C: 'static>(
    raw: &Raw,
    max: usize,
    is_good: fn(&str) -> bool,
    set: fn(&mut C, String),
) -> Result<Reading<C>, Problem> {
    let text = raw.text().filter(|it| {
        let is_printable = it.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        !it.trim().is_empty() && it.len() <= max && is_printable && is_good(it)
    });
    let text = text.ok_or(Problem::Kind)?.to_owned();
    Ok(reading(quoted(&text), text, set))
}

/// Whether every part is a level, or a target with a level.
fn is_filter(text: &str) -> bool {
    text.split(',').all(|part| {
        let (target, level) = part.split_once('=').unwrap_or(("all", part));
        !target.trim().is_empty() && LEVELS.contains(&level.trim())
    })
}

fn list<T>(raw: &Raw, read: impl Fn(&Raw) -> Option<T>) -> Result<Vec<T>, Problem> {
    let items = raw.items().ok_or(Problem::Kind)?;
    items.iter().map(|it| read(it).ok_or(Problem::Kind)).collect()
}

fn addresses<C: 'static>(
    raw: &Raw,
    set: fn(&mut C, Vec<SocketAddr>),
) -> Result<Reading<C>, Problem> {
    let all = list(raw, |it| it.text()?.parse::<SocketAddr>().ok())?;
    let some = Some(all).filter(|it| !it.is_empty()).ok_or(Problem::Kind)?;
    Ok(reading(quoted_list(&some), some, set))
}

fn ports<C: 'static>(raw: &Raw, set: fn(&mut C, Ports)) -> Result<Reading<C>, Problem> {
    if raw.text() == Some("any") {
        return Ok(reading(quoted("any"), Ports::Any, set));
    }
    let is_port = |it: &Raw| it.digits()?.parse().ok().filter(|it| *it != 0);
    let ports: Vec<u16> = list(raw, is_port)?;
    let texts: Vec<String> = ports.iter().map(u16::to_string).collect();
    Ok(reading(format!("[{}]", texts.join(", ")), Ports::Only(ports), set))
}

fn networks(raw: &Raw) -> Result<Vec<Network>, Problem> {
    let items = raw.items().ok_or(Problem::Kind)?;
    let network = |it: &Raw| {
        let text = it.text().ok_or(Problem::Kind)?;
        Network::parse(text).map_err(|why| Problem::Value(format!("{}: {why}", it.shown())))
    };
    items.iter().map(network).collect()
}

fn money(raw: &Raw) -> Result<Amount, Problem> {
    if matches!(raw, Raw::Float(_) | Raw::Integer(_)) {
        let why = "money is written as a string, because numbers of TOML are binary fractions \
                   that cannot hold 0.02 exactly";
        return Err(Problem::Value(format!("{why}: write \"{}\"", raw.shown())));
    }
    let amount = Amount::parse(raw.text().ok_or(Problem::Kind)?);
    match amount {
        Ok(amount) if amount.is_negative() => Err(Problem::Value("must not be negative".into())),
        Ok(amount) => Ok(amount),
        Err(why) => Err(Problem::Value(format!("{} is {why}", raw.shown()))),
    }
}

fn rates(raw: &Raw) -> Result<BTreeMap<Currency, Amount>, Problem> {
    let mut rates = BTreeMap::new();
    for (name, value) in raw.entries().ok_or(Problem::Kind)? {
        let Some(currency) = Currency::parse(&name) else {
            return Err(Problem::Value(format!("{name:?} is not a currency code such as USD")));
        };
        let factor = money(&value)?;
        if factor == Amount::ZERO {
            return Err(Problem::Value(format!("the factor of {name} must not be zero")));
        }
        rates.insert(currency, factor);
    }
    Ok(rates)
}

fn rates_text(rates: &BTreeMap<Currency, Amount>) -> String {
    let text = |(to, factor): (&Currency, &Amount)| format!("{to} = \"{factor}\"");
    let texts: Vec<String> = rates.iter().map(text).collect();
    if texts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", texts.join(", ")) }
}

fn base_url(text: &str) -> Result<Url, Problem> {
    let url = Url::parse(text).map_err(|_| Problem::Kind)?;
    let path = url.path().trim_end_matches('/');
    if ENDPOINTS.iter().any(|it| path.ends_with(it)) {
        let why = "it is the address that all paths begin with: leave out what follows /v1";
        return Err(Problem::Value(why.to_owned()));
    }
    if url.fragment().is_some() {
        return Err(Problem::Value("it must have no fragment".to_owned()));
    }
    match UpstreamUrl::new(&url, "chat/completions") {
        Ok(_) => Ok(url),
        Err(BadUrl::Scheme) => Err(Problem::Kind),
        Err(BadUrl::Credentials) => {
            Err(Problem::Value("a key belongs into api_key_file, not into the URL".to_owned()))
        }
        Err(bad @ (BadUrl::Host | BadUrl::Path)) => {
            Err(Problem::Value(outbound::Error::Url(bad).to_string()))
        }
    }
}

pub(super) fn quoted(text: &str) -> String {
    // TOML's basic strings have the escapes of JSON's.
    serde_json::Value::from(text).to_string()
}

pub(super) fn quoted_list<T: ToString>(items: &[T]) -> String {
    let texts: Vec<String> = items.iter().map(|it| quoted(&it.to_string())).collect();
    format!("[{}]", texts.join(", "))
}

/// Ends of paths that somebody copied along with a base URL.
const ENDPOINTS: [&str; 2] = ["/completions", "/models"];
const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];
/// Characters of a log filter.
const FILTER_CHARS_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &Kind, raw: &Raw) -> Result<String, String> {
        let here = Environment::of(Path::new("/place"), &[]);
        kind.read(raw, &here).map(|it| it.text).map_err(|it| match it {
            Problem::Kind => format!("must be {}", kind.expectation()),
            Problem::Value(why) => why,
        })
    }

    fn words(text: &str) -> Raw {
        Raw::Words(text.to_owned())
    }

    fn text(text: &str) -> Raw {
        Raw::Text(text.to_owned())
    }

    #[track_caller]
    fn check_good(kind: &Kind, raw: &Raw, written: &str) {
        assert_eq!(read(kind, raw).as_deref(), Ok(written), "{raw:?}");
    }

    #[track_caller]
    fn check_bad(kind: &Kind, raw: &Raw, reason: &str) {
        let problem = read(kind, raw).expect_err("this must be refused");
        assert!(problem.contains(reason), "{raw:?}: {problem}");
    }

    #[test]
    fn money_is_never_a_number_of_toml() {
        let kind = Kind::<Config>::Money(|_, _| ());
        check_good(&kind, &text("0.020"), "\"0.02\"");
        check_good(&kind, &words("0.02"), "\"0.02\"");
        check_bad(&kind, &Raw::Float("0.02".to_owned()), "write \"0.02\"");
        check_bad(&kind, &Raw::Integer("1".to_owned()), "write \"1\"");
        check_bad(&kind, &text("-1"), "negative");
        check_bad(&kind, &text("1e3"), "not a plain decimal");
        let rates = Kind::Rates(|_, _| ());
        let table = |value: Raw| Raw::Table(vec![("USD".to_owned(), value)]);
        check_good(&rates, &table(text("1.08")), "{ USD = \"1.08\" }");
        check_good(&rates, &words("USD=1.08,CHF=0.95"), "{ CHF = \"0.95\", USD = \"1.08\" }");
        check_bad(&rates, &table(Raw::Float("1.08".to_owned())), "write \"1.08\"");
        check_bad(&rates, &table(text("0")), "zero");
        check_bad(&rates, &words("usd=1"), "not a currency code");
    }

    #[test]
    fn a_time_has_a_unit_and_a_range() {
        let kind =
            Kind::SpanOr(Duration::from_secs(1), Duration::from_hours(1), "never", |_, _| ());
        check_good(&kind, &text("90s"), "\"90s\"");
        check_good(&kind, &text("never"), "\"never\"");
        check_bad(&kind, &text("2h"), "from 1s to 1h, such as \"90s\", or \"never\"");
        check_bad(&kind, &Raw::Integer("90".to_owned()), "needs a unit");
        check_bad(&kind, &words("90"), "needs a unit");
        check_bad(&kind, &text("soon"), "must be a duration");
    }

    #[test]
    fn lists_take_one_item_many_or_words_with_commas() {
        let kind = Kind::Addresses(|_, _| ());
        check_good(&kind, &text("[::1]:80"), "[\"[::1]:80\"]");
        let two = Raw::List(vec![text("127.0.0.1:1"), text("127.0.0.1:2")]);
        check_good(&kind, &two, "[\"127.0.0.1:1\", \"127.0.0.1:2\"]");
        check_good(&kind, &words("127.0.0.1:1,127.0.0.1:2"), "[\"127.0.0.1:1\", \"127.0.0.1:2\"]");
        for bad in [words(""), text("localhost:80"), text("127.0.0.1"), Raw::Other("boolean")] {
            check_bad(&kind, &bad, "IP addresses with ports");
        }
        let ports = Kind::Ports(|_, _| ());
        check_good(&ports, &words("80,443"), "[80, 443]");
        check_good(&ports, &text("any"), "\"any\"");
        check_bad(&ports, &Raw::List(vec![Raw::Integer("0".to_owned())]), "1 to 65535");
        let networks = Kind::Networks(|_, _| ());
        check_good(&networks, &words("10.0.0.0/8,::1"), "[\"10.0.0.0/8\", \"::1/128\"]");
        check_good(&networks, &words(""), "[]");
        check_bad(&networks, &text("10.0.0.1/8"), "bits set behind its prefix");
    }

    #[test]
    fn a_log_filter_has_levels_that_exist() {
        let kind = Kind::Filter(|_, _| ());
        check_good(&kind, &text("info"), "\"info\"");
        check_good(&kind, &text("warn,errand::store=debug"), "\"warn,errand::store=debug\"");
        for bad in ["inof", "", "info,", "=debug", "errand=loud", "info\nwarn"] {
            check_bad(&kind, &text(bad), "a level");
        }
    }

    #[test]
    fn paths_are_absolute_from_the_start() {
        let kind = Kind::Path(|_, _| ());
        check_good(&kind, &text("data"), "\"/place/data\"");
        check_good(&kind, &text("./data"), "\"/place/data\"");
        check_good(&kind, &text("/data"), "\"/data\"");
        check_bad(&kind, &text(""), "a path");
    }
}
