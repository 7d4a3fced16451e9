//! Whether what came back is the site itself, or something in its place.
//!
//! A page of errors, of consent or of a firewall says nothing about a competitor, so it is never
//! compared with anything.

use crate::agents::page::reply::Reply;
use crate::agents::scan::facts::PageFacts;

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
    let title = facts.map(|it| it.title.lower()).unwrap_or_default();
    let words = facts.map_or(0, |it| it.size.words);
    let has = |list: &[&str]| list.iter().any(|it| title.contains(it));
    if is_challenge || (words < FEW_WORDS && has(CHALLENGES)) {
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
    let heading = facts.main_heading().map(|it| it.lower()).unwrap_or_default();
    let is_error = has(ERRORS) || ERRORS.iter().any(|it| heading.starts_with(it));
    if words == 0 {
        Usability::Degraded("it sent an empty page")
    } else if words < FEW_WORDS && is_error {
        Usability::Degraded("it sent a page of errors")
    } else if words < FEW_WORDS && has(WALLS) {
        Usability::Degraded("it sent a page that asks for consent")
    } else {
        Usability::Usable
    }
}

/// Words below which a title can make a page something else.
const FEW_WORDS: usize = 80;
/// Parts of titles of firewalls.
const CHALLENGES: &[&str] = &[
    "just a moment",
    "attention required",
    "checking your browser",
    "verify you are human",
    "are you a robot",
    "are you human",
    "captcha",
    "ddos-guard",
    "security check",
    "access denied",
    "please wait",
    "bot verification",
    "pardon our interruption",
];
/// Parts of titles of errors.
const ERRORS: &[&str] = &[
    "error",
    "something went wrong",
    "service unavailable",
    "bad gateway",
    "gateway timeout",
    "maintenance",
    "be right back",
    "temporarily",
    "not found",
    "under construction",
    "oops",
    "unavailable",
    "forbidden",
    "wartung",
    "fehler",
    "nicht erreichbar",
    "nicht gefunden",
    "erreur",
    "indisponible",
    "introuvable",
    "mantenimiento",
    "no disponible",
    "errore",
    "manutenzione",
    "onderhoud",
    "storing",
    "メンテナンス",
    "エラー",
    "見つかりません",
];
/// Parts of titles of consent pages.
const WALLS: &[&str] = &[
    "consent",
    "before you continue",
    "cookie",
    "privacy settings",
    "datenschutzeinstellungen",
    "bevor sie",
    "avant de continuer",
    "age verification",
    "altersprüfung",
];
