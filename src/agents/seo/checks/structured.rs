//! Descriptions for programs: can they be read, do they say what they are about, is it complete.

use crate::agents::page::document::Document;
use crate::agents::page::text::quote;
use crate::agents::seo::finding::{Evidence, Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::items::{Item, Items};
use crate::agents::seo::price::{self, Price};
use crate::agents::seo::schema::{Missing, missing};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_span, at_tag};

/// The rules about structured data.
pub const RULES: &[Rule] = &[
    Rule {
        id: "structured-data-parse",
        name: "Structured data can be read",
        severity: Severity::High,
        group: Group::StructuredData,
        source: sources::JSON_LD,
        why: "A block that is not JSON is ignored as a whole, and with it every rich result that it \
              was written for.",
        how: "Mend the JSON at this place, or remove the block.",
        judge: Judge::Document(parse),
    },
    Rule {
        id: "structured-data-context",
        name: "Structured data says what it is",
        severity: Severity::Medium,
        group: Group::StructuredData,
        source: sources::GOOGLE_STRUCTURED_DATA,
        why: "Without the vocabulary and a type nobody knows what the properties mean.",
        how: "Begin the object with `\"@context\": \"https://schema.org\"` and a `\"@type\"`.",
        judge: Judge::Document(context),
    },
    Rule {
        id: "structured-data-required",
        name: "Structured data is complete",
        severity: Severity::Medium,
        group: Group::StructuredData,
        source: sources::GOOGLE_GALLERY,
        why: "Without these properties the description does not qualify for a rich result.",
        how: "Add the missing properties, with what the page shows.",
        judge: Judge::Document(required),
    },
    Rule {
        id: "structured-data-price",
        name: "Prices agree",
        severity: Severity::Low,
        group: Group::StructuredData,
        source: sources::GOOGLE_STRUCTURED_POLICIES,
        why: "Structured data must describe what the page shows; a different price can cost the \
              rich result.",
        how: "Write the same price in both places, best from the same source.",
        judge: Judge::Document(prices),
    },
];

/// Why a rule has nothing to look at.
const NONE: &str = "the page has no structured data";

fn parse(subject: &Subject, page: &Document) -> Judgement {
    let items = &subject.items;
    if items.blocks == 0 {
        return Judgement::NotApplicable("the page has no JSON-LD");
    }
    if items.broken.is_empty() {
        return Judgement::Pass;
    }
    let title = match items.broken.len() {
        1 => "A block of JSON-LD cannot be read".to_owned(),
        count => format!("{count} blocks of JSON-LD cannot be read"),
    };
    let found = Found::new(title).of(items.broken.len(), items.blocks, "blocks");
    Judgement::Fail(found.at_each(&items.broken, |it| {
        let selector = Some(page.selector(it.node));
        let place = Evidence { selector, ..at_span(page, it.span) };
        place.saying(it.problem.clone())
    }))
}

fn context(subject: &Subject, page: &Document) -> Judgement {
    let items = &subject.items;
    if items.blocks == items.broken.len() {
        return Judgement::NotApplicable("the page has no JSON-LD that can be read");
    }
    if items.unnamed.is_empty() {
        return Judgement::Pass;
    }
    let found = Found::new("Structured data does not say what it is about");
    Judgement::Fail(found.at_each(&items.unnamed, |it| at_tag(page, it.node).saying(it.problem)))
}

fn required(subject: &Subject, page: &Document) -> Judgement {
    let items = &subject.items;
    let judged: Vec<(&Item, Missing)> =
        items.all.iter().filter_map(|it| Some((it, missing(items, it)?))).collect();
    if judged.is_empty() {
        return match items.all.is_empty() {
            true => Judgement::NotApplicable(NONE),
            false => Judgement::NotApplicable("none of its kinds has requirements that are known"),
        };
    }
    let phrase = |item: &Item, names: &[String]| {
        let kind = item.types.first().map(String::as_str).unwrap_or_default();
        format!("{} lacks {}", quote(kind), names.join(", "))
    };
    let lacking: Vec<_> = judged.iter().filter(|(_, it)| !it.required.is_empty()).collect();
    if !lacking.is_empty() {
        let title = match lacking.as_slice() {
            [(item, it)] => format!("The structured data {}", phrase(item, &it.required)),
            several => format!("{} descriptions lack something", several.len()),
        };
        let found = Found::new(title).of(lacking.len(), judged.len(), "descriptions");
        return Judgement::Fail(found.at_each(&lacking, |(item, it)| {
            at_tag(page, item.node).saying(phrase(item, &it.required))
        }));
    }
    let wishes: Vec<_> = judged.iter().filter(|(_, it)| !it.recommended.is_empty()).collect();
    if wishes.is_empty() {
        return Judgement::Pass;
    }
    let found = Found::new("Structured data could say more");
    Judgement::Info(found.at_each(&wishes, |(item, it)| {
        at_tag(page, item.node).saying(phrase(item, &it.recommended))
    }))
}

