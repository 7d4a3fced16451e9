//! Whether what came back is the site itself, or something in its place.
//!
//! A page of errors, of consent or of a firewall says nothing about a competitor, so it is never
//! compared with anything.

use crate::agents::page::reply::Reply;
use crate::agents::scan::facts::PageFacts;
use crate::agents::scan::lexicon::has_any;
use crate::agents::scan::texts::Text;

/// What came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usability {
    /// The page.
    Usable,
    /// Word that it is gone for now: 404.
    Missing,
    /// Word that it is gone for good: 410.
    Gone,
    /// A firewall that wants to see a browser.
    Challenge,
    /// Something else in its place: the reason, a fragment.
    Degraded(&'static str),
}

/// Judges an answer before anything is compared.
#[must_use]
pub fn usability(reply: &Reply, facts: Option<&PageFacts>) -> Usability {
    let is_challenge = reply.header("cf-mitigated").is_some_and(|it| it == "challenge");
    // A page with prices is the page, and so is one that has much to say.
    let is_small = facts.is_none_or(|it| it.size.words < FEW_WORDS && it.offers.is_empty());
    let named = |signs: &[Signs]| {
        is_small
            && facts.is_some_and(|it| signs.iter().any(|signs| signs.name(&it.title, &it.lang)))
    };
    if is_challenge || named(CHALLENGES) {
        return Usability::Challenge;
    }
    match reply.status {
        404 => return Usability::Missing,
        410 => return Usability::Gone,
        429 => return Usability::Degraded("it asked for fewer requests"),
        500..=599 => return Usability::Degraded("its server was in trouble"),
        400..=499 => return Usability::Degraded("it refused the request"),
        _ => {}
    }
    let Some(facts) = facts else { return Usability::Degraded("it sent no web page") };
    let heading = facts.main_heading();
    let is_error = heading.is_some_and(|it| ERRORS.iter().any(|signs| signs.name(it, &facts.lang)));
    if facts.size.words == 0 {
        Usability::Degraded("it sent an empty page")
    } else if named(ERRORS) || (is_small && is_error) {
        Usability::Degraded("it sent a page of errors")
    } else if named(WALLS) {
        Usability::Degraded("it sent a page that asks for consent")
    } else {
        Usability::Usable
    }
}

/// Words of titles by which a page is known that stands in place of another.
struct Signs {
    /// The language in which they mean it; empty for any.
    lang: &'static str,
    /// They are all that a part of the title says: `Error 500 | Boats`.
    alone: &'static [&'static str],
    /// They say it wherever they stand.
    anywhere: &'static [&'static str],
}

impl Signs {
    /// Whether a title or heading of a page in a language is such a one.
    fn name(&self, title: &Text, lang: &str) -> bool {
        if !self.lang.is_empty() && !lang.is_empty() && self.lang != lang {
            return false;
        }
        let lower = title.lower().replace(" - ", " | ");
        let part = |it: &str| {
            let letters: String = it.chars().filter(|it| !it.is_numeric()).collect();
            let said = letters.trim_matches(|it: char| !it.is_alphanumeric());
            self.alone.contains(&said)
        };
        lower.split(['|', '–', '—', '·', ':', '•', '｜']).any(part)
            || has_any(&lower, self.anywhere)
    }
}

