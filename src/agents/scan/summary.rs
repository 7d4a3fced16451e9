//! What one site comes to in a table: the facts of all its pages in a few words.

use std::collections::BTreeSet;

use crate::agents::scan::amount::Scaled;
use crate::agents::scan::facts::{Offer, Origin, PageFacts, Post, Zone};
use crate::agents::scan::lexicon::{FREE, TRIAL, has_any};
use crate::agents::scan::roles::Role;
use crate::agents::scan::visit::SiteVisit;
use crate::domain::time::Timestamp;

/// A site in a few words.
#[derive(Clone, Debug, Default)]
pub struct Summary<'a> {
    /// Its pages that could be read; the entry first.
    pub pages: Vec<(Role, &'a PageFacts)>,
    /// How it presents itself: its main heading, else its title.
    pub positioning: Option<&'a str>,
    /// The lowest price that is not zero.
    pub entry_price: Option<&'a Offer>,
    /// The names of its plans and products.
    pub plans: Vec<&'a str>,
    /// Its offer to begin for nothing.
    pub free: Option<&'a str>,
    /// Its trial or guarantee.
    pub trial: Option<&'a str>,
    /// The first thing it asks visitors to do.
    pub call: Option<&'a str>,
    /// The languages it is in.
    pub languages: BTreeSet<&'a str>,
    /// Its articles.
    pub posts: Vec<&'a Post>,
    /// What it is made with.
    pub tech: BTreeSet<&'a str>,
    /// Types of its structured data.
    pub schema: BTreeSet<&'a str>,
    /// Its menu.
    pub menu: Vec<&'a str>,
}

impl<'a> Summary<'a> {
    /// The summary of a visit.
    #[must_use]
    pub fn of(visit: &'a SiteVisit) -> Self {
        let readable = visit.pages.iter().filter_map(|(role, it)| Some((*role, it.page()?)));
        let pages: Vec<(Role, &PageFacts)> = readable.collect();
        let all = || pages.iter().map(|it| it.1);
        let entry = pages.first().map(|it| it.1);
        let mut summary = Self {
            positioning: entry.map(positioning),
            entry_price: entry_price(all()),
            call: all().find_map(call),
            ..Self::default()
        };
        for page in all() {
            let plans = page.plans.iter().map(|it| it.shown.as_str());
            let new: Vec<_> = plans.filter(|it| !summary.plans.contains(it)).collect();
            summary.plans.extend(new);
            let menu = page.nav.iter().filter(|it| it.path != "/").map(|it| it.text.shown.as_str());
            let new: Vec<_> = menu.filter(|it| !summary.menu.contains(it)).collect();
            summary.menu.extend(new);
            let languages = page.alternates.iter().map(String::as_str).chain([page.lang.as_str()]);
            summary.languages.extend(languages.filter(|it| !it.is_empty() && *it != "x-default"));
            summary.tech.extend(page.tech.iter().map(|it| it.name.as_str()));
            summary.schema.extend(page.schema.iter().map(String::as_str));
            summary.free = summary.free.or_else(|| phrase(page, FREE));
            summary.trial = summary.trial.or_else(|| phrase(page, TRIAL));
        }
        let posts = visit.feed.iter().chain(all().flat_map(|it| &it.posts));
        for post in posts {
            if !summary.posts.iter().any(|it| it.title == post.title) {
                summary.posts.push(post);
            }
        }
        summary.pages = pages;
        summary
    }

    /// Whether there is nothing to show.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The date of the newest article, and how many came in the last 30 and 90 days.
    #[must_use]
    pub fn pace(&self, now: Timestamp) -> Option<(&'a str, usize, usize)> {
        let dates: Vec<&str> = self.posts.iter().filter_map(|it| it.date.as_deref()).collect();
        let newest = dates.iter().max()?;
        let since = |days: u64| {
            let from = now.before(std::time::Duration::from_secs(days * 24 * 60 * 60)).to_string();
            let from = from.get(..10).unwrap_or_default().to_owned();
            dates.iter().filter(|it| **it >= from.as_str()).count()
        };
        Some((newest, since(30), since(90)))
    }

    /// The offers that stand in the text, or else in structured data.
    #[must_use]
    pub fn offers(&self) -> Vec<&'a Offer> {
        let of = |wanted: fn(&Offer) -> bool| {
            let mut found: Vec<&Offer> = Vec::new();
            for offer in self.pages.iter().flat_map(|it| &it.1.offers).filter(|it| wanted(it)) {
                if !found.iter().any(|it| it.plan == offer.plan && it.price == offer.price) {
                    found.push(offer);
                }
            }
            found
        };
        let text = of(|it| it.origin == Origin::Text);
        let named: Vec<&Offer> = text.iter().copied().filter(|it| !it.plan.is_empty()).collect();
        match (named.is_empty(), text.is_empty()) {
            (false, _) => named,
            (true, false) => text,
            (true, true) => of(|_| true),
        }
    }

    /// Prices of plans that text and structured data give differently: plan, text, data.
    #[must_use]
    pub fn contradictions(&self) -> Vec<(&'a str, String, String)> {
        let mut found = Vec::new();
        for (_, page) in &self.pages {
            for data in page.offers.iter().filter(|it| it.origin == Origin::JsonLd) {
                let text: Vec<&Offer> = page
                    .text_offers()
                    .filter(|it| it.plan == data.plan && !it.plan.is_empty())
                    .collect();
                let agrees = text.iter().any(|it| it.price.amount == data.price.amount);
                if let Some(other) = text.first().filter(|_| !agrees) {
                    found.push((
                        data.plan.as_str(),
                        other.price.to_string(),
                        data.price.to_string(),
                    ));
                }
            }
        }
        found
    }
}

fn positioning(page: &PageFacts) -> &str {
    let heading = page.main_heading().map(|it| it.shown.as_str()).filter(|it| !it.is_empty());
    heading.unwrap_or(&page.title.shown)
}

/// The lowest price above zero; one that is paid again and again before one that is paid once.
fn entry_price<'a>(pages: impl Iterator<Item = &'a PageFacts>) -> Option<&'a Offer> {
    let offers = pages.flat_map(|it| &it.offers).filter(|it| it.price.amount > Scaled(0));
    let named = offers.filter(|it| !it.plan.is_empty() || it.origin != Origin::Text);
    named.min_by_key(|it| {
        let month = it.price.per_month();
        (month.is_none(), it.origin, month.unwrap_or(it.price.amount))
    })
}

fn call(page: &PageFacts) -> Option<&str> {
    let first = page.calls.iter().find(|it| it.zone == Zone::Main).or_else(|| page.calls.first());
    first.map(|it| it.text.shown.as_str())
}

/// The first text in which one of the words stands.
fn phrase<'a>(page: &'a PageFacts, words: &[&str]) -> Option<&'a str> {
    let segments = page.segments.iter().map(|it| &it.text);
    let headings = page.headings.iter().map(|it| &it.text);
    let calls = page.calls.iter().map(|it| &it.text);
    let mut all = segments.chain(headings).chain(calls);
    all.find(|it| has_any(&it.lower(), words)).map(|it| it.shown.as_str())
}
