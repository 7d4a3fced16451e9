//! Pages that say they are not there and answer with status 200 all the same.

use crate::agents::lists::is_missing_title;
use crate::agents::page::document::Document;
use crate::agents::page::text::quote;
use crate::agents::page::tree::NodeId;
use crate::agents::seo::around::TargetAnswer;
use crate::agents::seo::finding::{
    Evidence, Found, Group, Judge, Judgement, Rule, Severity, Within,
};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_element};
use crate::agents::seo::target::{likeness, shingles};

/// The rule about pages that are not there.
pub const RULES: &[Rule] = &[Rule {
    id: "soft-404",
    name: "Missing pages say so",
    severity: Severity::Critical,
    group: Group::Alone,
    source: sources::GOOGLE_SOFT_404,
    why: "Readers see an error message, and search engines get status 200. They take the page for \
          content, or drop it as a mistake.",
    how: "Answer with status 404 or 410 when there is nothing, or put the page back.",
    judge: Judge::Document(soft_404),
}];

/// The title or heading with which a page says that it is not there.
#[must_use]
pub fn looks_missing<'a>(subject: &Subject, page: &'a Document) -> Option<(NodeId, &'a str)> {
    if subject.content.size.words >= ERROR_WORDS_MAX {
        return None;
    }
    let title = page.facts.title().map(|it| (it.node, it.text.as_str()));
    let headings =
        page.facts.main_headings().take(HEADINGS_MAX).map(|it| (it.node, it.text.as_str()));
    title.into_iter().chain(headings).find(|(_, text)| is_missing_title(text))
}

fn soft_404(subject: &Subject, page: &Document) -> Judgement {
    let Some((node, _)) = looks_missing(subject, page) else { return Judgement::Pass };
    let found = Found::new("The page says that it is not there, with status 200");
    let found = found.at([at_element(page, node)]);
    let compared = match &subject.fetched.around.missing {
        Some(TargetAnswer::Answered(target)) => target.page.as_ref().map(|it| {
            let same = likeness(&it.shingles, &shingles(&subject.content.text));
            (target.status, same)
        }),
        Some(TargetAnswer::Failed(_) | TargetAnswer::NotAsked(_)) | None => None,
    };
    let Some((status, percent)) = compared else {
        return Judgement::Fail(found.severity(Severity::High));
    };
    let path = quote(MISSING_PATH);
    let value = format!(
        "an address that does not exist, {path}, answers with status {status} and a text that is \
         the same to {percent} percent"
    );
    let found = found.at([Evidence::value(Within::Exchange, value)]);
    let is_confirmed = percent >= SAME_PERCENT;
    Judgement::Fail(if is_confirmed { found } else { found.severity(Severity::High) })
}

/// An address that no site has; what it answers is what a missing page looks like.
pub const MISSING_PATH: &str = "/errand-asks-for-a-page-that-is-not-there";
/// Words of the main text of a page that may still be an error message.
const ERROR_WORDS_MAX: usize = 150;
/// Main headings that are looked at.
const HEADINGS_MAX: usize = 5;
/// How much of two texts is the same when they are the same message.
const SAME_PERCENT: u32 = 70;

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    const SORRY: &str = "<!doctype html><title>Page not found</title><body><main><h1>Oops</h1><p>We \
                         could not find what you were looking for, sorry. Try the search.</main>";

    #[track_caller]
    fn check(html: &str, missing: Option<Sample>, expected: &str) {
        let mut sample = Sample::html(html);
        sample.0.around.missing = missing.map(Sample::into_target);
        sample.is("soft-404", expected);
    }

    #[test]
    fn a_page_that_says_it_is_missing_is_compared_with_one_that_is() {
        check(SORRY, Some(Sample::html(SORRY)), "critical");
        check(SORRY, Some(Sample::html(SORRY).status(404)), "critical");
        check(SORRY, Some(Sample::html("<p>Nothing here").status(404)), "high");
        check(SORRY, None, "high");
        check("<title>404</title><p>x", None, "high");
        check("<title>Tickets</title><h1>Seite nicht gefunden</h1>", None, "high");
        check("<title>Tickets</title><h1>Lost and found</h1>", None, "pass");
        let long = format!("<title>Page not found</title><p>{}", "word ".repeat(200));
        check(&long, None, "pass");
    }
}
