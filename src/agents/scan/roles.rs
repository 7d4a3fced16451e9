//! Which pages of a site are looked at: the one that was named, and where it links to its prices,
//! its features and its news.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::agents::scan::extract::host;
use crate::agents::scan::facts::{LinkFact, PageFacts};
use crate::agents::scan::links::is_article_list;

/// What a page is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The page that was named.
    Entry,
    /// What it costs.
    Pricing,
    /// What it can do.
    Features,
    /// What is new.
    News,
}

impl Role {
    /// The roles that are looked for.
    pub const FOUND: [Self; 3] = [Self::Pricing, Self::Features, Self::News];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Pricing => "pricing",
            Self::Features => "features",
            Self::News => "news",
        }
    }

    /// Whether a link leads to a page of this role.
    fn is_of(self, link: &LinkFact) -> bool {
        let last = link.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let last = last.split('.').next().unwrap_or_default().to_lowercase();
        let text = link.text.lower();
        let words = match self {
            Self::Entry => return false,
            Self::Pricing => PRICING,
            Self::Features => FEATURES,
            Self::News => return is_article_list(&link.path),
        };
        words.iter().any(|it| last == *it || text == *it)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The pages that the entry links to, at most one of a role.
#[must_use]
pub fn further(entry: &PageFacts, url: &Url) -> Vec<(Role, Url)> {
    let mut found: Vec<(Role, Url)> = Vec::new();
    for role in Role::FOUND {
        let all = entry.nav.iter().chain(&entry.calls).chain(&entry.links);
        // A path without a host leads nowhere else.
        let mut links = all.filter(|it| it.path.starts_with('/') && role.is_of(it));
        let Some(address) = links.find_map(|it| url.join(&it.path).ok()) else { continue };
        let is_new = address.path().trim_end_matches('/') != url.path().trim_end_matches('/')
            && found.iter().all(|it| it.1 != address);
        if is_new && host(&address) == host(url) {
            found.push((role, address));
        }
    }
    found
}

const PRICING: &[&str] = &[
    "pricing",
    "prices",
    "price",
    "plans",
    "plans-pricing",
    "pricing-plans",
    "plans and pricing",
    "plans & pricing",
    "packages",
    "subscribe",
    "preise",
    "tarife",
    "preise-tarife",
    "kosten",
    "tarifs",
    "prix",
    "nos-tarifs",
    "precios",
    "planes",
    "tarifas",
    "prezzi",
    "piani",
    "prijzen",
    "tarieven",
    "precos",
    "preços",
    "planos",
    "priser",
    "cennik",
    "料金",
    "price-plan",
    "プラン",
    "料金プラン",
    "价格",
];
const FEATURES: &[&str] = &[
    "features",
    "feature",
    "product",
    "products",
    "platform",
    "solutions",
    "how-it-works",
    "tour",
    "overview",
    "services",
    "funktionen",
    "produkt",
    "produkte",
    "leistungen",
    "loesungen",
    "lösungen",
    "fonctionnalites",
    "fonctionnalités",
    "produit",
    "produits",
    "funciones",
    "caracteristicas",
    "características",
    "producto",
    "productos",
    "funzionalita",
    "funzionalità",
    "prodotti",
    "functies",
    "funcionalidades",
    "funkcje",
    "機能",
    "サービス",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::scan::facts::Zone;
    use crate::agents::scan::texts::Text;

    #[test]
    fn pages_are_found_by_path_or_text_and_only_on_the_same_host() {
        let link = |text: &str, path: &str| LinkFact {
            text: Text::of(text),
            path: path.to_owned(),
            zone: Zone::Nav,
        };
        let entry = PageFacts {
            nav: vec![
                link("Preise", "/de/was-es-kostet"),
                link("Blog", "/blog"),
                link("Features", "other.example/features"),
                link("Pricing", "/pricing"),
            ],
            ..PageFacts::default()
        };
        let url = Url::parse("https://site.example/de/").unwrap();
        let found: Vec<_> = further(&entry, &url)
            .into_iter()
            .map(|(role, it)| (role, it.path().to_owned()))
            .collect();
        let expected = [(Role::Pricing, "/de/was-es-kostet"), (Role::News, "/blog")];
        assert_eq!(found, expected.map(|(role, it)| (role, it.to_owned())));
    }
}
