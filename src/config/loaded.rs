//! The settings that hold, and who says so.

use std::fmt;
use std::path::PathBuf;

use crate::config::error::Place;
use crate::config::shape::Config;
use crate::config::table::Setting;

/// The settings that hold.
#[derive(Debug)]
pub struct Loaded {
    /// All of them, in their places.
    pub config: Config,
    /// The settings file that was read.
    pub file: Option<PathBuf>,
    /// All of them as the table lists them.
    pub settings: Vec<Effective>,
    /// The models of the settings file, in its order.
    pub models: Vec<EffectiveModel>,
}

/// One setting that holds.
#[derive(Debug)]
pub struct Effective {
    /// Its row in the table.
    pub setting: &'static Setting,
    /// Its value as a settings file writes it; `None` when it has none.
    pub value: Option<String>,
    /// Who says so.
    pub source: Source,
}

/// One model that is offered.
#[derive(Debug)]
pub struct EffectiveModel {
    /// What callers call it.
    pub id: String,
    /// What holds for it: key, value as a settings file writes it, and who says so.
    pub entries: Vec<(&'static str, String, Source)>,
}

/// Who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nobody.
    Default,
    /// What stands at this place.
    Given(Place),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Given(place) => place.fmt(f),
        }
    }
}
