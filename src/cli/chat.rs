//! `errand chat`: says one thing to a model, shows the answer as it comes, and what it cost.

use std::io::{self, IsTerminal as _};

use serde_json::{Value, json};

use crate::cli::access::Access;
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure};
use crate::cli::input;
use crate::cli::models::{self, ChatArgs};
use crate::cli::reply::{self, Reply};
use crate::cli::shown::field;

/// Asks and shows.
pub(super) async fn run(here: &Here, args: &ChatArgs) -> Result<(), Failure> {
    let access = Access::of(here, &args.access)?;
    let prompt = prompt(here, args.prompt.as_deref())?;
    let model = match &args.model {
        Some(model) => model.clone(),
        None => chosen(&models::all(&access).await?)?,
    };
    let body = body(&model, args.system.as_deref(), &prompt);
    let out = &here.out;
    if out.is_json() {
        let answer = access.post(reply::PATH, &body).await?;
        return out.json(&access.json(answer).await?);
    }
    let reply = if args.no_stream {
        let answer = access.post(reply::PATH, &body).await?;
        let reply = Reply::whole(&access.json(answer).await?)?;
        out.text(&reply.text)?;
        reply
    } else {
        let mut answer = access.post(reply::PATH, &streamed(body)).await?;
        let mut has_begun = false;
        let shown = reply::stream(&access, &mut answer, |text| {
            has_begun = true;
            out.text(text)
        });
        let shown = shown.await;
        if shown.is_err() && has_begun {
            // The error stands in a line of its own.
            out.line("")?;
        }
        shown?
    };
    if !reply.text.ends_with('\n') {
        out.line("")?;
    }
    let cost = reply.cost().unwrap_or_else(|| "the cost was not told".to_owned());
    let cut = match reply.finish.as_deref() {
        Some("length") => "; cut at the limit of tokens",
        _ => "",
    };
    out.remark(&format!("{model}: {cost}{cut}"));
    Ok(())
}

/// What is said: the argument, else standard input.
fn prompt(here: &Here, given: Option<&str>) -> Result<String, Failure> {
    let text = match given {
        Some(text) if text != "-" => text.to_owned(),
        Some(_) | None => {
            if io::stdin().is_terminal() {
                here.out.remark("say something; Ctrl-D ends it");
            }
            String::from_utf8(input::read("-", PROMPT_BYTES_MAX)?)
                .map_err(|_| Failure::new(Exit::Usage, "standard input is not UTF-8"))?
        }
    };
    if text.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "there is nothing to say")
            .then("give it as an argument, such as errand chat hello, or on standard input"));
    }
    Ok(text)
}

/// The first model that is not an offline one, else the first.
fn chosen(all: &[Value]) -> Result<String, Failure> {
    let is_offline = |it: &Value| it.get("offline").and_then(Value::as_bool).unwrap_or(false);
    let first = all.iter().find(|it| !is_offline(it)).or_else(|| all.first());
    first.map(|it| field(it, "id")).ok_or_else(|| {
        Failure::new(Exit::NotFound, "there is no model for this key")
            .then("`errand config init` shows how to offer one")
    })
}

fn body(model: &str, system: Option<&str>, prompt: &str) -> Value {
    let mut messages = Vec::new();
    messages.extend(system.map(|it| json!({ "role": "system", "content": it })));
    messages.push(json!({ "role": "user", "content": prompt }));
    json!({ "model": model, "messages": messages })
}

/// The same, to be answered piece by piece.
fn streamed(mut body: Value) -> Value {
    if let Some(object) = body.as_object_mut() {
        object.insert("stream".to_owned(), json!(true));
        object.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
    body
}

/// Bytes that are read from standard input.
const PROMPT_BYTES_MAX: usize = 4 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_of_the_operators_is_taken_before_an_offline_one() {
        let model = |id: &str, offline: bool| json!({ "id": id, "offline": offline });
        let (echo, real) = (model("offline/echo", true), model("real", false));
        assert_eq!(chosen(&[echo.clone(), real]).as_deref(), Ok("real"));
        assert_eq!(chosen(&[echo]).as_deref(), Ok("offline/echo"));
        assert_eq!(chosen(&[]).unwrap_err().exit, Exit::NotFound);
    }

    #[test]
    fn what_the_system_says_comes_first() {
        let said = streamed(body("m", Some("be brief"), "hello"));
        assert_eq!(
            said,
            json!({
                "model": "m",
                "messages": [
                    { "role": "system", "content": "be brief" },
                    { "role": "user", "content": "hello" },
                ],
                "stream": true,
                "stream_options": { "include_usage": true },
            })
        );
    }
}
