//! What robots directives restrict short of hiding the page, and pages that lead away.

use crate::agents::lists::SEARCH_BOTS;
use crate::agents::page::document::Document;
use crate::agents::page::facts::Part;
use crate::agents::page::robots::Access;
use crate::agents::seo::finding::{Evidence, Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::robots_tags::{Directive, RobotsTag, tags};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_element, at_tag};

/// The rules about directives.
pub const RULES: &[Rule] = &[
    Rule {
        id: "robots-conflict",
        name: "Directives that agree",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::GOOGLE_ROBOTS_TAGS,
        why: "A crawler that may not fetch the page never sees its `noindex`, so the bare address \
              can still appear in results.",
        how: "Allow the page in robots.txt and keep the `noindex`, or the other way round; not \
              both.",
        judge: Judge::Document(robots_conflict),
    },
    Rule {
        id: "snippet-limits",
        name: "Limits for snippets",
        severity: Severity::Info,
        group: Group::Alone,
        source: sources::GOOGLE_ROBOTS_TAGS,
        why: "These directives shorten what search engines show of the page, and keep it out of \
              their answers.",
        how: "Remove the directive unless the short result is intended.",
        judge: Judge::Document(snippet_limits),
    },
    Rule {
        id: "nofollow-page",
        name: "Links may be followed",
        severity: Severity::Info,
        group: Group::Alone,
        source: sources::GOOGLE_ROBOTS_TAGS,
        why: "Crawlers do not follow any link of the page, also not those to the site's own pages.",
        how: "Remove `nofollow` from the directive unless that is intended.",
        judge: Judge::Document(nofollow_page),
    },
    Rule {
        id: "noscript-directive",
        name: "No directives for browsers without scripts",
        severity: Severity::Info,
        group: Group::Alone,
        source: sources::GOOGLE_ROBOTS_TAGS,
        why: "Search engines run scripts and skip `noscript`; others do not. They read different \
              directives.",
        how: "Put the directive into the head, outside of `noscript`.",
        judge: Judge::Document(noscript_directive),
    },
    Rule {
        id: "meta-refresh",
        name: "No reloading",
        severity: Severity::Medium,
        group: Group::Alone,
        source: sources::AXE_REFRESH,
        why: "The page leads away or reloads by itself. Readers lose their place, and crawlers may \
              take it for a redirect.",
        how: "Remove the `meta` element; redirect with status 301 when the page has moved.",
        judge: Judge::Document(meta_refresh),
    },
];

fn robots_conflict(subject: &Subject, page: &Document) -> Judgement {
    let (tags, now) = (tags(subject, page), subject.fetched.at);
    for bot in &SEARCH_BOTS {
        let hidden = tags.iter().find(|it| it.is_for(bot.name) && it.directive.blocks(now));
        let access = subject.fetched.robots.access(bot.name, subject.url());
        if let (Some(tag), Access::Disallowed { line, rule }) = (hidden, access) {
            let found = Found::new(format!("{} cannot see the `noindex`", bot.engine));
            let evidence = [tag.evidence(page), Evidence::robots_line(line, &rule)];
            return Judgement::Fail(found.at(evidence));
        }
    }
    let contradiction = tags.iter().find_map(|tag| {
        let opposite = opposite(&tag.directive.name)?;
        let other = tags.iter().find(|it| it.directive.name == opposite && it.bot == tag.bot)?;
        Some((tag, other))
    });
    let Some((tag, other)) = contradiction else { return Judgement::Pass };
    let names = (&tag.directive.name, &other.directive.name);
    let found = Found::new(format!("The page says both `{}` and `{}`", names.0, names.1));
    let how = format!("Keep one of the two. As it is, `{}` counts.", names.1);
    Judgement::Fail(found.how(how).at(places(page, [tag, other])))
}

/// The directive that takes back a permission.
fn opposite(name: &str) -> Option<&'static str> {
    match name {
        "index" | "all" => Some("noindex"),
        "follow" => Some("nofollow"),
        _ => None,
    }
}

fn snippet_limits(subject: &Subject, page: &Document) -> Judgement {
    let limits = |it: &Directive| {
        let is_nothing = matches!(it.value.as_deref(), Some("0" | "none"));
        matches!(it.name.as_str(), "nosnippet" | "noimageindex")
            || (it.name.starts_with("max-") && is_nothing)
    };
    info_about(subject, page, limits, "Search engines show less of this page than they could")
}

fn nofollow_page(subject: &Subject, page: &Document) -> Judgement {
    let forbids = |it: &Directive| matches!(it.name.as_str(), "nofollow" | "none");
    info_about(subject, page, forbids, "No link of this page is followed")
}

fn info_about(
    subject: &Subject,
    page: &Document,
    wanted: impl Fn(&Directive) -> bool,
    title: &str,
) -> Judgement {
    let tags = tags(subject, page);
    let found: Vec<_> = tags.iter().filter(|it| wanted(&it.directive)).collect();
    if found.is_empty() {
        return Judgement::Pass;
    }
    Judgement::Info(Found::new(title).at(places(page, found)))
}

