//! What each kind of description must have before search engines show something of it.
//!
//! Source: Google, structured data features; only what it documents as required, and the few
//! kinds that most pages use.

use crate::agents::seo::items::{Item, Items};

/// What a description lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// What it must have, as phrases.
    pub required: Vec<String>,
    /// What it should have, as phrases.
    pub recommended: Vec<String>,
}

/// What a kind must have.
struct Kind {
    /// Its names.
    names: &'static str,
    /// What it must have: of each entry one of the properties that bars part.
    required: &'static [&'static str],
    /// What it should have.
    recommended: &'static [&'static str],
}

/// What `item` lacks; none when nothing is demanded of it.
///
/// Things that belong to others are often shortened; of those only offers are judged.
#[must_use]
pub fn missing(items: &Items, item: &Item) -> Option<Missing> {
    let kind = KINDS.iter().find(|it| it.names.split('|').any(|name| item.is(name)))?;
    let is_offer = item.is("Offer") || item.is("AggregateOffer");
    let owner = item.owner.as_ref().and_then(|(at, _)| items.all.get(*at));
    let is_judged = match owner {
        None => !is_offer,
        Some(owner) => is_offer && owner.is("Product"),
    };
    if !is_judged || (is_offer && item.has("priceSpecification")) {
        return None;
    }
    let lacks = |names: &&&str| !names.split('|').any(|it| item.has(it));
    let phrase = |names: &&str| {
        let names: Vec<_> = names.split('|').map(|it| format!("`{it}`")).collect();
        names.join(" or ")
    };
    let mut required: Vec<String> = kind.required.iter().filter(lacks).map(phrase).collect();
    if item.is("BreadcrumbList") {
        required.extend(crumbs(items, item));
    }
    let recommended = kind.recommended.iter().filter(lacks).map(phrase).collect();
    Some(Missing { required, recommended })
}

/// What is missing in a trail of links: each but the last has a name and an address.
fn crumbs(items: &Items, list: &Item) -> Option<String> {
    let all: Vec<&Item> = items.inside(list, "itemListElement").collect();
    let is_named = |it: &Item| it.has("name") || items.inside(it, "item").any(|it| it.has("name"));
    if all.iter().any(|it| !is_named(it)) {
        return Some("`name` of an entry".to_owned());
    }
    let (_, others) = all.split_last()?;
    others.iter().any(|it| !it.has("item")).then(|| "`item` of an entry".to_owned())
}

const KINDS: [Kind; 12] = [
    Kind {
        names: "Product",
        required: &["name", "offers|review|aggregateRating"],
        recommended: &[],
    },
    Kind { names: "AggregateOffer", required: &["lowPrice", "priceCurrency"], recommended: &[] },
    Kind { names: "Offer", required: &["price", "priceCurrency"], recommended: &[] },
    Kind {
        names: "Article|NewsArticle|BlogPosting",
        required: &["headline", "datePublished|dateCreated|dateModified"],
        recommended: &["image"],
    },
    Kind { names: "BreadcrumbList", required: &["itemListElement"], recommended: &[] },
    Kind {
        names: "Event|MusicEvent|BusinessEvent|TheaterEvent|SportsEvent|Festival",
        required: &["name", "startDate", "location"],
        recommended: &[],
    },
    Kind {
        names: "JobPosting",
        required: &["title", "datePosted", "description"],
        recommended: &[],
    },
    Kind { names: "FAQPage", required: &["mainEntity"], recommended: &[] },
    Kind {
        names: "LocalBusiness|Restaurant|Bakery|CafeOrCoffeeShop|BarOrPub|Store|Hotel|\
                LodgingBusiness|Dentist|MedicalBusiness|AutoRepair|RealEstateAgent|HairSalon",
        required: &["name", "address"],
        recommended: &[],
    },
    Kind { names: "Organization", required: &["name", "url"], recommended: &[] },
    Kind { names: "Recipe", required: &["name", "image"], recommended: &[] },
    Kind {
        names: "VideoObject",
        required: &["name", "thumbnailUrl", "uploadDate"],
        recommended: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::document::Document;
    use crate::agents::page::media::Kind as Media;
    use crate::agents::parsers::Patience;

    #[track_caller]
    fn check(json: &str, required: &[&str]) {
        let html = format!(
            "<script type=application/ld+json>{{\"@context\":\"https://schema.org\",{json}}}</script>"
        );
        let page =
            Document::read(html.as_bytes(), Some("utf-8"), Media::Html, &Patience::endless());
        let items = Items::of(&page);
        let found: Vec<String> = items
            .all
            .iter()
            .filter_map(|it| missing(&items, it))
            .flat_map(|it| it.required)
            .collect();
        assert_eq!(found, required, "{json}");
    }

    #[test]
    fn every_kind_is_asked_for_its_own() {
        check(r#""@type":"Product""#, &["`name`", "`offers` or `review` or `aggregateRating`"]);
        check(r#""@type":"Organization","name":"x""#, &["`url`"]);
        check(r#""@type":"Event","name":"x","startDate":"2026-01-01""#, &["`location`"]);
        let offer =
            r#""@type":"Product","name":"x","offers":{"@type":"Offer","priceCurrency":"EUR"}"#;
        check(offer, &["`price`"]);
        let person = r#""@type":"Article","headline":"x","dateModified":"2026-01-01","author":
            {"@type":"Organization","name":"x"}"#;
        check(person, &[]);
    }

    #[test]
    fn a_trail_of_links_is_complete() {
        let trail = |second: &str| {
            format!(
                r#""@type":"BreadcrumbList","itemListElement":[{{"@type":"ListItem","name":"a",
                "item":"https://example.com/"}},{second},{{"@type":"ListItem","name":"c"}}]"#
            )
        };
        check(&trail(r#"{"@type":"ListItem","item":{"@id":"/b","name":"b"}}"#), &[]);
        check(&trail(r#"{"@type":"ListItem","name":"b"}"#), &["`item` of an entry"]);
        check(&trail(r#"{"@type":"ListItem","item":"/b"}"#), &["`name` of an entry"]);
    }
}
