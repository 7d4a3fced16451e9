//! The sitemaps of the host, and what they say about the page.

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::page::text::quote;
use crate::agents::seo::around::{SitemapAnswer, Sitemaps};
use crate::agents::seo::checks::canonical;
use crate::agents::seo::finding::{
    Evidence, Found, Group, Judge, Judgement, Rule, Severity, Within,
};
use crate::agents::seo::robots_tags::tags;
use crate::agents::seo::sitemap::{ENTRIES_MAX, FileKind};
use crate::agents::seo::sources;
use crate::agents::seo::subject::Subject;

/// The rule about sitemaps.
pub const RULES: &[Rule] = &[Rule {
    id: "sitemap",
    name: "Sitemap",
    severity: Severity::Low,
    group: Group::Alone,
    source: sources::SITEMAPS_ORG,
    why: "A sitemap tells search engines which pages there are and when they changed. Small sites \
          do without one.",
    how: "Publish `/sitemap.xml` with the addresses that results should show, and name it in \
          robots.txt.",
    judge: Judge::Document(sitemap),
}];

fn sitemap(subject: &Subject, page: &Document) -> Judgement {
    let Some(sitemaps) = &subject.fetched.around.sitemaps else {
        return Judgement::NotApplicable("no sitemap was asked for");
    };
    let broken: Vec<Evidence> =
        sitemaps.files.iter().filter_map(|it| broken(it, sitemaps)).collect();
    if !broken.is_empty() {
        let found = Found::new("Search engines cannot read the sitemap");
        return Judgement::Fail(found.at(broken));
    }
    let read: Vec<_> =
        sitemaps.files.iter().filter_map(|(url, it)| Some((url, file(it)?))).collect();
    if read.is_empty() {
        let not_asked = sitemaps.files.iter().find_map(|(_, it)| match it {
            SitemapAnswer::NotAsked(why) => Some(*why),
            SitemapAnswer::Read(_)
            | SitemapAnswer::Status(_)
            | SitemapAnswer::Broken(_)
            | SitemapAnswer::Failed(_) => None,
        });
        return match not_asked {
            Some(why) => Judgement::NotApplicable(why),
            None => Judgement::Info(Found::new("The host has no sitemap")),
        };
    }
    if let Some((url, own)) = read.iter().find_map(|(url, it)| Some((*url, it.own.as_deref()?))) {
        return listed(subject, page, url, own);
    }
    let of_host: usize = read.iter().map(|(_, it)| it.of_host).sum();
    let has_pages = read.iter().any(|(_, it)| it.kind == FileKind::Pages);
    if !has_pages || of_host == 0 || sitemaps.has_more {
        return Judgement::Pass;
    }
    let found = Found::new("The page is not in the sitemap");
    let how = "Add the address, if results should show this page.";
    Judgement::Info(found.how(how).at(read.iter().map(|(url, it)| {
        let value = format!("{} lists {} other pages", quote(url.as_str()), it.of_host);
        Evidence::value(Within::Exchange, value)
    })))
}

/// Judges a page that is in a sitemap.
fn listed(subject: &Subject, page: &Document, url: &Url, modified: &str) -> Judgement {
    let when =
        if modified.is_empty() { String::new() } else { format!(", changed {}", quote(modified)) };
    let place =
        Evidence::value(Within::Exchange, format!("listed in {}{when}", quote(url.as_str())));
    let now = subject.fetched.at;
    if let Some(tag) =
        tags(subject, page).iter().find(|it| it.bot.is_none() && it.directive.blocks(now))
    {
        // The page already pays for not being indexed.
        let found = Found::new("The sitemap lists this page, which may not be indexed");
        return Judgement::Info(found.at([place, tag.evidence(page)]));
    }
    let other = canonical::address(subject, page).filter(|it| it != subject.url());
    if other.is_some() {
        let found = Found::new("The sitemap lists this page, which names another address");
        let found =
            found.severity(Severity::Medium).at([place]).at(canonical::links(subject, page));
        return Judgement::Fail(found.how("List the canonical address in its place."));
    }
    Judgement::Pass
}

/// What is wrong with a file that should be a sitemap.
fn broken((url, answer): &(Url, SitemapAnswer), sitemaps: &Sitemaps) -> Option<Evidence> {
    let problem = match answer {
        SitemapAnswer::Broken(why) => why.clone(),
        SitemapAnswer::Status(status) if sitemaps.are_named => {
            format!("It answers with status {status}.")
        }
        SitemapAnswer::Failed(why) if sitemaps.are_named => {
            format!("Nothing came: {}.", quote(why))
        }
        SitemapAnswer::Read(file) if file.entries > ENTRIES_MAX => {
            format!("It lists {} addresses; {ENTRIES_MAX} are allowed.", file.entries)
        }
        SitemapAnswer::Read(_)
        | SitemapAnswer::Status(_)
        | SitemapAnswer::Failed(_)
        | SitemapAnswer::NotAsked(_) => return None,
    };
    Some(Evidence::value(Within::Exchange, format!("{}: {problem}", quote(url.as_str()))))
}

const fn file(answer: &SitemapAnswer) -> Option<&crate::agents::seo::sitemap::Found> {
    match answer {
        SitemapAnswer::Read(found) => Some(found),
        SitemapAnswer::Status(_)
        | SitemapAnswer::Broken(_)
        | SitemapAnswer::Failed(_)
        | SitemapAnswer::NotAsked(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;
    use crate::agents::seo::sitemap::read;

    #[track_caller]
    fn check(head: &str, answers: Vec<SitemapAnswer>, are_named: bool, expected: &str) {
        let mut sample = Sample::head(head);
        let url = Url::parse("https://example.com/sitemap.xml").unwrap();
        let files = answers.into_iter().map(|it| (url.clone(), it)).collect();
        sample.0.around.sitemaps = Some(Sitemaps { files, are_named, has_more: false });
        sample.is("sitemap", expected);
    }

    fn listing(paths: &[&str]) -> SitemapAnswer {
        let url = |it: &&str| format!("<url><loc>https://example.com{it}</loc></url>");
        let text = format!("<urlset>{}</urlset>", paths.iter().map(url).collect::<String>());
        let at = Url::parse("https://example.com/sitemap.xml").unwrap();
        SitemapAnswer::Read(read(&text, &at, &at.join("/page").unwrap()).unwrap())
    }

    #[test]
    fn a_page_is_in_the_sitemap_unless_results_should_not_show_it() {
        check("", vec![listing(&["/page"])], true, "pass");
        check("", vec![listing(&["/other"])], true, "info");
        check("", vec![listing(&[])], true, "pass");
        check("<meta name=robots content=noindex>", vec![listing(&["/page"])], true, "info");
        let other = "<link rel=canonical href=https://example.com/b>";
        check(other, vec![listing(&["/page"])], true, "medium");
        Sample::head("").is("sitemap", "na");
    }

    #[test]
    fn a_sitemap_that_is_named_is_there_and_can_be_read() {
        check("", vec![SitemapAnswer::Status(404)], false, "info");
        check("", vec![SitemapAnswer::Status(404)], true, "low");
        check("", vec![SitemapAnswer::Failed("refused".to_owned())], true, "low");
        check("", vec![SitemapAnswer::Broken("It is empty.".to_owned())], false, "low");
        check("", vec![SitemapAnswer::NotAsked("robots.txt forbids it")], true, "na");
        check("", vec![listing(&["/page"]), SitemapAnswer::Status(500)], true, "low");
    }
}
