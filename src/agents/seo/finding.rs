//! What a check is and what it says: rules, verdicts, evidence.

use crate::agents::page::document::Document;
use crate::agents::seo::subject::Subject;

/// A rule that a page keeps or breaks.
#[derive(Debug)]
pub struct Rule {
    /// Its name for programs.
    pub id: &'static str,
    /// What it looks at, for people.
    pub name: &'static str,
    /// How much it matters when it is broken, unless the finding says otherwise.
    pub severity: Severity,
    /// The group whose lost points are limited together.
    pub group: Group,
    /// Who says so.
    pub source: Source,
    /// Why it matters: a sentence or two.
    pub why: &'static str,
    /// What to do about it: a sentence.
    pub how: &'static str,
    /// The rule itself.
    pub judge: Judge,
}

/// The rule itself, by what it needs.
#[derive(Clone, Copy, Debug)]
pub enum Judge {
    /// It looks at the exchange and can always be applied.
    Exchange(fn(&Subject) -> Judgement),
    /// It looks at a document and needs one.
    Document(fn(&Subject, &Document) -> Judgement),
}

/// How much a broken rule matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; never costs points.
    Info,
    /// A detail.
    Low,
    /// It costs visitors.
    Medium,
    /// It hides something important.
    High,
    /// The page cannot be found at all.
    Critical,
}

/// Rules about the same thing, whose lost points are limited together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// None.
    Alone,
    /// Links.
    Links,
    /// Headings.
    Headings,
    /// Images.
    Images,
    /// Versions in other languages.
    Hreflang,
    /// Descriptions for programs.
    StructuredData,
}

/// Who says that a rule is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The document.
    pub name: &'static str,
    /// Where it is; none for a rule of our own.
    pub url: Option<&'static str>,
}

/// What a rule says about a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is kept.
    Pass,
    /// There is nothing that it could be about; the text says what is missing.
    NotApplicable(&'static str),
    /// Something worth knowing, not a fault.
    Info(Found),
    /// It is broken.
    Fail(Found),
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// It in one sentence.
    pub title: String,
    /// How much it matters here, when not as usual.
    pub severity: Option<Severity>,
    /// What to do here, when more precise than the rule says.
    pub how: Option<String>,
    /// Where it shows; at most [`EVIDENCE_MAX`].
    pub evidence: Vec<Evidence>,
    /// Places in all.
    pub places: usize,
    /// Of how many things how many are concerned, for rules about lists.
    pub share: Option<Share>,
}

/// Of `total` things `failing` are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The concerned ones.
    pub failing: usize,
    /// All.
    pub total: usize,
    /// What they are, in the plural.
    pub things: &'static str,
}

/// One place where something shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The text that it shows in.
    pub within: Within,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The character in the line, from 1.
    pub column: Option<u32>,
    /// A path to the element.
    pub selector: Option<String>,
    /// The source there, on one line, at most [`EXCERPT_CHARS_MAX`] characters.
    pub excerpt: Option<String>,
    /// What is wrong there, or the value that is.
    pub value: Option<String>,
    /// What stands there, in a form that outlasts changes of the source; never shown.
    pub key: Option<String>,
}

/// A text that evidence points into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// The page.
    #[default]
    Page,
    /// The headers of its answer.
    Headers,
    /// The robots.txt of its host.
    RobotsTxt,
    /// The exchange itself: addresses, statuses, times.
    Exchange,
}

/// A rule and what came of it.
#[derive(Clone, Debug)]
pub struct Check {
    /// The rule.
    pub rule: &'static Rule,
    /// What it says.
    pub judgement: Judgement,
    /// The points that it costs.
    pub points: u32,
}

