//! The words and names that the checks compare with: texts by language, crawlers, errors.
//!
//! Everything that goes out of date stands here, under one version that is stored with every
//! report.

/// The version of the checks and of everything they compare with.
pub const CHECKS_VERSION: u32 = 3;

/// The checks that were added, or whose rule changed, since version 2, and the version that did
/// it. What an older version said of them does not compare.
pub const CHECKS_CHANGED: [(&str, u32); 3] =
    [("canonical-target", 3), ("links-broken", 3), ("hreflang-return", 3)];

/// A crawler of a search engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchBot {
    /// The name in robots.txt and in robots directives.
    pub name: &'static str,
    /// The search engine.
    pub engine: &'static str,
}

/// The crawlers whose access is checked; the first one decides the verdict.
pub const SEARCH_BOTS: [SearchBot; 3] = [
    SearchBot { name: "Googlebot", engine: "Google" },
    SearchBot { name: "bingbot", engine: "Bing" },
    SearchBot { name: "DuckDuckBot", engine: "DuckDuckGo" },
];

/// What a crawler of an AI company fetches pages for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AiUse {
    /// To train models.
    Training,
    /// To answer with links, as a search engine does.
    Search,
    /// Because a person asked just now.
    Visit,
}

/// The crawlers of AI companies, by what they fetch pages for.
pub const AI_BOTS: [(&str, AiUse); 16] = [
    ("GPTBot", AiUse::Training),
    ("ClaudeBot", AiUse::Training),
    ("Google-Extended", AiUse::Training),
    ("Applebot-Extended", AiUse::Training),
    ("CCBot", AiUse::Training),
    ("meta-externalagent", AiUse::Training),
    ("Bytespider", AiUse::Training),
    ("Amazonbot", AiUse::Training),
    ("cohere-ai", AiUse::Training),
    ("OAI-SearchBot", AiUse::Search),
    ("Claude-SearchBot", AiUse::Search),
    ("PerplexityBot", AiUse::Search),
    ("DuckAssistBot", AiUse::Search),
    ("ChatGPT-User", AiUse::Visit),
    ("Claude-User", AiUse::Visit),
    ("MistralAI-User", AiUse::Visit),
];

/// Titles of the pages that firewalls show instead of the page, lower case, by their beginnings;
/// parted by bars.
pub const CHALLENGE_TITLES: &str = "\
    just a moment|attention required!|please wait...|\
    checking your browser|ddos-guard|verifying you are human|human verification|are you a robot|\
    pardon our interruption";

/// What stands in the source of firewalls' questions and in no page behind them, lower case:
/// `DataDome`, HUMAN, Akamai, Cloudflare, Imperva, AWS WAF.
pub const WALL_MARKS: [&str; 11] = [
    "captcha-delivery.com",
    "px-captcha",
    "captcha.px-cdn.net",
    "captcha.px-cloud.net",
    "sec-if-cpt-container",
    "/_sec/cp_challenge",
    "errors.edgesuite.net",
    "_cf_chl_opt",
    "_incapsula_resource?swudnsai",
    "_incapsula_resource?cwudnsai",
    ".captcha.awswaf.com",
];

/// Scripts of firewalls, lower case, which ask the question or only watch over a page: Imperva,
/// `DataDome`, HUMAN, Akamai, Cloudflare, AWS WAF, Kasada.
pub const WALL_SCRIPTS: [&str; 10] = [
    "/_incapsula_resource",
    "js.datadome.co",
    "client.perimeterx.net",
    ".px-cdn.net",
    ".px-cloud.net",
    "/akam/13/",
    "/cdn-cgi/challenge-platform/",
    ".token.awswaf.com",
    ".edge.sdk.awswaf.com",
    "/ips.js?",
];

/// Titles that name no page, lower case, parted by bars.
pub const GENERIC_TITLES: &str = "\
    home|homepage|home page|index|index of|untitled|untitled document|untitled page|new page|\
    new tab|page|page title|title|website|my site|my website|welcome|document|default|test|\
    test page|coming soon|vite app|react app|next.js app|startseite|willkommen|unbenannt|\
    neue seite|accueil|bienvenue|sans titre|inicio|bienvenido|sin título|início|benvenuti|\
    pagina iniziale|welkom|strona główna|hem|forside|etusivu|главная|ホーム|首页";

