//! `/models`: the models that the caller can talk to. Source: service interface, "Text models"; the
//! contract, section 5.

use serde_json::{Value, json};

use crate::api::error::Failure;
use crate::api::gate::Request;
use crate::api::paging::{Envelope, Query};
use crate::api::view;
use crate::app::chats::{self, Offer};
use crate::app::{App, Error};
use crate::domain::limits::PAGE_ITEMS_MAX;
use crate::domain::money::Currency;
use crate::inbound::Response;

/// Lists the models, in the order of their names.
pub(in crate::api) fn list(app: &App, request: &Request) -> Result<Response, Failure> {
    let mut query = Query::of(&request.head)?;
    // Client libraries ask for one page and take it for all.
    let page = query.page_of(PAGE_ITEMS_MAX)?;
    query.finish()?;
    let caller = &request.caller;
    let offers = chats::offers(app, caller);
    let all = offers.iter().map(|it| shown(app, it, caller.currency)).collect();
    Ok(view::json(200, &Envelope::cut(all, page)))
}

/// Shows a model; one that the key is not meant for is as good as none.
pub(in crate::api) fn find(app: &App, request: &Request) -> Result<Response, Failure> {
    let caller = &request.caller;
    let id = request.params.first().map_or("", String::as_str);
    if !caller.restrictions.allows_model(id) {
        return Err(Failure::App(Error::UnknownModel));
    }
    let offer = chats::find(app, caller, id)?;
    Ok(view::json(200, &shown(app, &offer, caller.currency)))
}

fn shown(app: &App, offer: &Offer, currency: Currency) -> Value {
    let Offer { model, price } = offer;
    let can = [
        Some("text"),
        Some("stream"),
        model.capabilities.json.then_some("json"),
        model.capabilities.reasoning.then_some("reasoning"),
    ];
    json!({
        "id": model.id.as_str(),
        "object": "model",
        "created": app.installed_at().seconds(),
        "owned_by": model.owned_by,
        "name": model.name,
        "context_window": model.sizes.context_window(),
        "max_output_tokens": model.sizes.max_output_tokens(),
        "pricing": {
            "currency": currency.as_str(),
            "input_per_million": price.input_per_million().to_string(),
            "output_per_million": price.output_per_million().to_string(),
            "per_request": price.per_request().to_string(),
        },
        "capabilities": can.iter().flatten().collect::<Vec<_>>(),
        "offline": model.is_offline(),
    })
}
