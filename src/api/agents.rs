//! `GET /agents/`: what can be run.

use crate::api::error::Failure;
use crate::api::gate::Request;
use crate::api::paging::{Envelope, Query};
use crate::api::view::{self, AgentView};
use crate::app::App;
use crate::inbound::Response;

/// Lists the kinds that have a price in the caller's currency and that the key may run.
pub(in crate::api) fn list(app: &App, request: &Request) -> Result<Response, Failure> {
    let mut query = Query::of(&request.head)?;
    let page = query.page()?;
    query.finish()?;
    let (currency, restrictions) = (request.caller.currency, &request.caller.restrictions);
    let allowed = app.catalogue().entries().filter(|it| restrictions.allows_kind(&it.kind));
    let priced = allowed.filter_map(|entry| {
        let price = app.prices().of_run(&entry.kind, currency)?;
        Some(AgentView::new(entry, price, &currency))
    });
    Ok(view::json(200, &Envelope::cut(priced.collect(), page)))
}
