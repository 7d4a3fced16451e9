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
            "month", "months", "monthly", "mo", "mth", "monat", "monatlich", "mtl", "mois",
            "mensuel", "mes", "mensual", "mese", "mensile", "mensal", "mês", "maand", "maandelijks",
            "miesiąc", "mies", "måned", "månad", "månedlig", "kuukausi", "kk", "ay", "месяц", "мес",
            "月", "月額", "か月", "ヶ月", "ヵ月", "毎月", "每月",
        ],
    ),
    (
        Period::Year,
        &[
            "year", "years", "yearly", "yr", "annually", "annual", "annum", "jahr", "jährlich",
            "an", "année", "annuel", "año", "anual", "anno", "annuale", "annuo", "ano", "jaar",
            "jaarlijks", "rok", "år", "årlig", "vuosi", "yıl", "год", "年", "年額", "年間", "毎年",
            "每年",
        ],
    ),
    (Period::Week, &["week", "weekly", "wk", "woche", "semaine", "semana", "settimana", "週", "周"]),
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
    "user", "users", "seat", "seats", "member", "agent", "editor", "person", "employee", "nutzer",
    "benutzer", "mitarbeiter", "utilisateur", "personne", "usuario", "persona", "utente",
    "gebruiker", "ユーザー", "人",
];

/// Words for paying a year at once.
pub const BILLED_YEARLY: &[&str] = &[
    "yearly", "annually", "jährlich", "annuellement", "anualmente", "annualmente", "jaarlijks",
    "årligen", "年払い", "rocznie",
];

/// Words that make a number part of an offer.
pub const COMMERCIAL: &[&str] = &[
    "trial", "free", "up to", "limit", "limits", "unlimited", "included", "includes", "include",
    "storage", "% off", "off", "discount", "save", "guarantee", "warranty", "refund", "refunds",
    "money back", "money-back", "cancel", "cancellation", "minimum", "maximum", "per user",
    "per month", "no cost", "at no cost", "quota", "credits", "shipping", "delivery", "returns",
    "return", "deposit", "fee", "setup", "contract", "notice", "retention", "support", "sla",
    "response time", "in stock", "out of stock", "sold out", "capacity", "plan", "plans", "seats",
    "gb", "tb", "kostenlos", "kostenfrei", "gratis", "testen", "testphase", "probemonat", "bis zu",
    "inklusive", "inkl", "enthalten", "speicher", "rabatt", "garantie", "erstattung", "rückgabe",
    "widerruf", "kündigung", "kündbar", "mindest", "laufzeit", "versand", "lieferzeit",
    "versandkosten", "guthaben", "anzahlung", "auf lager", "ausverkauft", "essai", "gratuit",
    "gratuite", "gratuitement", "jusqu'à", "inclus", "incluse", "compris", "stockage", "remise",
    "réduction", "remboursement", "remboursé", "satisfait", "annulation", "livraison", "frais",
    "retour", "engagement", "en stock", "épuisé", "rupture", "prueba", "hasta", "incluido",
    "incluida", "almacenamiento", "descuento", "garantía", "reembolso", "devolución", "envío",
    "cancelación", "prova", "gratuita", "fino a", "incluso", "sconto", "garanzia", "rimborso",
    "spedizione", "proef", "tot", "inbegrepen", "korting", "verzending", "grátis", "até", "frete",
    "無料", "まで", "上限", "容量", "返金", "保証", "送料",
];

/// More of them, for scripts and languages at the end of the alphabet.
pub const COMMERCIAL_MORE: &[&str] = &[
    "割引", "トライアル", "体験", "在庫", "品切れ", "売り切れ", "解約", "プラン", "キャンセル",
    "人数", "名様", "免费", "退款", "bezpłatny", "darmowy", "do końca", "zwrot", "wysyłka", "prøv",
    "opptil", "upp till", "fri frakt", "bis zum", "deutschlandweit",
];

/// Words for how many use it.
pub const AUDIENCE: &[&str] = &[
    "trusted by", "loved by", "used by", "joined by", "customers", "clients", "users", "teams",
    "companies", "businesses", "members", "subscribers", "followers", "downloads", "installs",
    "stars", "reviews", "review", "ratings", "rating", "rated", "developers", "readers",
    "students", "countries", "votes", "people use", "forks", "contributors", "vertrauen",
    "kunden", "kundinnen", "nutzer", "nutzerinnen", "unternehmen", "teams", "mitglieder",
    "bewertungen", "bewertung", "sterne", "abonnenten", "leser", "clients satisfaits",
    "utilisateurs", "entreprises", "avis", "étoiles", "abonnés", "membres", "clientes", "usuarios",
    "empresas", "opiniones", "estrellas", "valoraciones", "clienti", "utenti", "aziende",
    "recensioni", "klanten", "gebruikers", "beoordelingen", "ユーザー", "社以上", "導入社数",
    "導入", "レビュー", "口コミ", "会員", "ダウンロード", "件の評価", "累計",
];

