//! The tables of a report: the sites side by side, their prices, and what one's own site lacks.

use std::collections::{BTreeMap, HashSet};

use crate::agents::scan::facts::{Offer, Segment};
use crate::agents::scan::report::Scan;
use crate::agents::scan::summary::Summary;
use crate::agents::scan::texts::Text;
use crate::agents::scan::token::words;
use crate::agents::scan::words::{cell, cells, row, rule, said};

/// The sites side by side.
#[must_use]
pub fn side_by_side(scan: &Scan, summaries: &[Summary<'_>]) -> String {
    let columns: Vec<usize> = readable(summaries);
    if columns.is_empty() {
        return String::new();
    }
    let mut out = String::from("## Side by side\n\n");
    let names = columns.iter().map(|it| {
        let own = if Some(*it) == scan.own { " (yours)" } else { "" };
        format!("{}{own}", cell(&scan.name(*it), NAME_CHARS_MAX))
    });
    out += &row([String::new()].into_iter().chain(names));
    out += &rule(columns.len() + 1);
    let mut add = |name: &str, of: &dyn Fn(&Summary<'_>) -> String| {
        let cells: Vec<String> =
            columns.iter().filter_map(|it| summaries.get(*it)).map(of).collect();
        if cells.iter().any(|it| it != NOTHING) {
            out.push_str(&row([name.to_owned()].into_iter().chain(cells)));
        }
    };
    let text = |it: Option<&str>| cell(it.unwrap_or_default(), TEXT_CHARS_MAX);
    add("Says", &|it| text(it.positioning));
    add("Lowest price", &|it| it.entry_price.map_or_else(|| NOTHING.to_owned(), named));
    add("Plans and products", &|it| number(it.plans.len()));
    add("Free", &|it| text(it.free));
    add("Trial, guarantee", &|it| text(it.trial));
    add("Asks visitors to", &|it| text(it.call));
    add("Languages", &|it| cells(it.languages.iter().copied(), 8));
    add("Newest article", &|it| text(it.pace(scan.at).map(|it| it.0)));
    add("Articles in 30 / 90 days", &|it| {
        it.pace(scan.at).map_or_else(|| NOTHING.to_owned(), |it| format!("{} / {}", it.1, it.2))
    });
    add("Made with", &|it| cells(it.tech.iter().copied(), 5));
    let entry = |it: &Summary<'_>| it.pages.first().map(|it| it.1.size.clone());
    add("Words", &|it| entry(it).map_or_else(|| NOTHING.to_owned(), |it| it.words.to_string()));
    add("First byte", &|it| {
        entry(it).map_or_else(|| NOTHING.to_owned(), |it| format!("{} ms", it.first_byte_ms))
    });
    out
}

/// The prices of all sites, brought to a month where a period is known.
#[must_use]
pub fn prices(scan: &Scan, summaries: &[Summary<'_>]) -> String {
    let mut out = String::new();
    let mut is_converted = false;
    for site in readable(summaries) {
        let offers = summaries.get(site).map(Summary::offers).unwrap_or_default();
        for offer in offers.iter().take(OFFERS_SHOWN_MAX) {
            let month = offer
                .price
                .per_month()
                .map(|it| format!("{} {}", it.as_money(), offer.price.currency));
            is_converted |=
                month.is_some() && offer.price.period != Some(super::price::Period::Month);
            out += &row([
                cell(&scan.name(site), NAME_CHARS_MAX),
                cell(&purpose(offer), PURPOSE_CHARS_MAX),
                cell(&offer.price.to_string(), NAME_CHARS_MAX),
                month.map_or_else(|| NOTHING.to_owned(), |it| cell(&it, NAME_CHARS_MAX)),
            ]);
        }
        if let more @ 1.. = offers.len().saturating_sub(OFFERS_SHOWN_MAX) {
            out += &row([
                cell(&scan.name(site), NAME_CHARS_MAX),
                format!("and {more} more"),
                String::new(),
                String::new(),
            ]);
        }
    }
    if out.is_empty() {
        return out;
    }
    let note = if is_converted {
        "\nPrices of a quarter or a year were divided to a month. Currencies were not converted.\n"
    } else {
        ""
    };
    let head = row(["Site", "For", "Price", "A month"].map(str::to_owned));
    format!("## Prices\n\n{head}{}{out}{note}", rule(4))
}

/// What others have and one's own site does not.
#[must_use]
pub fn gaps(scan: &Scan, summaries: &[Summary<'_>]) -> String {
    let Some(own) = scan.own.and_then(|it| summaries.get(it)).filter(|it| !it.is_empty()) else {
        return String::new();
    };
    let others: Vec<&Summary<'_>> = readable(summaries)
        .into_iter()
        .filter(|it| Some(*it) != scan.own)
        .filter_map(|it| summaries.get(it))
        .collect();
    let mut out = String::new();
    let mut add = |name: &str, of: &dyn Fn(&Summary<'_>) -> Vec<String>| {
        let missing = missing(own, &others, of);
        if !missing.is_empty() {
            let shown = missing.iter().take(GAPS_SHOWN_MAX).map(|(text, count)| {
                format!("{} ({count} of {})", said(text, NAME_CHARS_MAX), others.len())
            });
            out.push_str(&format!("- {name}: {}\n", shown.collect::<Vec<_>>().join(", ")));
        }
    };
    let list = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    add("In the menu", &|it| list(&it.menu));
    add("In plans", &|it| plan_lines(it));
    add("Structured data", &|it| it.schema.iter().map(|it| (*it).to_owned()).collect());
    add("Languages", &|it| it.languages.iter().map(|it| (*it).to_owned()).collect());
    if out.is_empty() { out } else { format!("## What others have and you do not\n\n{out}") }
}

/// What stands in plans, beside prices: lines of cards, rows of tables.
fn plan_lines(summary: &Summary<'_>) -> Vec<String> {
    let segments = summary.pages.iter().flat_map(|it| &it.1.segments);
    let lines = segments.filter(|it| it.plan.is_some() && it.text.prices.is_empty());
    let line = |it: &Segment| match it.tag.as_str() {
        "td" | "th" => it.label.clone(),
        _ => it.text.shown.clone(),
    };
    lines.map(line).filter(|it| words(it) > 0).collect()
}

/// Entries that others have, those that most have first, with how many have them.
fn missing(
    own: &Summary<'_>,
    others: &[&Summary<'_>],
    of: &dyn Fn(&Summary<'_>) -> Vec<String>,
) -> Vec<(String, usize)> {
    let known: HashSet<String> = of(own).iter().map(|it| Text::of(it).template).collect();
    let mut counts: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for other in others {
        let mut seen: HashSet<String> = HashSet::new();
        for text in of(other) {
            let key = Text::of(&text).template;
            if !known.contains(&key) && !seen.contains(&key) {
                counts.entry(key.clone()).or_insert((text, 0)).1 += 1;
                seen.insert(key);
            }
        }
    }
    let mut missing: Vec<(String, usize)> = counts.into_values().collect();
    missing.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    missing
}

fn readable(summaries: &[Summary<'_>]) -> Vec<usize> {
    summaries.iter().enumerate().filter(|it| !it.1.is_empty()).map(|it| it.0).collect()
}

/// What a price is for: the plan, and the row of a table.
fn purpose(offer: &Offer) -> String {
    match (offer.plan.is_empty(), words(&offer.label) > 1) {
        (true, _) => offer.label.clone(),
        (false, true) => format!("{}, {}", offer.plan, offer.label),
        (false, false) => offer.plan.clone(),
    }
}

fn named(offer: &Offer) -> String {
    let price = cell(&offer.price.to_string(), NAME_CHARS_MAX);
    if offer.plan.is_empty() {
        price
    } else {
        format!("{price} for {}", cell(&offer.plan, NAME_CHARS_MAX))
    }
}

fn number(number: usize) -> String {
    if number == 0 { NOTHING.to_owned() } else { number.to_string() }
}

/// What stands in a cell for nothing.
const NOTHING: &str = "–";
/// Characters of a name in a table.
const NAME_CHARS_MAX: usize = 40;
/// Characters of what a price is for.
const PURPOSE_CHARS_MAX: usize = 60;
/// Characters of a text in a table.
const TEXT_CHARS_MAX: usize = 70;
/// Prices of a site that are shown.
const OFFERS_SHOWN_MAX: usize = 12;
/// Entries of a gap that are shown.
const GAPS_SHOWN_MAX: usize = 8;
