//! What an encrypted page loads without encryption.

use crate::agents::page::document::Document;
use crate::agents::seo::content::{Resource, ResourceKind};
use crate::agents::seo::finding::{Found, Group, Judge, Judgement, Rule, Severity};
use crate::agents::seo::sources;
use crate::agents::seo::subject::{Subject, at_tag};

/// The rule about mixed content.
pub const RULES: &[Rule] = &[Rule {
    id: "mixed-content",
    name: "Nothing unencrypted on an encrypted page",
    severity: Severity::High,
    group: Group::Alone,
    source: sources::MDN_MIXED_CONTENT,
    why: "Browsers block scripts, styles and frames that an encrypted page loads without \
          encryption, and warn before they send a form there.",
    how: "Write `https://` in these addresses, or leave out the scheme and the host.",
    judge: Judge::Document(mixed_content),
}];

fn mixed_content(subject: &Subject, page: &Document) -> Judgement {
    if subject.url().scheme() != "https" {
        return Judgement::NotApplicable("the page itself is not encrypted");
    }
    let is_plain =
        |it: &&Resource| subject.resolve(&it.address).is_some_and(|it| it.scheme() == "http");
    let plain: Vec<&Resource> = subject.content.resources.iter().filter(is_plain).collect();
    if plain.is_empty() {
        return Judgement::Pass;
    }
    let title = match plain.len() {
        1 => "The page loads something without encryption".to_owned(),
        count => format!("The page loads {count} things without encryption"),
    };
    let found = Found::new(title).at_each(&plain, |it| at_tag(page, it.node));
    if is_upgraded(subject, page) {
        let how = "Browsers are told to encrypt these themselves; others are not.";
        return Judgement::Info(found.how(how));
    }
    let is_active = plain.iter().any(|it| it.kind == ResourceKind::Active);
    Judgement::Fail(if is_active { found } else { found.severity(Severity::Medium) })
}

/// Whether browsers are told to ask for everything over TLS.
fn is_upgraded(subject: &Subject, page: &Document) -> bool {
    let says = |it: &str| it.to_ascii_lowercase().contains("upgrade-insecure-requests");
    let mut headers = subject.fetched.visit.reply.headers("content-security-policy");
    let is_policy = |it: &str| it == "content-security-policy";
    let mut metas = page.facts.metas.iter().filter(|it| is_policy(&it.pragma));
    headers.any(says) || metas.any(|it| says(&it.content))
}

#[cfg(test)]
mod tests {
    use crate::agents::seo::sample::Sample;

    #[test]
    fn an_encrypted_page_loads_nothing_in_the_clear() {
        let check = |body: &str, expected: &str| Sample::body(body).is("mixed-content", expected);
        check("<script src=http://a.example/x.js></script>", "high");
        check("<form action=http://a.example/></form>", "high");
        check("<img alt='' src=http://a.example/x.png>", "medium");
        check("<img alt='' srcset='/a 1x, http://a.example/b 2x'>", "medium");
        check("<a href=http://a.example/>x</a><script src=/x.js></script>", "pass");
        check("<iframe src=//a.example/></iframe>", "pass");
        let plain = "<script src=http://a.example/x.js></script>";
        Sample::body(plain).at("http://example.com/").is("mixed-content", "na");
        let policy = "default-src *; upgrade-insecure-requests";
        Sample::body(plain).header("content-security-policy", policy).is("mixed-content", "info");
    }
}