impl Found {
    /// Something that is so in one sentence.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        let (title, evidence) = (title.into(), Vec::new());
        Self { title, severity: None, how: None, evidence, places: 0, share: None }
    }

    /// The same with a severity of its own.
    #[must_use]
    pub fn severity(self, severity: Severity) -> Self {
        Self { severity: Some(severity), ..self }
    }

    /// The same with advice of its own.
    #[must_use]
    pub fn how(self, how: impl Into<String>) -> Self {
        Self { how: Some(how.into()), ..self }
    }

    /// The same with evidence; only the first [`EVIDENCE_MAX`] places are looked at closely.
    #[must_use]
    pub fn at(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        for it in evidence {
            self.places = self.places.saturating_add(1);
            if self.evidence.len() < EVIDENCE_MAX {
                self.evidence.push(it);
            }
        }
        self
    }

    /// The same with evidence made from each of `places`, as far as it is shown.
    #[must_use]
    pub fn at_each<T>(mut self, places: &[T], evidence: impl FnMut(&T) -> Evidence) -> Self {
        let room = EVIDENCE_MAX.saturating_sub(self.evidence.len());
        self.evidence.extend(places.iter().take(room).map(evidence));
        self.places = self.places.saturating_add(places.len());
        self
    }

    /// The same about `failing` of `total` things of a list.
    #[must_use]
    pub fn of(self, failing: usize, total: usize, things: &'static str) -> Self {
        Self { share: Some(Share { failing, total, things }), ..self }
    }
}

impl Evidence {
    /// Evidence that is a value and nothing else.
    #[must_use]
    pub fn value(within: Within, value: impl Into<String>) -> Self {
        Self { within, value: Some(value.into()), ..Self::default() }
    }

    /// A line of robots.txt.
    #[must_use]
    pub fn robots_line(line: u32, excerpt: &str) -> Self {
        let (line, excerpt) = (Some(line), Some(excerpt.to_owned()));
        Self { within: Within::RobotsTxt, line, excerpt, ..Self::default() }
    }

    /// A header as it was sent.
    #[must_use]
    pub fn header(name: &str, value: &str) -> Self {
        let excerpt = Some(format!("{name}: {value}"));
        Self { within: Within::Headers, excerpt, ..Self::default() }
    }

    /// The same with what is wrong there.
    #[must_use]
    pub fn saying(self, value: impl Into<String>) -> Self {
        Self { value: Some(value.into()), ..self }
    }
}

impl Check {
    /// What was found, whether a fault or not.
    #[must_use]
    pub const fn found(&self) -> Option<&Found> {
        match &self.judgement {
            Judgement::Info(found) | Judgement::Fail(found) => Some(found),
            Judgement::Pass | Judgement::NotApplicable(_) => None,
        }
    }

    /// What was found, when it is a fault.
    #[must_use]
    pub const fn fault(&self) -> Option<&Found> {
        match &self.judgement {
            Judgement::Fail(found) => Some(found),
            Judgement::Pass | Judgement::NotApplicable(_) | Judgement::Info(_) => None,
        }
    }

    /// How much it matters here.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match &self.judgement {
            Judgement::Fail(found) => found.severity.unwrap_or(self.rule.severity),
            Judgement::Info(_) => Severity::Info,
            Judgement::Pass | Judgement::NotApplicable(_) => self.rule.severity,
        }
    }

    /// The word for the judgement.
    #[must_use]
    pub const fn verdict(&self) -> &'static str {
        match self.judgement {
            Judgement::Pass => "pass",
            Judgement::NotApplicable(_) => "na",
            Judgement::Info(_) => "info",
            Judgement::Fail(_) => "fail",
        }
    }
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl Group {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alone => "alone",
            Self::Links => "links",
            Self::Headings => "headings",
            Self::Images => "images",
            Self::Hreflang => "hreflang",
            Self::StructuredData => "structured-data",
        }
    }
}

impl Within {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Headers => "headers",
            Self::RobotsTxt => "robots.txt",
            Self::Exchange => "exchange",
        }
    }
}

/// Places of one finding that a report shows.
pub const EVIDENCE_MAX: usize = 10;
/// Characters of the source that one place shows.
pub const EXCERPT_CHARS_MAX: usize = 160;
