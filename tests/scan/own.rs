//! Pairs of our own: pages of two more families, and single changes of them.
//!
//! Each line is what is replaced by what, and the kinds that must be told; none means silence.

use errand::agents::Patience;

use crate::pairs::{read, verdict};

const CAMPSITE: &str = r#"<!doctype html><html lang="fr"><head><meta charset="utf-8">
<title>Camping des Saules : emplacements et cabanes au bord du lac</title>
<meta name="description" content="Un camping calme au bord du lac, ouvert d'avril à octobre.">
<link rel="canonical" href="https://saules.example/tarifs">
<script src="https://plausible.io/js/script.js"></script></head><body>
<div id="menu-principal" class="menu"><a href="/">Accueil</a><a href="/tarifs">Tarifs</a><a href="/lac">Le lac</a></div>
<h1>Dormir au bord de l'eau</h1><p>Nos emplacements sont ombragés et loin de la route.</p>
<p class="meteo">Température de l'eau : 18,4 °C, mise à jour à 14 h 30</p>
<h2>Tarifs par nuit</h2><dl><dt>Emplacement tente</dt><dd>à partir de 18 € la nuit</dd>
<dt>Cabane perchée</dt><dd>79,50 € la nuit</dd><dt>Taxe de séjour</dt><dd>0,60 € par personne</dd></dl>
<h2>Bon à savoir</h2><details><summary>Peut-on annuler ?</summary><p>Oui, jusqu'à 14 jours avant l'arrivée.</p></details>
<ul><li>Location de canoës</li><li>Pain frais le matin</li><li>Chiens acceptés en laisse</li></ul>
<a class="bouton btn" href="/reserver">Réserver un séjour</a>
<p>Encore 7 places disponibles aujourd'hui</p>
<div class="avis">4,7/5 sur 312 avis</div>
<div class="actus"><h2>Actualités</h2><a href="/actualites/ponton">Le nouveau ponton est ouvert</a></div>
<footer><p>Camping des Saules, 12 chemin du Lac</p><p>© 2026 Camping des Saules, SIRET 123 456 789</p></footer></body></html>"#;

const LEDGER: &str = r#"<!doctype html><html lang="ja"><head><meta charset="utf-8">
<title>帳簿クラウド｜個人事業主のための会計ソフト</title>
<meta name="description" content="確定申告までかんたんに。"></head><body>
<header><nav><a href="/features">機能</a><a href="/price">料金</a><a href="/news">お知らせ</a></nav></header>
<main><h1>請求書から確定申告まで</h1><p>スマートフォンで領収書を撮るだけで帳簿ができます。</p>
<p>導入社数 12,300社</p><a class="cta-button" href="/signup">無料で始める</a>
<section class="price-list"><div class="col"><div class="name">ライト</div><div class="yen">月額980円</div><ul><li>請求書は月10通まで</li><li>メールサポート</li></ul></div>
<div class="col"><div class="name">スタンダード</div><div class="yen">月額1,980円</div><ul><li>請求書は無制限</li><li>電話サポート</li></ul></div></section>
<p>30日間の無料体験があります。</p>
<section><h2>お知らせ</h2><ul><li><time>2026年11月18日</time><a href="/news/1201">インボイス制度に対応しました</a></li></ul></section></main>
<footer><p>現在のアクセス数：128人</p><p>© 2026 帳簿クラウド株式会社</p></footer></body></html>"#;

/// Id, what is replaced, by what, and the kinds that must be told.
type Case = (&'static str, &'static str, &'static str, &'static [&'static str]);

const OF_CAMPSITE: &[Case] = &[
    ("water", "18,4 °C, mise à jour à 14 h 30", "17,9 °C, mise à jour à 9 h 05", &[]),
    ("places", "Encore 7 places", "Encore 3 places", &[]),
    ("reviews", "4,7/5 sur 312 avis", "4,6/5 sur 318 avis", &[]),
    ("classes", "class=\"avis\"", "data-v=\"8\" class=\"avis x-91ab\"", &[]),
    ("year", "© 2026 Camping", "© 2027 Camping", &[]),
    ("cabin", "79,50 €", "84 €", &["price"]),
    ("tax", "0,60 €", "0,75 €", &["price"]),
    ("cancel", "14 jours avant", "7 jours avant", &["text"]),
    ("dogs", "<li>Chiens acceptés en laisse</li>", "", &["text"]),
    ("yurt", "<dt>Taxe", "<dt>Yourte</dt><dd>64 € la nuit</dd><dt>Taxe", &["plan"]),
    ("book", "Réserver un séjour", "Demander un devis", &["cta"]),
    (
        "post",
        "<a href=\"/actualites/ponton\">",
        "<a href=\"/actualites/noel\">Ouverture pendant les fêtes</a> <a href=\"/actualites/ponton\">",
        &["post"],
    ),
    (
        "counter",
        "https://plausible.io/js/script.js",
        "https://www.googletagmanager.com/gtag/js",
        &["tech"],
    ),
];

const OF_LEDGER: &[Case] = &[
    ("visitors", "128人", "97人", &[]),
    ("companies", "12,300社", "12,480社", &[]),
    ("date", "2026年11月18日", "2026年11月19日", &[]),
    ("width", "月額1,980円", "月額１，９８０円", &[]),
    ("price", "月額980円", "月額1,280円", &["price"]),
    ("invoices", "月10通まで", "月5通まで", &["text"]),
    ("trial", "30日間の無料体験", "14日間の無料体験", &["text"]),
    ("heading", "請求書から確定申告まで", "経理をAIにおまかせ", &["heading"]),
    ("menu", "<a href=\"/news\">", "<a href=\"/ai\">AI</a><a href=\"/news\">", &["nav"]),
    (
        "plan",
        "</div></section>",
        "</div><div class=\"col\"><div class=\"name\">プロ</div><div class=\"yen\">月額4,980円</div></div></section>",
        &["plan"],
    ),
    (
        "news",
        "<ul><li><time>",
        "<ul><li><a href=\"/news/1202\">年末調整の機能を追加しました</a></li><li><time>",
        &["post"],
    ),
    ("double", "12,300社", "25,000社", &["text"]),
];

fn wrong(page: &str, url: &str, cases: &[Case]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (id, from, to, expected) in cases {
        assert!(page.contains(from), "{id} replaces nothing");
        let before = read(url, 200, &[], page.as_bytes());
        let after = read(url, 200, &[], page.replacen(from, to, 1).as_bytes());
        let found = verdict(
            &after.changed_since(before.page().unwrap(), &Patience::endless()).unwrap().changes,
        );
        let is_right = expected.iter().all(|it| found.kinds.contains(*it))
            && (!expected.is_empty() || found.kinds.is_empty());
        if !is_right {
            wrong.push(format!("{id}: {:?}, not {expected:?}\n{}", found.kinds, found.shown));
        }
    }
    wrong
}

#[test]
fn a_campsite_and_a_ledger_are_judged_as_decided_beforehand() {
    let mut wrong_ones = wrong(CAMPSITE, "https://saules.example/tarifs", OF_CAMPSITE);
    wrong_ones.extend(wrong(LEDGER, "https://ledger.example/", OF_LEDGER));
    assert!(wrong_ones.is_empty(), "{} wrong\n{}", wrong_ones.len(), wrong_ones.join("\n"));
}