/// Words for how many, where the number is never part of an offer.
pub const RATINGS: &[&str] = &[
    "trusted by", "loved by", "used by", "joined by", "followers", "downloads", "installs", "stars",
    "reviews", "review", "ratings", "rating", "rated", "votes", "bewertungen", "bewertung",
    "sterne", "avis", "étoiles", "opiniones", "valoraciones", "recensioni", "beoordelingen",
    "レビュー", "口コミ", "件の評価",
];

/// Words of a limit, which always belong to an offer.
pub const LIMITS: &[&str] = &[
    "up to", "limit", "limits", "included", "maximum", "max", "bis zu", "inklusive", "enthalten",
    "jusqu'à", "inclus", "hasta", "incluido", "fino a", "incluso", "tot", "inbegrepen", "até",
    "まで", "上限",
];

/// Words for what is true at this moment only.
pub const LIVE: &[&str] = &[
    "right now", "now:", "online now", "live now", "currently", "uptime", "p50", "p95", "p99",
    "latency", "occupancy", "visitors today", "today:", "visitors", "viewing", "looking at this",
    "watching", "people are", "in the last", "last 24 hours", "last hour", "this week", "queue",
    "waiting time", "wait time", "left in", "only a few", "spots left", "left", "remaining", "in your cart",
    "all systems", "operational", "page generated", "rendered in", "served by", "load time",
    "temperature", "°c", "°f", "humidity", "km/h", "mph", " kn", "wind", "water level", "tide",
    "online:", "page views", "hits", "gerade", "derzeit", "aktuell", "momentan", "heute", "jetzt",
    "auslastung", "besucher", "aufrufe", "noch verfügbar", "nur noch", "wassertemperatur",
    "aujourd'hui", "actuellement", "en ce moment", "maintenant", "visiteurs", "restantes",
    "places restantes", "hoy", "ahora mismo", "en este momento", "visitantes", "oggi", "in questo",
    "visitatori", "vandaag", "op dit moment", "bezoekers", "hoje", "agora", "本日", "現在",
    "ただいま", "残り", "閲覧", "アクセス数", "混雑", "在线",
];

/// Words of legal lines at the end of a page.
pub const LEGAL: &[&str] = &[
    "©", "(c)", "copyright", "all rights reserved", "alle rechte", "tous droits", "todos los",
    "tutti i diritti", "rechten voorbehouden", "registered in", "company no", "company number",
    "vat", "ust-id", "hrb", "handelsregister", "siret", "siren", "tva", "cif", "p.iva", "kvk",
    "imprint", "無断", "著作権", "all rights",
];

/// Words of a free plan.
pub const FREE: &[&str] = &[
    "free", "free plan", "free forever", "kostenlos", "gratis", "gratuit", "gratuite", "gratuito",
    "無料", "at no cost", "no cost", "gratuita", "darmowy", "免费",
];

/// Words of a trial.
pub const TRIAL: &[&str] = &[
    "trial", "try free", "try for free", "money back", "money-back", "guarantee", "testphase",
    "kostenlos testen", "probemonat", "garantie", "essai", "satisfait ou", "prueba", "garantía",
    "prova gratuita", "proefperiode", "トライアル", "返金",
];

/// Beginnings of what a button says that wants something from the visitor.
pub const CALLS: &[&str] = &[
    "start", "try", "get started", "get a", "get the", "sign up", "signup", "join", "book",
    "buy", "order", "subscribe", "request", "schedule", "talk to", "contact sales", "create account",
    "create your", "download", "install", "add to cart", "shop now", "learn more", "see pricing",
    "watch", "jetzt", "kostenlos", "demo", "termin", "anmelden", "registrieren", "bestellen",
    "kaufen", "in den warenkorb", "essayer", "commencer", "démarrer", "réserver", "acheter",
    "s'inscrire", "demander", "empezar", "probar", "comprar", "reservar", "prova", "inizia",
    "acquista", "prenota", "無料", "申し込", "お問い合わせ",
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
        !(begins_with_letter && is_letter(before)) && !(ends_with_letter && is_letter(after))
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
        assert!(has_any("up to 10 boats", COMMERCIAL) && !has_any("ten boats", COMMERCIAL));
    }
}
