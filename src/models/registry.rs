//! The models of this instance, by their names.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::domain::chat::ModelId;
use crate::models::Model;
use crate::outbound::Upstreams;
use crate::sys::clock::Clock;

/// Every model that is offered, and the way to their upstreams.
#[derive(Debug)]
pub struct Registry {
    pub(in crate::models) clock: Clock,
    pub(in crate::models) upstreams: Upstreams,
    pub(in crate::models) texts: UpstreamTexts,
    models: BTreeMap<ModelId, Arc<Model>>,
}

/// Whether callers see an upstream's own words for a request that it does not take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpstreamTexts {
    /// They do not.
    #[default]
    Hide,
    /// They do, cut and without secrets.
    Show,
}

/// Two models have one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateModel(pub ModelId);

impl Registry {
    /// Offers `models`.
    ///
    /// # Errors
    ///
    /// [`DuplicateModel`] names the first model whose name is taken.
    pub fn new(
        clock: Clock,
        upstreams: Upstreams,
        texts: UpstreamTexts,
        models: Vec<Model>,
    ) -> Result<Self, DuplicateModel> {
        let mut by_id = BTreeMap::new();
        for model in models {
            if let Some(earlier) = by_id.insert(model.id.clone(), Arc::new(model)) {
                return Err(DuplicateModel(earlier.id.clone()));
            }
        }
        Ok(Self { clock, upstreams, texts, models: by_id })
    }

    /// Finds a model by the name that a caller wrote.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Arc<Model>> {
        self.models.get(&ModelId::parse(id)?)
    }

    /// Every model, in the order of their names.
    pub fn list(&self) -> impl Iterator<Item = &Arc<Model>> {
        self.models.values()
    }
}

impl fmt::Display for DuplicateModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "two models are called {}", self.0)
    }
}

impl std::error::Error for DuplicateModel {}
