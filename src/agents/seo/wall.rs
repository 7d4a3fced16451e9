//! Recognises what firewalls answer instead of a page: a question that only browsers can answer.
//!
//! Pages that are there may carry the scripts of the same firewalls. So a page counts as a wall
//! only when it says little itself, and for most marks only when it loads nothing of its own.

use crate::agents::lists::{WALL_MARKS, WALL_SCRIPTS, is_challenge_title};
use crate::agents::page::document::Document;
use crate::agents::page::reply::Reply;
use crate::agents::seo::content::Content;

/// Whether the head of an answer says by itself that it is a question.
#[must_use]
pub fn says_so(reply: &Reply) -> bool {
    let is = |name: &str, values: &[&str]| {
        let value = reply.header(name).unwrap_or_default();
        values.iter().any(|it| value.eq_ignore_ascii_case(it))
    };
    // Kasada sends its header with every question, and with no page.
    let is_kasada = reply.status == 429 && reply.header("x-kpsdk-ct").is_some();
    is("cf-mitigated", &["challenge"])
        || is("x-amzn-waf-action", &["challenge", "captcha"])
        || is_kasada
}

/// Whether a document is a question, or only what asks it.
#[must_use]
pub fn is_question(reply: &Reply, page: &Document) -> bool {
    let is_refusal = matches!(reply.status, 401 | 403 | 405 | 429 | 503);
    let title = page.facts.title().map(|it| it.text.as_str()).unwrap_or_default();
    if matches!(reply.status, 403 | 503) && is_challenge_title(title) {
        return true;
    }
    let source = &page.decoded.text;
    if source.len() > BYTES_MAX {
        return false;
    }
    let source = source.to_ascii_lowercase();
    let has = |marks: &[&str]| marks.iter().any(|it| source.contains(it));
    if !has(&WALL_MARKS) && !has(&WALL_SCRIPTS) {
        return false;
    }
    let (content, is_marked) = (Content::of(page), has(&WALL_MARKS));
    let words = content.body.words;
    if is_refusal && is_marked && words <= WORDS_MAX {
        return true;
    }
    // Firewalls put their scripts into the shortest of pages; without any text there is no page.
    let is_stub = if is_marked { words <= STUB_WORDS_MAX } else { words == 0 && loads(&content) };
    let is_answer = is_refusal || matches!(reply.status, 200..=299);
    is_answer && is_stub && page.facts.anchors.is_empty() && is_bare(&content)
}

/// Whether a page loads anything.
const fn loads(content: &Content) -> bool {
    !content.resources.is_empty()
}

/// Whether all that a page loads is of a firewall.
fn is_bare(content: &Content) -> bool {
    let is_known = |address: &str| {
        let address = address.to_ascii_lowercase();
        WALL_MARKS.iter().chain(&WALL_SCRIPTS).any(|it| address.contains(it))
    };
    content.shell.is_none() && content.resources.iter().all(|it| is_known(&it.address))
}

/// Bytes of the largest question.
const BYTES_MAX: usize = 64 * 1024;
/// Words of the longest question.
const WORDS_MAX: usize = 150;
/// Words of a page that does nothing but load a script.
const STUB_WORDS_MAX: usize = 25;

#[cfg(test)]
mod tests {
    use crate::agents::parsers::Patience;
    use crate::agents::seo::audit::examine;
    use crate::agents::seo::failure::Code;
    use crate::agents::seo::sample::Sample;

    #[track_caller]
    fn check(sample: Sample, is_wall: bool) {
        let code = examine(sample.0, &Patience::endless()).map(|_| ()).map_err(|it| it.code);
        assert_eq!(code, if is_wall { Err(Code::BotChallenge) } else { Ok(()) });
    }

    const INCAPSULA: &str = "<html style=height:100%><head><META NAME=ROBOTS CONTENT='NOINDEX, \
        NOFOLLOW'><script src='/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e6fffd425f7e032f3'>\
        </script></head><body style='margin:0px'><iframe id=main-iframe src='/_Incapsula_Resource?\
        SWUDNSAI=31&xinfo=9-1&edet=12'>Request unsuccessful. Incapsula incident ID: 1-2</iframe>";

    #[test]
    fn the_questions_of_the_usual_walls_are_known() {
        check(Sample::html(INCAPSULA), true);
        check(Sample::html("<script src=/_Incapsula_Resource?SWJIYLWA=1></script>"), true);
        let datadome = "<html lang=en><head><title>shop.example</title></head><body><p id=cmsg>\
            Please enable JS and disable any ad blocker</p><script data-cfasync=false>var dd={}\
            </script><script src=https://ct.captcha-delivery.com/c.js></script>";
        check(Sample::html(datadome).status(403), true);
        let human = "<title>Access to this page has been denied</title><h1>Press &amp; Hold</h1>\
            <div id=px-captcha></div><link rel=stylesheet href=/own.css>";
        check(Sample::html(human).status(403), true);
        let akamai = "<title>Access Denied</title><h1>Access Denied</h1>You don't have permission \
            to access this page.<p>Reference #18.2d<p>https://errors.edgesuite.net/18.2d";
        check(Sample::html(akamai).status(403), true);
        let akamai = "<script src=/_sec/cp_challenge/ak-challenge-4-4.htm></script>\
            <div id=sec-if-cpt-container></div>";
        check(Sample::html(akamai), true);
        let cloudflare = "<title>shop.example</title><script>window._cf_chl_opt={}</script>\
            <noscript>Enable JavaScript and cookies to continue</noscript>";
        check(Sample::html(cloudflare).status(503), true);
        let amazon = "<script src=https://1a.eu-west-1.token.awswaf.com/1a/challenge.js></script>\
            <div id=challenge-container></div>";
        check(Sample::html(amazon).status(202), true);
        check(Sample::html("").status(405).header("x-amzn-waf-action", "captcha"), true);
        let kasada = "<script>window.KPSDK={}</script><script src=/149e9513-01fa-4fb0/2d206a39/\
            ips.js?x-kpsdk-im=1></script>";
        check(Sample::html(kasada).status(429), true);
        check(Sample::html("").status(429).header("x-kpsdk-ct", "1"), true);
    }

    #[test]
    fn pages_behind_a_wall_are_pages() {
        let scripts = "<script src=/_Incapsula_Resource?SWJIYLWA=1></script>\
            <script src=https://js.datadome.co/tags.js></script>\
            <script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script>\
            <script src=https://client.perimeterx.net/PX1/main.min.js></script>\
            <script src=https://1a.edge.sdk.awswaf.com/1a/challenge.js></script>";
        check(Sample::body(scripts), false);
        check(Sample::body(scripts).status(403), false);
        // An application that scripts fill is no question, however empty it is.
        let shell = format!("<title>Shop</title><div id=root></div>{scripts}");
        check(Sample::html(&shell), false);
        check(Sample::html(shell.replace("root", "x") + "<script src=/app.js></script>"), false);
        check(Sample::html("<title>Closed</title><p>Back at noon.").status(503), false);
        check(Sample::html("<title>Closed</title><a href=/>Home</a>".to_owned() + scripts), false);
        check(Sample::html(""), false);
        let watched = "<script src=/_Incapsula_Resource?SWJIYLWA=1></script>";
        check(Sample::html(format!("<title>Soon</title><h1>Soon</h1>{watched}")), false);
        check(Sample::html(watched).status(404), false);
        let inline = "<script>a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'</script>";
        check(Sample::html(format!("<title>Soon</title>{inline}")), false);
        let article = "<p>The wall of captcha-delivery.com asks every guest.</p>";
        check(Sample::body(article), false);
    }
}
