//! The words that tell one kind of text from another, in the languages of most shops and tools.
//!
//! Lists only, lower case. A list that grows changes what a scan reports, so
//! [`RULES_VERSION`](crate::agents::scan::RULES_VERSION) goes up with it.

use crate::agents::scan::price::Period;

/// Codes that stand before or after an amount, in capitals.
pub const CURRENCY_CODES: &[&str] = &[
    "USD", "EUR", "GBP", "JPY", "CNY", "INR", "BRL", "CHF", "CAD", "AUD", "NZD", "SEK", "NOK",
    "DKK", "PLN", "CZK", "HUF", "RON", "ZAR", "MXN", "SGD", "HKD", "KRW", "THB", "IDR", "MYR",
    "ILS", "AED", "SAR", "TRY", "TWD", "UAH", "RUB", "BGN", "CLP", "COP",
];

/// Words for currencies that stand after or before an amount.
pub const CURRENCY_WORDS: &[(&str, &str)] = &[
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("dollars", "USD"),
    ("usd", "USD"),
    ("eur", "EUR"),
    ("gbp", "GBP"),
    ("zł", "PLN"),
    ("kr", "kr"),
    ("kč", "CZK"),
    ("ft", "HUF"),
    ("lei", "RON"),
    ("円", "JPY"),
    ("元", "CNY"),
    ("원", "KRW"),
    ("руб", "RUB"),
    ("грн", "UAH"),
];

/// Words for how often something is paid.
pub const PERIODS: &[(Period, &[&str])] = &[
    (
        Period::Month,
        &[
            "month",
            "months",
            "monthly",
            "mo",
            "mth",
            "monat",
            "monatlich",
            "mtl",
            "mois",
            "mensuel",
            "mes",
            "mensual",
            "mese",
            "mensile",
            "mensal",
            "mês",
            "maand",
            "maandelijks",
            "miesiąc",
            "mies",
            "måned",
            "månad",
            "månedlig",
            "kuukausi",
            "kk",
            "ay",
            "месяц",
            "мес",
            "月",
            "月額",
            "か月",
            "ヶ月",
            "ヵ月",
            "毎月",
            "每月",
        ],
    ),
    (
        Period::Year,
        &[
            "year",
            "years",
            "yearly",
            "yr",
            "annually",
            "annual",
            "annum",
            "jahr",
            "jährlich",
            "an",
            "année",
            "annuel",
            "año",
            "anual",
            "anno",
            "annuale",
            "annuo",
            "ano",
            "jaar",
            "jaarlijks",
            "rok",
            "år",
            "årlig",
            "vuosi",
            "yıl",
            "год",
            "年",
            "年額",
            "年間",
            "毎年",
            "每年",
        ],
    ),
    (
        Period::Week,
        &["week", "weekly", "wk", "woche", "semaine", "semana", "settimana", "週", "周"],
    ),
    (
        Period::Day,
        &[
            "day", "daily", "night", "tag", "nacht", "jour", "nuit", "día", "noche", "giorno",
            "notte", "dag", "日", "泊", "1泊",
        ],
    ),
    (Period::Hour, &["hour", "hourly", "hr", "stunde", "heure", "hora", "ora", "uur", "時間"]),
    (Period::Quarter, &["quarter", "quarterly", "quartal", "trimestre", "kwartaal"]),
];

/// Words before a price that make it the lowest of several.
pub const FROM: &[&str] = &[
    "from", "starting", "starts", "ab", "partir", "dès", "desde", "da", "vanaf", "fra", "från",
    "od", "alkaen", "от",
];

/// Words after a price for one of many people.
pub const SEATS: &[&str] = &[
    "user",
    "users",
    "seat",
    "seats",
    "member",
    "agent",
    "editor",
    "person",
    "employee",
    "nutzer",
    "benutzer",
    "mitarbeiter",
    "utilisateur",
    "personne",
    "usuario",
    "persona",
    "utente",
    "gebruiker",
    "ユーザー",
    "人",
];

/// Words for paying a year at once.
pub const BILLED_YEARLY: &[&str] = &[
    "yearly",
    "annually",
    "jährlich",
    "annuellement",
    "anualmente",
    "annualmente",
    "jaarlijks",
    "årligen",
    "年払い",
    "rocznie",
];

/// Words of a free plan.
pub const FREE: &[&str] = &[
    "free",
    "free plan",
    "free forever",
    "kostenlos",
    "gratis",
    "gratuit",
    "gratuite",
    "gratuito",
    "無料",
    "at no cost",
    "no cost",
    "gratuita",
    "darmowy",
    "免费",
];

/// Words of a trial.
pub const TRIAL: &[&str] = &[
    "trial",
    "try free",
    "try for free",
    "money back",
    "money-back",
    "guarantee",
    "testphase",
    "kostenlos testen",
    "probemonat",
    "garantie",
    "essai",
    "satisfait ou",
    "prueba",
    "garantía",
    "prova gratuita",
    "proefperiode",
    "トライアル",
    "返金",
];

/// Beginnings of what a button says that wants something from the visitor.
pub const CALLS: &[&str] = &[
    "start",
    "try",
    "get started",
    "get a",
    "get the",
    "sign up",
    "signup",
    "join",
    "book",
    "buy",
    "order",
    "subscribe",
    "request",
    "schedule",
    "talk to",
    "contact sales",
    "create account",
    "create your",
    "download",
    "install",
    "add to cart",
    "shop now",
    "learn more",
    "see pricing",
    "watch",
    "jetzt",
    "kostenlos",
    "demo",
    "termin",
    "anmelden",
    "registrieren",
    "bestellen",
    "kaufen",
    "in den warenkorb",
    "essayer",
    "commencer",
    "démarrer",
    "réserver",
    "acheter",
    "s'inscrire",
    "demander",
    "empezar",
    "probar",
    "comprar",
    "reservar",
    "prova",
    "inizia",
    "acquista",
    "prenota",
    "無料",
    "申し込",
    "お問い合わせ",
];

/// Whether any of the words stands in a lower-case text, beginning and ending where words do.
#[must_use]
pub fn has_any(lower: &str, words: &[&str]) -> bool {
    words.iter().any(|it| has(lower, it))
}

/// Whether a word, or several, stands in a lower-case text.
#[must_use]
pub fn has(lower: &str, word: &str) -> bool {
    let is_letter = |it: Option<char>| {
        it.is_some_and(|it| it.is_alphanumeric() && !crate::agents::scan::token::is_east_asian(it))
    };
    let begins_with_letter = is_letter(word.chars().next());
    let ends_with_letter = is_letter(word.chars().next_back());
    lower.match_indices(word).any(|(at, _)| {
        let before = lower.get(..at).and_then(|it| it.chars().next_back());
        let after = lower.get(at + word.len()..).and_then(|it| it.chars().next());
        !(begins_with_letter && is_letter(before) || ends_with_letter && is_letter(after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole() {
        assert!(has("a free trial", "free") && has("free", "free") && has("(free)", "free"));
        assert!(!has("freedom", "free") && !has("carefree", "free"));
        assert!(has("20% off today", "% off") && has("30日間無料です", "無料"));
        assert!(has_any("a 14-day trial", TRIAL) && !has_any("ten boats", TRIAL));
    }
}
