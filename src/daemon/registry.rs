//! The models that are offered: those of the settings, and those that need no network, and those that a
//! test brings.

use std::sync::Arc;

use crate::daemon::start_error::StartError;
use crate::domain::chat::Price;
use crate::models::{Label, Model, Registry, UpstreamTexts, offline_models};
use crate::outbound::{Dialer, Resolver, Trust, Upstreams};
use crate::sys::clock::Clock;

/// What leads to the upstreams.
pub(super) struct Way<'a> {
    pub(super) clock: &'a Clock,
    pub(super) resolver: &'a Arc<dyn Resolver>,
    pub(super) dialer: &'a Arc<dyn Dialer>,
    pub(super) trust: Trust,
}

/// Makes the registry.
///
/// # Errors
///
/// [`StartError::Model`] names a model that stands twice.
pub(super) fn registry(way: Way<'_>, others: Vec<Model>) -> Result<Registry, StartError> {
    let Way { clock, resolver, dialer, trust } = way;
    let (resolver, dialer) = (Arc::clone(resolver), Arc::clone(dialer));
    let upstreams = Upstreams::new(clock.clone(), resolver, dialer, trust);
    let mut models = offline_models(Label::Shown, Price::FREE);
    models.extend(others);
    Registry::new(clock.clone(), upstreams, UpstreamTexts::Hide, models)
        .map_err(|it| StartError::Model(it.to_string()))
}