/// What pages that are not there say of themselves, lower case, parted by bars.
pub const MISSING_TITLES: &str = "\
    404|error 404|404 error|404 not found|not found|page not found|404 page not found|\
    page not found 404|error 404 page not found|this page could not be found|\
    404 this page could not be found|the page you requested was not found|page missing|\
    page does not exist|this page does not exist|this page doesn't exist|page unavailable|\
    we can't find that page|we can't find the page you're looking for|page cannot be found|\
    the page cannot be found|the page can't be found|that page can't be found|\
    oops! that page can't be found|nothing found|product not found|file not found|\
    seite nicht gefunden|404 seite nicht gefunden|die seite wurde nicht gefunden|\
    diese seite wurde nicht gefunden|diese seite existiert nicht|nicht gefunden|fehler 404|\
    page non trouvée|page introuvable|cette page n'existe pas|erreur 404|page inexistante|\
    página no encontrada|pagina no encontrada|no encontrada|esta página no existe|\
    página não encontrada|esta página não existe|erro 404|pagina non trovata|errore 404|\
    pagina niet gevonden|niet gevonden|nie znaleziono strony|strona nie istnieje|\
    strona nie została znaleziona|sidan hittades inte|sidan kunde inte hittas|\
    siden blev ikke fundet|siden ble ikke funnet|siden findes ikke|siden finnes ikke|\
    sivua ei löytynyt|sivua ei löydy|stránka nenalezena|stránka nebyla nalezena|sayfa bulunamadı|\
    страница не найдена|ошибка 404|сторінку не знайдено|ページが見つかりません|\
    お探しのページは見つかりませんでした|페이지를 찾을 수 없습니다|页面不存在|页面未找到|找不到页面|找不到頁面";

/// Link texts that say nothing about their target, lower case, by language; parted by bars.
pub const GENERIC_LINKS: [(&str, &str); 21] = [
    (
        "en",
        "\
        click here|click this|click|here|this|go|go here|link|this link|this page|start|\
        right here|more|more info|more information|information|learn more|read more|see more|\
        find out more|details|continue|continue reading",
    ),
    (
        "de",
        "\
        hier|hier klicken|klicken sie hier|klick hier|mehr|mehr lesen|mehr erfahren|mehr infos|\
        mehr informationen|weiter|weiterlesen|details|link",
    ),
    (
        "fr",
        "\
        ici|cliquez ici|cliquer ici|plus|en savoir plus|lire la suite|lire plus|voir plus|\
        plus d'infos|suite|lien",
    ),
    (
        "es",
        "\
        aquí|haga clic aquí|haz clic aquí|clic aquí|más|leer más|saber más|ver más|\
        más información|enlace|este enlace",
    ),
    (
        "pt",
        "aqui|clique aqui|mais|leia mais|ler mais|saiba mais|veja mais|ver mais|mais informações",
    ),
    ("it", "qui|clicca qui|altro|leggi|leggi di più|leggi tutto|scopri di più|continua|dettagli"),
    ("nl", "hier|klik hier|meer|lees meer|lees verder|meer info|meer informatie|bekijk"),
    (
        "pl",
        "\
        tutaj|kliknij tutaj|kliknij|więcej|czytaj więcej|czytaj dalej|dowiedz się więcej|\
        zobacz więcej",
    ),
    ("sv", "här|klicka här|mer|läs mer|mer info|mer information|visa mer"),
    ("da", "her|klik her|mere|læs mere|mere info|se mere"),
    ("no", "her|klikk her|mer|les mer|mer info|se mer"),
    ("fi", "täällä|tästä|klikkaa tästä|klikkaa tähän|lisää|lue lisää|lisätietoja|katso lisää"),
    ("cs", "zde|klikněte zde|více|více zde|číst dál|číst více|více informací|zjistit více"),
    ("tr", "buraya|buraya tıklayın|tıklayın|devamı|devamını oku|daha fazla|daha fazla bilgi"),
    ("ru", "здесь|тут|сюда|нажмите здесь|жми|ещё|еще|далее|подробнее|читать далее|узнать больше"),
    ("uk", "тут|сюди|натисніть тут|ще|далі|детальніше|докладніше|читати далі|дізнатися більше"),
    ("ja", "こちら|ここ|ここをクリック|クリック|もっと見る|詳しく|詳細|詳細はこちら|続きを読む"),
    ("ko", "여기|여기를 클릭|클릭|더보기|더 보기|자세히|자세히 보기|더 알아보기"),
    ("zh", "这里|點此|点击这里|点击此处|點擊這裡|更多|了解更多|查看更多|阅读更多|閱讀更多|详情"),
    ("fa", "اینجا|اینجا کلیک کنید|کلیک کنید|بیشتر|ادامه|ادامه مطلب|بیشتر بدانید"),
    ("ta", "இங்கே|இங்கே கிளிக் செய்யவும்|மேலும்|மேலும் படிக்க"),
];

