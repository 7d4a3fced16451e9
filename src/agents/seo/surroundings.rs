//! Decides what else must be asked to judge a page, and asks it, the most telling first.

use url::Url;

use crate::agents::page::document::Document;
use crate::agents::seo::around::{Around, FileAnswer, SitemapAnswer, Sitemaps, TargetAnswer};
use crate::agents::seo::asking::{Asker, LIMIT};
use crate::agents::seo::checks::{
    canonical_target, hreflang_return, link_targets, social, soft_404,
};
use crate::agents::seo::sitemap::{self, FileKind};
use crate::agents::seo::subject::Subject;

/// Asks everything that belongs to a page; nothing when there is none.
///
/// # Cancel safety
///
/// Safe: a dropped call leaves nothing behind.
pub async fn ask(asker: &mut Asker<'_>, subject: &Subject) -> Around {
    let mut around = Around::default();
    let Some(page) = subject.document() else { return around };
    if let Some(url) = canonical_target::wanted(subject) {
        around.canonical = Some(asker.page(&url).await);
    }
    if soft_404::looks_missing(subject, page).is_some()
        && let Ok(url) = subject.url().join(soft_404::MISSING_PATH)
    {
        around.missing = Some(asker.page(&url).await);
    }
    around.sitemaps = Some(Box::pin(sitemaps(asker, subject)).await);
    for url in hreflang_return::wanted(subject, page) {
        let answer = asker.page(&url).await;
        around.translations.push((url, answer));
    }
    if let Some(url) = social::image(subject, page) {
        let answer = asker.head(&url).await;
        around.image = Some((url, answer));
    }
    for url in link_targets::wanted(subject) {
        let answer = asker.head(&url).await;
        around.links.push((url, answer));
    }
    if link_targets::all_are_missing(&around.links)
        && let Ok(url) = subject.url().join("/")
    {
        around.home = Some(asker.head(&url).await);
    }
    ask_usual_places(asker, subject, page, &mut around).await;
    around.limits = limits(&around);
    around
}

/// Asks for what stands at the same place on every host.
async fn ask_usual_places(
    asker: &mut Asker<'_>,
    subject: &Subject,
    page: &Document,
    around: &mut Around,
) {
    if !social::names_icon(page)
        && let Ok(url) = subject.url().join("/favicon.ico")
    {
        around.icon = Some(asker.head(&url).await);
    }
    if let Ok(url) = subject.url().join("/llms.txt") {
        around.llms = Some(asker.file(&url, LLMS_BYTES_MAX).await);
    }
}

/// Reads the sitemaps that robots.txt names, or the one at the usual place.
async fn sitemaps(asker: &mut Asker<'_>, subject: &Subject) -> Sitemaps {
    let robots = subject.fetched.robots.robots();
    let named = robots.map(|it| it.sitemaps.as_slice()).unwrap_or_default();
    let named: Vec<Url> = named.iter().filter_map(|(_, it)| Url::parse(it).ok()).collect();
    let mut found = Sitemaps { are_named: !named.is_empty(), ..Sitemaps::default() };
    let mut waiting = named;
    if !found.are_named {
        waiting.extend(subject.url().join("/sitemap.xml"));
    }
    waiting.reverse();
    while let Some(url) = waiting.pop() {
        if found.files.len() >= SITEMAPS_MAX {
            found.has_more = true;
            break;
        }
        let mut answer = asker.file(&url, SITEMAP_BYTES_MAX).await;
        if matches!(answer, FileAnswer::Failed(_) | FileAnswer::Status(429 | 500..=599))
            && asker.wait_for(&url).await
        {
            answer = asker.file(&url, SITEMAP_BYTES_MAX).await;
        }
        let answer = match answer {
            FileAnswer::Text(text) => read(asker, text, &url, subject.url()).await,
            FileAnswer::Status(status) => SitemapAnswer::Status(status),
            FileAnswer::Failed(why) => SitemapAnswer::Failed(why),
            FileAnswer::NotAsked(why) => SitemapAnswer::NotAsked(why),
        };
        if let SitemapAnswer::Read(file) = &answer {
            if file.kind == FileKind::Index {
                waiting.extend(file.children.iter().rev().cloned());
            }
            if file.own.is_some() {
                found.has_more = false;
                found.files.push((url, answer));
                break;
            }
        }
        found.files.push((url, answer));
    }
    found
}

async fn read(asker: &Asker<'_>, text: String, url: &Url, page: &Url) -> SitemapAnswer {
    if url.path().ends_with(".gz") {
        return SitemapAnswer::NotAsked("compressed sitemaps are not read");
    }
    let (url, page) = (url.clone(), page.clone());
    let read = asker.bench().parsers.run(move |_| sitemap::read(&text, &url, &page)).await;
    match read {
        Ok(Ok(found)) => SitemapAnswer::Read(found),
        Ok(Err(why)) => SitemapAnswer::Broken(why),
        Err(_) => SitemapAnswer::Failed("it could not be read".to_owned()),
    }
}

/// What a limit has kept from being asked.
fn limits(around: &Around) -> Vec<String> {
    let is_cut = |it: &&(Url, TargetAnswer)| it.1 == TargetAnswer::NotAsked(LIMIT);
    let links = around.links.iter().filter(is_cut).count();
    let translations = around.translations.iter().filter(is_cut).count();
    let mut limits = Vec::new();
    for (count, what) in [(links, "links"), (translations, "translations")] {
        if count > 0 {
            limits.push(format!("{count} {what} were not asked: {LIMIT}"));
        }
    }
    limits
}

/// Sitemap files that are read: an index and two others.
const SITEMAPS_MAX: usize = 3;
/// Bytes of a sitemap that are read.
const SITEMAP_BYTES_MAX: usize = 10 * 1024 * 1024;
/// Bytes of an `llms.txt` that are read.
const LLMS_BYTES_MAX: usize = 256 * 1024;
