//! `errand models`: which there are for a key, whether one answers, and what it costs.

mod args;
use args::PriceArgs;
pub(super) use args::{CHAT_EXAMPLES, ChatArgs, ModelsVerb};

use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::access::{Access, segment};
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::reply;
use crate::cli::shown::{field, items};
use crate::domain::chat::{Bound, Price};
use crate::domain::money::Amount;

/// Does what was asked.
pub(super) async fn run(here: &Here, verb: ModelsVerb) -> Result<(), Failure> {
    match verb {
        ModelsVerb::List { access } => list(here, &Access::of(here, &access)?).await,
        ModelsVerb::Test { id, access } => test(here, &Access::of(here, &access)?, &id).await,
        ModelsVerb::Price(args) => price(here, &Access::of(here, &args.access)?, &args).await,
    }
}

/// Every model that the key may use.
///
/// # Errors
///
/// The failure that another answer than yes stands for.
pub(super) async fn all(access: &Access) -> Result<Vec<Value>, Failure> {
    let mut all = Vec::new();
    let mut path = "models".to_owned();
    for _ in 0..PAGES_MAX {
        let page = access.get(&path).await?;
        let found = items(&page);
        all.extend_from_slice(found);
        let has_more = page.get("has_more").and_then(Value::as_bool).unwrap_or(false);
        if !has_more || found.is_empty() {
            break;
        }
        path = format!("models?limit={PAGE_ITEMS}&offset={}", all.len());
    }
    Ok(all)
}

async fn list(here: &Here, access: &Access) -> Result<(), Failure> {
    let all = all(access).await?;
    let out = &here.out;
    if out.is_json() {
        return out.json(&json!({ "object": "list", "data": all }));
    }
    let head = ["MODEL", "INPUT/M", "OUTPUT/M", "REQUEST", "CURRENCY", "WINDOW", "CAN", "OWNER"];
    let row = |it: &Value| {
        let pricing = it.get("pricing").unwrap_or(&Value::Null);
        let [input, output, request, currency] =
            ["input_per_million", "output_per_million", "per_request", "currency"]
                .map(|name| field(pricing, name));
        let [id, window, can, owner] =
            ["id", "context_window", "capabilities", "owned_by"].map(|name| field(it, name));
        vec![id, input, output, request, currency, window, can, owner]
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    out.table(&head, &rows, "There is no model for this key: errand config init shows how.")
}

async fn test(here: &Here, access: &Access, id: &str) -> Result<(), Failure> {
    let body = json!({
        "model": id,
        "messages": [{ "role": "user", "content": "Answer with the one word: ready" }],
        "max_tokens": TEST_TOKENS,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    let begun = access.clock.mark();
    let mut first = None;
    let mut answer = access.post(reply::PATH, &body).await?;
    let said = reply::stream(access, &mut answer, |_| {
        first.get_or_insert_with(|| begun.elapsed());
        Ok(())
    });
    let said = said.await?;
    let total = begun.elapsed();
    let Some(first) = first else {
        return Err(Failure::new(Exit::Failed, format!("{id} answered without any text")));
    };
    let out = &here.out;
    if out.is_json() {
        return out.json(&json!({
            "ok": true,
            "model": id,
            "first_ms": millis(first),
            "total_ms": millis(total),
            "finish_reason": said.finish,
            "usage": said.usage,
        }));
    }
    out.line(out.strong(&format!("{id} answers.")))?;
    let cost = said.cost().unwrap_or_else(|| "not told".to_owned());
    out.facts(&[
        ("said", format!("{:?}", shortened(&said.text))),
        ("begins", format!("after {} ms", millis(first))),
        ("ends", format!("after {} ms", millis(total))),
        ("cost", cost),
    ])
}

async fn price(here: &Here, access: &Access, args: &PriceArgs) -> Result<(), Failure> {
    let model = access.get(&format!("models/{}", segment(&args.id))).await?;
    let pricing = model.get("pricing").unwrap_or(&Value::Null);
    let price = parsed(pricing).ok_or_else(|| {
        Failure::new(Exit::Failed, format!("the price of {} could not be read", args.id))
    })?;
    let bound = match (args.input_tokens, args.output_tokens) {
        (None, None) => None,
        (input, output) => {
            Some(Bound { prompt_tokens: input.unwrap_or(0), max_tokens: output.unwrap_or(0) })
        }
    };
    // A request is rounded once, as the daemon does it.
    let cost = bound.map(|it| price.hold(&it).ok_or_else(too_much)).transpose()?;
    let (out, currency) = (&here.out, field(pricing, "currency"));
    if out.is_json() {
        return out.json(&json!({
            "model": args.id,
            "pricing": pricing,
            "input_tokens": bound.map(|it| it.prompt_tokens),
            "output_tokens": bound.map(|it| it.max_tokens),
            "cost": cost.map(|it| it.to_string()),
        }));
    }
    out.line(out.strong(&args.id))?;
    let mut facts = vec![
        ("input", format!("{} {currency} per million tokens", price.input_per_million())),
        ("output", format!("{} {currency} per million tokens", price.output_per_million())),
        ("request", format!("{} {currency}", price.per_request())),
    ];
    if let (Some(bound), Some(cost)) = (bound, cost) {
        let Bound { prompt_tokens, max_tokens } = bound;
        facts
            .push(("cost", format!("{cost} {currency} for {prompt_tokens} + {max_tokens} tokens")));
    }
    out.facts(&facts)
}

fn parsed(pricing: &Value) -> Option<Price> {
    let part = |name: &str| Amount::parse(pricing.get(name)?.as_str()?).ok();
    Price::new(part("input_per_million")?, part("output_per_million")?, part("per_request")?)
}

fn too_much() -> Failure {
    Failure::new(Exit::Usage, "so many tokens cost more than any balance can be")
}

/// The beginning of what was said.
fn shortened(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if cut.len() < text.len() { cut + "…" } else { cut }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Models of one page.
const PAGE_ITEMS: usize = 200;
/// Pages that are read.
const PAGES_MAX: usize = 50;
/// Tokens that a test may cost: some models think before they speak.
const TEST_TOKENS: u32 = 64;
/// Characters of an answer that a test shows.
const SHOWN_CHARS_MAX: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_read_from_decimal_strings_only() {
        let pricing = |input: Value| json!({ "input_per_million": input, "output_per_million": "6", "per_request": "0" });
        let price = parsed(&pricing(json!("1.5"))).unwrap();
        let cost = price.hold(&Bound { prompt_tokens: 1_200, max_tokens: 300 });
        assert_eq!(cost.unwrap().to_string(), "0.0036");
        for bad in [json!(1.5), json!("-1"), Value::Null, json!("1e3")] {
            assert_eq!(parsed(&pricing(bad.clone())), None, "{bad}");
        }
    }

    #[test]
    fn a_long_answer_is_cut_between_characters() {
        assert_eq!(shortened(&"é".repeat(61)), "é".repeat(60) + "…");
        assert_eq!(shortened("ready"), "ready");
    }
}