/// Whether a check means the same in `version` as in this one.
#[must_use]
pub fn is_unchanged_since(id: &str, version: u32) -> bool {
    CHECKS_CHANGED.iter().all(|(it, changed)| *it != id || *changed <= version)
}

/// Whether a text is one of the lists' link texts: of the language when it has a list, else of any.
#[must_use]
pub fn is_generic_link(text: &str, language: Option<&str>) -> bool {
    if text.len() > LINK_BYTES_MAX {
        return false;
    }
    let plain = text.trim_end_matches(|it: char| it.is_whitespace() || TRAILERS.contains(it));
    let plain = plain.to_lowercase();
    let primary = language.map(|it| it.split('-').next().unwrap_or(it));
    let alike = match primary {
        Some("nb" | "nn") => Some("no"),
        other => other,
    };
    match GENERIC_LINKS.iter().find(|(it, _)| Some(*it) == alike) {
        Some((_, texts)) => is_in(&plain, texts),
        None => GENERIC_LINKS.iter().any(|(_, texts)| is_in(&plain, texts)),
    }
}

/// Whether a title is one that names no page.
#[must_use]
pub fn is_generic_title(title: &str) -> bool {
    let plain = title.trim_matches(|it: char| !it.is_alphanumeric()).to_lowercase();
    is_in(&plain, GENERIC_TITLES)
}

/// Whether a title or heading says that the page is not there: one of its parts does.
#[must_use]
pub fn is_missing_title(title: &str) -> bool {
    if title.len() > MISSING_BYTES_MAX {
        return false;
    }
    let title = title.to_lowercase().replace('’', "'");
    let is_edge = |it: char| !it.is_alphanumeric();
    let says_so = |it: &str| {
        let words: Vec<_> =
            it.split_whitespace().map(|it| it.trim_matches([':', '-', ','])).collect();
        let words: Vec<_> = words.into_iter().filter(|it| !it.is_empty()).collect();
        is_in(words.join(" ").trim_matches(is_edge), MISSING_TITLES)
    };
    let parts = ["|", " - ", " – ", " — ", " · ", " » ", ": "];
    says_so(&title) || parts.iter().any(|it| title.split(it).any(says_so))
}

/// Whether a title is that of a firewall's question.
#[must_use]
pub fn is_challenge_title(title: &str) -> bool {
    let title = title.trim().to_lowercase();
    CHALLENGE_TITLES.split('|').any(|it| title.starts_with(it))
}

fn is_in(text: &str, list: &str) -> bool {
    list.split('|').any(|it| it == text)
}

/// Bytes of a title that may still be an error message.
const MISSING_BYTES_MAX: usize = 300;
/// Bytes of a link text that may still be generic.
const LINK_BYTES_MAX: usize = 120;
/// Signs that follow a link text without adding to it.
const TRAILERS: &str = ".…:;!?>»›→⟶➔➜▸▶";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_texts_are_known_in_their_language_and_everywhere_without_one() {
        assert!(is_generic_link("Click here", Some("en")));
        assert!(is_generic_link("Read more …", Some("en-gb")));
        assert!(is_generic_link("Mehr »", Some("de")));
        assert!(is_generic_link("Les mer", Some("nb")));
        assert!(!is_generic_link("mehr", Some("en")));
        assert!(is_generic_link("mehr", None));
        assert!(is_generic_link("mehr", Some("eo")));
        assert!(!is_generic_link("Read more about the mill", Some("en")));
        assert!(!is_generic_link("", None));
    }

    #[test]
    fn lists_are_lower_case_so_that_they_can_match() {
        let lists = GENERIC_LINKS.iter().map(|(_, texts)| *texts);
        for list in lists.chain([GENERIC_TITLES, CHALLENGE_TITLES, MISSING_TITLES]) {
            assert_eq!(list, list.to_lowercase());
            assert!(list.split('|').all(|it| !it.is_empty() && it == it.trim()), "{list}");
        }
        for mark in WALL_MARKS.iter().chain(&WALL_SCRIPTS) {
            assert_eq!(*mark, mark.to_lowercase());
        }
        assert!(is_generic_title(" Home. ") && !is_generic_title("Home of the wheel"));
        assert!(is_challenge_title("Just a moment..."));
        for missing in ["404", "404 - Page not found | Shop", "Error 404: Page not found!"] {
            assert!(is_missing_title(missing), "{missing}");
        }
        for page in ["Room 404", "Lost and found", "How to fix a page not found error", ""] {
            assert!(!is_missing_title(page), "{page}");
        }
    }
}