/// The places of some directives, each once.
fn places<'a>(page: &Document, tags: impl IntoIterator<Item = &'a RobotsTag>) -> Vec<Evidence> {
    let mut found = Vec::new();
    for evidence in tags.into_iter().map(|it| it.evidence(page)) {
        if !found.contains(&evidence) {
            found.push(evidence);
        }
    }
    found
}

fn noscript_directive(_: &Subject, page: &Document) -> Judgement {
    let directs = |text: &str| {
        let text = text.to_ascii_lowercase();
        let metas = text.split("<meta").skip(1).filter_map(|it| it.split('>').next());
        metas.into_iter().any(|it| {
            let is_robots = it.contains("robots") || it.contains("googlebot");
            is_robots && (it.contains("noindex") || it.contains("nofollow") || it.contains("none"))
        })
    };
    let found: Vec<_> = page.facts.noscripts.iter().filter(|(_, text)| directs(text)).collect();
    if found.is_empty() {
        return Judgement::Pass;
    }
    let title = "A robots directive stands inside `noscript`";
    Judgement::Info(Found::new(title).at_each(&found, |(node, _)| at_element(page, *node)))
}

fn meta_refresh(_: &Subject, page: &Document) -> Judgement {
    let refreshes = page
        .facts
        .metas
        .iter()
        .filter(|it| it.pragma == "refresh" && !it.content.trim().is_empty());
    let found: Vec<_> = refreshes.collect();
    let Some(first) = found.first() else { return Judgement::Pass };
    let leads_away = first.content.to_ascii_lowercase().contains("url");
    let title =
        if leads_away { "The page leads away by itself" } else { "The page reloads by itself" };
    let part = |it: &Part| if *it == Part::Body { "in the body" } else { "in the head" };
    Judgement::Fail(
        Found::new(title).at_each(&found, |it| at_tag(page, it.node).saying(part(&it.part))),
    )
}

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    #[test]
    fn a_directive_that_nobody_can_see_is_a_conflict() {
        let hidden = Sample::body("").header("x-robots-tag", "noindex");
        hidden.clone().robots("User-agent: *\nDisallow: /page").is("robots-conflict", "medium");
        hidden.clone().robots("User-agent: x\nDisallow: /page").is("robots-conflict", "pass");
        hidden.is("robots-conflict", "pass");
        Sample::body("").robots("User-agent: *\nDisallow: /").is("robots-conflict", "pass");
    }

    #[test]
    fn directives_contradict_each_other_only_for_the_same_crawler() {
        let index = "<meta name=robots content=index>";
        Sample::head(&format!("{index}<meta name=robots content=noindex>"))
            .is("robots-conflict", "medium");
        Sample::head(&format!("{index}<meta name=googlebot content=noindex>"))
            .is("robots-conflict", "pass");
        let twice =
            Sample::head("<meta name=robots content='follow, nofollow'>").check("robots-conflict");
        assert_eq!(twice.fault().unwrap().places, 1);
    }

    #[track_caller]
    fn check_meta(content: &str, id: &str, expected: &str) {
        Sample::head(&format!("<meta name=robots content='{content}'>")).is(id, expected);
    }

    #[test]
    fn limits_are_mentioned_and_cost_nothing() {
        check_meta("nosnippet", "snippet-limits", "info");
        check_meta("max-snippet: 0", "snippet-limits", "info");
        check_meta("max-image-preview:none", "snippet-limits", "info");
        check_meta("max-snippet: -1, max-image-preview: large", "snippet-limits", "pass");
        check_meta("nofollow", "nofollow-page", "info");
        check_meta("none", "nofollow-page", "info");
        check_meta("follow", "nofollow-page", "pass");
    }

    #[test]
    fn directives_inside_noscript_are_found_in_its_text() {
        let inside = |it: &str| Sample::head(&format!("<noscript>{it}</noscript>"));
        inside("<META name='robots' content='noindex'>").is("noscript-directive", "info");
        inside("<meta name=robots content=noindex>").is("is-crawlable", "pass");
        inside("<meta name=x content=noindex> robots").is("noscript-directive", "pass");
        inside("<link rel=stylesheet href=a>").is("noscript-directive", "pass");
    }

    #[test]
    fn pages_that_lead_away_or_reload_are_faults() {
        let refresh = |it: &str| Sample::head(&format!("<meta http-equiv=Refresh content='{it}'>"));
        refresh("0; url=/b").is("meta-refresh", "medium");
        refresh("300").is("meta-refresh", "medium");
        refresh("").is("meta-refresh", "pass");
        assert_eq!(
            refresh("0;URL=/b").check("meta-refresh").fault().unwrap().title,
            "The page leads away by itself"
        );
    }
}
