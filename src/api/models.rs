//! `/models`: the models that the caller can talk to. Source: service interface, "Text models"; the
//! contract, section 5.

use serde_json::{Value, json};

use crate::api::error::Failure;
use crate::api::gate::Request;
use crate::api::view;
use crate::app::App;
use crate::app::chats::{self, Offer};
use crate::domain::money::Currency;
use crate::inbound::Response;

/// Lists the models, in the order of their names.
pub(in crate::api) fn list(app: &App, request: &Request) -> Result<Response, Failure> {
    let caller = &request.caller;
    let offers = chats::offers(app, caller);
    let data: Vec<_> = offers.iter().map(|it| shown(app, it, caller.currency)).collect();
    Ok(view::json(200, &json!({ "object": "list", "data": data })))
}

/// Shows a model.
pub(in crate::api) fn find(app: &App, request: &Request) -> Result<Response, Failure> {
    let caller = &request.caller;
    let id = request.params.first().map_or("", String::as_str);
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