/// Words below which a title can make a page something else.
const FEW_WORDS: usize = 80;
/// Titles of firewalls.
const CHALLENGES: &[Signs] = &[Signs {
    lang: "",
    alone: &[
        "captcha",
        "security check",
        "please wait",
        "access denied",
        "bot verification",
        "human verification",
    ],
    anywhere: &[
        "just a moment",
        "attention required",
        "checking your browser",
        "verify you are human",
        "are you a robot",
        "are you human",
        "ddos-guard",
        "pardon our interruption",
    ],
}];
/// Titles of errors.
const ERRORS: &[Signs] = &[
    Signs {
        lang: "",
        alone: &[
            "error",
            "oops",
            "maintenance",
            "unavailable",
            "forbidden",
            "not found",
            "http error",
            "error page",
        ],
        anywhere: &[
            "something went wrong",
            "an error occurred",
            "server error",
            "application error",
            "database error",
            "service unavailable",
            "temporarily unavailable",
            "temporarily down",
            "site unavailable",
            "page unavailable",
            "page not found",
            "bad gateway",
            "gateway timeout",
            "gateway time-out",
            "be right back",
            "under construction",
            "under maintenance",
            "down for maintenance",
            "scheduled maintenance",
            "site maintenance",
            "maintenance mode",
        ],
    },
    Signs {
        lang: "de",
        alone: &["wartung", "wartungsarbeiten", "fehler", "seite nicht gefunden"],
        anywhere: &[
            "nicht erreichbar",
            "nicht gefunden",
            "nicht verfügbar",
            "wartungsmodus",
            "in wartung",
            "interner fehler",
        ],
    },
    Signs {
        lang: "fr",
        alone: &["erreur", "en maintenance"],
        anywhere: &["indisponible", "introuvable", "site en maintenance", "erreur interne"],
    },
    Signs {
        lang: "es",
        alone: &["mantenimiento", "en mantenimiento"],
        anywhere: &["no disponible", "no encontrada", "sitio en mantenimiento"],
    },
    Signs {
        lang: "it",
        alone: &["errore", "manutenzione", "in manutenzione"],
        anywhere: &["non disponibile", "non trovata", "sito in manutenzione"],
    },
    Signs {
        lang: "nl",
        alone: &["onderhoud", "storing", "in onderhoud"],
        anywhere: &["niet gevonden", "niet beschikbaar", "niet bereikbaar"],
    },
    Signs {
        lang: "ja",
        alone: &["エラー", "メンテナンス"],
        anywhere: &["メンテナンス中", "メンテナンスのお知らせ", "エラーが発生", "見つかりません"],
    },
];
/// Titles of consent pages.
const WALLS: &[Signs] = &[
    Signs {
        lang: "",
        alone: &[
            "consent",
            "cookie",
            "cookies",
            "cookie consent",
            "cookie settings",
            "cookie preferences",
            "privacy settings",
            "age verification",
        ],
        anywhere: &["before you continue"],
    },
    Signs {
        lang: "de",
        alone: &["datenschutzeinstellungen", "cookie-einstellungen", "altersprüfung"],
        anywhere: &["bevor sie fortfahren", "bevor sie weiter", "bevor sie zu"],
    },
    Signs { lang: "fr", alone: &[], anywhere: &["avant de continuer"] },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::scan::facts::{Offer, Origin, Size};
    use crate::agents::scan::price::Price;

    fn page(title: &str, lang: &str) -> PageFacts {
        PageFacts {
            title: Text::of(title),
            lang: lang.to_owned(),
            size: Size { words: 40, ..Size::default() },
            ..PageFacts::default()
        }
    }

    fn judged(facts: &PageFacts) -> Usability {
        usability(&Reply { status: 200, ..Reply::default() }, Some(facts))
    }

    #[track_caller]
    fn check(title: &str, lang: &str, is_usable: bool) {
        let found = judged(&page(title, lang));
        assert_eq!(found == Usability::Usable, is_usable, "{title:?} in {lang:?}: {found:?}");
    }

    #[test]
    fn pages_in_place_of_another_are_known_by_their_titles() {
        check("Just a moment...", "en", false);
        check("Captcha", "en", false);
        check("Error 500 (Server Error)", "", false);
        check("Acme - Maintenance", "en", false);
        check("503 Service Unavailable", "", false);
        check("Cookie settings | Acme", "en", false);
        check("Storing – Acme", "nl", false);
        check("Wir sind in Wartung", "de", false);
        check("ただいまメンテナンス中です", "ja", false);
    }

    #[test]
    fn a_site_that_sells_against_errors_is_no_error() {
        check("WineVault – Storing wine made simple", "en", true);
        check("Storing", "en", true);
        check("Error tracking for small teams", "en", true);
        check("Harbour maintenance software", "en", true);
        check("Cookie banners in ten minutes", "en", true);
        check("A CAPTCHA that nobody notices", "en", true);
        check("Fehler finden, bevor sie teuer werden", "de", true);
    }

    #[test]
    fn a_page_with_prices_or_much_text_is_the_page() {
        let price = Price::parse("$29").unwrap();
        let (plan, label, origin) = (String::new(), String::new(), Origin::Text);
        let offers = vec![Offer { plan, label, price, origin }];
        assert_eq!(judged(&PageFacts { offers, ..page("Maintenance", "en") }), Usability::Usable);
        let size = Size { words: FEW_WORDS, ..Size::default() };
        assert_eq!(judged(&PageFacts { size, ..page("Maintenance", "en") }), Usability::Usable);
    }
}
