//! What is printed of models: those that are offered, examples to begin with, the reference.

use std::fmt::Write as _;

use crate::config::loaded::EffectiveModel;
use crate::config::model_rows::{CAPABILITIES, MODEL_ROWS, Row, UPSTREAM_ROWS};
use crate::config::models::{MODELS_KEY, ModelSettings, UPSTREAMS_KEY, UpstreamSettings};
use crate::config::print::{Origins, push, wrapped};
use crate::config::reading::{quoted, quoted_list};
use crate::config::units::show_duration;
use crate::domain::chat::UpstreamStream;

/// A key of `[[models]]`, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelKey {
    /// Its name.
    pub name: &'static str,
    /// What values it takes, to stand after "must be".
    pub expectation: String,
    /// What holds without it.
    pub default: &'static str,
    /// What it is for, in a sentence.
    pub meaning: &'static str,
}

/// Every key of `[[models]]`.
#[must_use]
pub fn model_keys() -> Vec<ModelKey> {
    let list = ModelKey {
        name: UPSTREAMS_KEY,
        expectation: "a list of tables with the four keys before, in the order in which they are \
                      asked"
            .to_owned(),
        default: "none",
        meaning: "More than one server for a model: the next is asked when one does not answer.",
    };
    MODEL_ROWS.iter().map(key).chain(UPSTREAM_ROWS.iter().map(key)).chain([list]).collect()
}

fn key<C>(row: &'static Row<C>) -> ModelKey {
    let expectation = row.kind.expectation();
    ModelKey { name: row.name, expectation, default: row.default, meaning: row.meaning }
}

/// What holds for a model, as a settings file writes it.
pub(super) fn entries(model: &ModelSettings) -> Vec<(&'static str, String)> {
    let (price, sizes, times) = (&model.price, &model.sizes, &model.times);
    let mut all = vec![
        ("id", quoted(model.id.as_str())),
        ("name", quoted(&model.name)),
        ("owned_by", quoted(&model.owned_by)),
    ];
    if price.is_free() {
        all.push(("free", "true".to_owned()));
    } else {
        all.push(("input_per_million", quoted(&price.input_per_million().to_string())));
        all.push(("output_per_million", quoted(&price.output_per_million().to_string())));
        all.push(("per_request", quoted(&price.per_request().to_string())));
    }
    let has = [model.capabilities.json, model.capabilities.reasoning];
    let words: Vec<&str> =
        CAPABILITIES.into_iter().zip(has).filter_map(|(word, it)| it.then_some(word)).collect();
    let span = |it| quoted(&show_duration(it));
    all.extend([
        ("context_window", sizes.context_window().to_string()),
        ("max_output_tokens", sizes.max_output_tokens().to_string()),
        ("default_max_tokens", sizes.default_max_tokens().to_string()),
        ("capabilities", quoted_list(&words)),
        ("timeout", span(times.whole)),
        ("stream_timeout", span(times.stream)),
        ("first_byte_timeout", span(times.first_byte)),
        ("idle_timeout", span(times.idle)),
        ("connect_timeout", span(times.connect)),
    ]);
    match model.upstreams.as_slice() {
        [only] => all.extend(upstream_entries(only)),
        many => {
            let table = |it: &UpstreamSettings| {
                let entries = upstream_entries(it);
                let pairs: Vec<String> =
                    entries.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                format!("{{ {} }}", pairs.join(", "))
            };
            let tables: Vec<String> = many.iter().map(table).collect();
            all.push((UPSTREAMS_KEY, format!("[{}]", tables.join(", "))));
        }
    }
    all
}

fn upstream_entries(upstream: &UpstreamSettings) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("base_url", quoted(upstream.base_url.as_str())),
        ("upstream_model", quoted(&upstream.model)),
    ];
    let file = upstream.key_file.as_ref();
    all.extend(file.map(|it| ("api_key_file", quoted(&it.path.display().to_string()))));
    let stream = match upstream.stream {
        UpstreamStream::Ask => "on",
        UpstreamStream::Never => "off",
    };
    all.push(("stream", quoted(stream)));
    all
}

/// The models that are offered, as the end of a settings file.
pub(super) fn effective_models(models: &[EffectiveModel], origins: Origins) -> String {
    let mut out = String::new();
    for model in models {
        push(&mut out, format_args!("\n[[{MODELS_KEY}]]\n"));
        for (name, value, source) in &model.entries {
            let line = format!("{name} = {value}");
            match origins {
                Origins::Shown => push(&mut out, format_args!("{line:<42}  # {source}\n")),
                Origins::Hidden => push(&mut out, format_args!("{line}\n")),
            }
        }
    }
    out
}

/// The keys of `[[models]]` for people.
pub(super) fn model_listing() -> String {
    let mut out = String::new();
    for key in model_keys() {
        push(&mut out, format_args!("[[{MODELS_KEY}]] {}\n", key.name));
        let takes = format!("{} Takes {}.", key.meaning, key.expectation);
        for line in wrapped(&takes).into_iter().chain([format!("Default: {}", key.default)]) {
            push(&mut out, format_args!("    {line}\n"));
        }
    }
    out
}

/// The reference of the keys of `[[models]]`, in Markdown.
pub(super) fn model_reference() -> String {
    let mut out = format!(
        "\nIn the settings file, for each model, below `[[{MODELS_KEY}]]`:\n\n\
         | Key | Default | Value | Meaning |\n|---|---|---|---|\n"
    );
    for ModelKey { name, default, expectation, meaning } in model_keys() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| `{name}` | {default} | {expectation} | {meaning} |");
    }
    out
}

/// Models to begin with, commented out.
pub(super) const EXAMPLE: &str = r#"
# Text models, one block for each. A model without a price is not served: say input_per_million and
# output_per_million as decimal strings in billing.currency, or free = true. The models offline/echo,
# offline/extract and offline/lorem-stream are there without any block. `errand config keys` lists
# what else can be said of a model.

# Ollama on this machine; `ollama list` shows the names.
#[[models]]
#id = "local/llama3.2"
#base_url = "http://127.0.0.1:11434/v1"
#upstream_model = "llama3.2"
#context_window = 8192
#free = true

# llama.cpp: llama-server --model FILE --port 8080 --alias qwen --ctx-size 16384
#[[models]]
#id = "local/qwen"
#base_url = "http://127.0.0.1:8080/v1"
#upstream_model = "qwen"
#context_window = 16384
#input_per_million = "0.05"
#output_per_million = "0.2"

# A hosted model, with a second server for when the first does not answer. The key files must be
# readable for their owner alone: chmod 600.
#[[models]]
#id = "hosted/large"
#input_per_million = "1.5"
#output_per_million = "6"
#context_window = 128000
#max_output_tokens = 8192
#capabilities = ["json"]
#[[models.upstreams]]
#base_url = "https://api.example.com/v1"
#upstream_model = "large-2"
#api_key_file = "/etc/errand/example.key"
#[[models.upstreams]]
#base_url = "https://llm.example.org/v1"
#upstream_model = "large"
#api_key_file = "/etc/errand/second.key"
"#;