fn prices(subject: &Subject, page: &Document) -> Judgement {
    let Some((offer, said)) = only_price(&subject.items) else {
        return Judgement::NotApplicable("the structured data names no single price");
    };
    let shown = price::in_text(&subject.content.text, &said.currency);
    if shown.is_empty() {
        return Judgement::NotApplicable("the text names no price in that currency");
    }
    if shown.contains(&said) {
        return Judgement::Pass;
    }
    let values: Vec<String> =
        shown.iter().take(SHOWN_MAX).map(|it| quote(&it.to_string())).collect();
    let found = Found::new("The text names another price than the structured data");
    let value = format!("it says {}, the text {}", quote(&said.to_string()), values.join(", "));
    Judgement::Fail(found.at([at_tag(page, offer.node).saying(value)]))
}

/// The price of a page that offers one thing at one price.
fn only_price(items: &Items) -> Option<(&Item, Price)> {
    let mut offers = items.all.iter().filter(|it| it.is("Offer"));
    let offer = offers.next()?;
    if offers.next().is_some() || items.all.iter().any(|it| it.is("AggregateOffer")) {
        return None;
    }
    Some((offer, Price::of(offer.text("price")?, offer.text("priceCurrency")?)?))
}

/// Prices of the text that are named.
const SHOWN_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    fn json(json: &str) -> Sample {
        Sample::head(&format!("<script type=application/ld+json>{json}</script>"))
    }

    fn thing(json: &str) -> Sample {
        self::json(&format!(r#"{{"@context":"https://schema.org",{json}}}"#))
    }

    #[test]
    fn a_block_is_json_about_something() {
        json("").is("structured-data-parse", "high");
        json("{'a':1}").is("structured-data-parse", "high");
        json("<!-- {} -->").is("structured-data-parse", "high");
        json("{}").is("structured-data-parse", "pass");
        json("{}").is("structured-data-context", "medium");
        thing(r#""@type":"WebSite""#).is("structured-data-context", "pass");
        Sample::head("").is("structured-data-parse", "na");
        Sample::head("").is("structured-data-context", "na");
    }

    #[test]
    fn the_place_of_a_mistake_is_named() {
        let check = json("{\n\"@type\": \"Product\",\n}").check("structured-data-parse");
        let evidence = &check.fault().unwrap().evidence[0];
        assert_eq!((evidence.line, evidence.column), (Some(10), Some(1)));
        assert_eq!(evidence.value.as_deref(), Some("trailing comma"));
    }

    #[test]
    fn a_description_has_what_its_kind_needs() {
        let check =
            |json: &str, expected: &str| thing(json).is("structured-data-required", expected);
        check(r#""@type":"Product","description":"x""#, "medium");
        check(r#""@type":"Product","name":"x","review":{"@type":"Review"}"#, "pass");
        check(r#""@type":"Product","name":"x","offers":{"@type":"Offer","price":1}"#, "medium");
        check(r#""@type":"Article","headline":"x","datePublished":"2026-01-01""#, "info");
        check(r#""@type":"Person""#, "na");
        Sample::body("<p itemscope itemtype=https://schema.org/Product>")
            .is("structured-data-required", "medium");
    }

    #[test]
    fn a_price_is_the_same_everywhere() {
        let check = |text: &str, expected: &str| {
            let json = r#"{"@context":"https://schema.org","@type":"Product","name":"x",
                "offers":{"@type":"Offer","price":"1149.00","priceCurrency":"EUR"}}"#;
            let head = format!("<script type=application/ld+json>{json}</script>");
            Sample::page(&head, &format!("<p>{text}</p>")).is("structured-data-price", expected);
        };
        check("Only 1.149,00 €!", "pass");
        check("EUR 1149", "pass");
        check("Price: 1,249.00 EUR", "low");
        check("Costs $5.", "na");
        check("1.249 € <s>or</s> 1.149 €", "pass");
        Sample::head("").is("structured-data-price", "na");
    }
}
