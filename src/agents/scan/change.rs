//! What can change at a competitor, and how much it matters.

use serde::{Deserialize, Serialize};

/// A change of one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What changed.
    pub kind: Kind,
    /// How much it matters.
    pub severity: Severity,
    /// What it was; nothing for something new.
    pub before: Option<String>,
    /// What it is; nothing for something that is gone.
    pub after: Option<String>,
    /// Where on the page: the plan, the heading, the row; empty for the page itself.
    pub place: String,
    /// The text with its numbers left open, by which it is remembered.
    pub template: String,
    /// Whether it is a text of an offer, or a limit: these matter however often they change.
    pub is_of_offer: bool,
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Whether the page can be reached at all.
    Unreachable,
    /// Its status: 404 or 410, or back from it; or that most of it is gone.
    Status,
    /// The host that answers.
    Redirect,
    /// A price, its period or its terms.
    Price,
    /// A plan or product that came or went.
    Plan,
    /// The title.
    Title,
    /// The description.
    Description,
    /// A heading.
    Heading,
    /// A call to action.
    Cta,
    /// The menu.
    Nav,
    /// The directives for robots.
    Robots,
    /// The canonical address.
    Canonical,
    /// The languages.
    Language,
    /// A new article.
    Post,
    /// A new version of a product.
    Release,
    /// A text.
    Text,
    /// What the site is made with.
    Tech,
    /// Types of structured data.
    Schema,
    /// Profiles on social networks.
    Social,
}

/// How much a change matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth a message.
    Notable,
    /// Listed when a message is sent anyway.
    Minor,
}

/// What was different and is no change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ignored {
    /// Why it is none: a fragment.
    pub reason: String,
    /// How many there were.
    pub count: usize,
    /// Some of them.
    pub examples: Vec<String>,
}

/// The difference of two times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The changes.
    pub changes: Vec<Change>,
    /// What was left out.
    pub ignored: Vec<Ignored>,
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Status => "status",
            Self::Redirect => "redirect",
            Self::Price => "price",
            Self::Plan => "plan",
            Self::Title => "title",
            Self::Description => "description",
            Self::Heading => "heading",
            Self::Cta => "cta",
            Self::Nav => "nav",
            Self::Robots => "robots",
            Self::Canonical => "canonical",
            Self::Language => "language",
            Self::Post => "post",
            Self::Release => "release",
            Self::Text => "text",
            Self::Tech => "tech",
            Self::Schema => "schema",
            Self::Social => "social",
        }
    }

    /// Its name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "Reachability",
            Self::Status => "Status",
            Self::Redirect => "Redirect",
            Self::Price => "Price",
            Self::Plan => "Plan or product",
            Self::Title => "Title",
            Self::Description => "Description",
            Self::Heading => "Heading",
            Self::Cta => "Call to action",
            Self::Nav => "Menu",
            Self::Robots => "Search engines",
            Self::Canonical => "Canonical address",
            Self::Language => "Language",
            Self::Post => "New article",
            Self::Release => "Release",
            Self::Text => "Text",
            Self::Tech => "Technology",
            Self::Schema => "Structured data",
            Self::Social => "Social profile",
        }
    }
}

impl Change {
    /// A notable change.
    #[must_use]
    pub fn new(kind: Kind, before: Option<&str>, after: Option<&str>) -> Self {
        Self {
            kind,
            severity: Severity::Notable,
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
            place: String::new(),
            template: String::new(),
            is_of_offer: false,
        }
    }

    /// The same at a place.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        Self { place: place.to_owned(), ..self }
    }

    /// The same with another severity.
    #[must_use]
    pub fn with(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    /// Whether it is worth a message.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        self.severity == Severity::Notable
    }

    /// Whether two times found the same change.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.before == other.before && self.after == other.after
    }
}

impl Diff {
    /// Adds a change, once.
    pub fn push(&mut self, change: Change) {
        if self.changes.len() < CHANGES_MAX
            && !self.changes.iter().any(|it| it.is_same(&change) && it.place == change.place)
        {
            self.changes.push(change);
        }
    }

    /// Notes something that is no change.
    pub fn ignore(&mut self, reason: &str, example: &str) {
        let known = self.ignored.iter().position(|it| it.reason == reason);
        let at = known.unwrap_or(self.ignored.len());
        if known.is_none() {
            let reason = reason.to_owned();
            self.ignored.push(Ignored { reason, count: 0, examples: Vec::new() });
        }
        if let Some(entry) = self.ignored.get_mut(at) {
            entry.count += 1;
            if entry.examples.len() < EXAMPLES_MAX {
                entry.examples.push(example.to_owned());
            }
        }
    }

    /// Whether anything is worth a message.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        self.changes.iter().any(Change::is_notable)
    }
}

/// Changes of one page.
const CHANGES_MAX: usize = 300;
/// Examples of what was left out for one reason.
const EXAMPLES_MAX: usize = 3;
