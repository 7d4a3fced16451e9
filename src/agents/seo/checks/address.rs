//! The address of the page itself, and the file for language models beside it.

use url::Url;

use crate::agents::page::text::quote;
use crate::agents::seo::around::FileAnswer;
use crate::agents::seo::finding::{
    Evidence, Found, Group, Judge, Judgement, Rule, Severity, Within,
};
use crate::agents::seo::sources;
use crate::agents::seo::subject::Subject;

/// The rules about the address and what stands beside it.
pub const RULES: &[Rule] = &[
    Rule {
        id: "url-shape",
        name: "Form of the address",
        severity: Severity::Info,
        group: Group::Alone,
        source: sources::GOOGLE_URLS,
        why: "Addresses that differ in case, in a session or by a double slash are different pages \
              to a crawler, with the same content.",
        how: "Use short addresses in lower case, and keep sessions in cookies.",
        judge: Judge::Exchange(url_shape),
    },
    Rule {
        id: "llms-txt",
        name: "llms.txt",
        severity: Severity::Info,
        group: Group::Alone,
        source: sources::LLMS_TXT,
        why: "The file is a proposal: a short guide to the site for language models. No search \
              engine has said that it reads it.",
        how: "Begin with a heading and list the pages that matter as links, or remove the file.",
        judge: Judge::Exchange(llms_txt),
    },
];

fn url_shape(subject: &Subject) -> Judgement {
    let problems = problems(subject.url());
    if problems.is_empty() {
        return Judgement::Pass;
    }
    let found = Found::new("The address has an unlucky form");
    let evidence = problems.into_iter().map(|it| Evidence::value(Within::Exchange, it));
    Judgement::Info(found.at(evidence))
}

fn problems(url: &Url) -> Vec<String> {
    let path = url.path();
    let mut problems = Vec::new();
    let is_session = |name: &str| SESSIONS.contains(&name.to_ascii_lowercase().as_str());
    let session = url.query_pairs().find(|(name, _)| is_session(name)).map(|it| it.0.into_owned());
    let in_path = path.to_ascii_lowercase().contains(";jsessionid=");
    if let Some(name) = session.or(in_path.then(|| "jsessionid".to_owned())) {
        problems.push(format!("it contains a session, {}", quote(&name)));
    }
    if url.as_str().len() > LENGTH_MAX {
        problems.push(format!("it is {} characters long", url.as_str().len()));
    }
    if has_capitals(path) {
        problems.push("its path contains capital letters".to_owned());
    }
    if path.contains("//") {
        problems.push("its path contains a double slash".to_owned());
    }
    problems
}

/// Whether there are capital letters, those of escapes such as `%C3` left out.
fn has_capitals(path: &str) -> bool {
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let _ = bytes.nth(1);
        } else if byte.is_ascii_uppercase() {
            return true;
        }
    }
    false
}

fn llms_txt(subject: &Subject) -> Judgement {
    let text = match &subject.fetched.around.llms {
        Some(FileAnswer::Text(text)) => text,
        Some(FileAnswer::Status(500..)) => {
            return Judgement::Info(Found::new("The server fails to answer for llms.txt"));
        }
        Some(FileAnswer::Status(_)) => return Judgement::NotApplicable("there is no llms.txt"),
        Some(FileAnswer::Failed(_)) => return Judgement::NotApplicable("llms.txt did not answer"),
        Some(FileAnswer::NotAsked(why)) => return Judgement::NotApplicable(why),
        None => return Judgement::NotApplicable("llms.txt was not asked for"),
    };
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('<') {
        return Judgement::NotApplicable("there is no llms.txt, only a web page in its place");
    }
    let has_heading = text.lines().any(|it| it.trim_start().starts_with("# "));
    let mut problems = Vec::new();
    if !has_heading {
        problems.push("it has no heading of the first level");
    }
    if !text.contains("](") {
        problems.push("it has no link");
    }
    if text.chars().count() < LLMS_CHARS_MIN {
        problems.push("it is shorter than 50 characters");
    }
    if problems.is_empty() {
        return Judgement::Pass;
    }
    let found = Found::new("The llms.txt does not follow its proposal");
    Judgement::Info(found.at(problems.into_iter().map(|it| Evidence::value(Within::Exchange, it))))
}

/// Parameters that carry a session.
const SESSIONS: [&str; 7] =
    ["sid", "sessionid", "session_id", "phpsessid", "jsessionid", "aspsessionid", "cfid"];
/// Bytes of an address that is still handy.
const LENGTH_MAX: usize = 200;
/// Characters of an `llms.txt` that says something. Source: Lighthouse 13, llms-txt.
const LLMS_CHARS_MIN: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::sample::Sample;

    #[test]
    fn unlucky_addresses_are_named() {
        let at = |url: &str| Sample::body("").at(url);
        at("https://example.com/caf%C3%A9/a_b?Q=X").is("url-shape", "pass");
        at("https://example.com/a?PHPSESSID=1").is("url-shape", "info");
        at("https://example.com/a;jsessionid=1").is("url-shape", "info");
        at("https://example.com/About").is("url-shape", "info");
        at("https://example.com/a//b").is("url-shape", "info");
        at(&format!("https://example.com/{}", "a".repeat(200))).is("url-shape", "info");
    }

    #[test]
    fn a_guide_for_models_is_looked_at_when_there_is_one() {
        let check = |answer: FileAnswer, expected: &str| {
            let mut sample = Sample::body("");
            sample.0.around.llms = Some(answer);
            sample.is("llms-txt", expected);
        };
        let text = |it: &str| FileAnswer::Text(it.to_owned());
        let whole = "# Alder Creek\n\n> A museum of water.\n\n- [Tickets](https://a.example/t)\n";
        check(text(whole), "pass");
        check(text("# Alder Creek"), "info");
        check(text("<!doctype html><title>Home</title>"), "na");
        check(FileAnswer::Status(404), "na");
        check(FileAnswer::Status(500), "info");
    }
}
