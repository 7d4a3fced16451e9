//! `errand config`: the settings there are, those that hold, and what is wrong with them.

use serde_json::{Value, json};

use crate::cli::args::ConfigVerb;
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure, with_sources};
use crate::config::{
    EffectiveModel, Loaded, Mode, ModelKey, Origins, Refused, Setting, Source, commented_file,
    effective_file, listing, model_keys, reference,
};
use crate::inbound::Acceptor;
use crate::outbound::Trust;
use crate::sys::clock::Clock;

/// Does what was asked.
pub(super) fn run(here: &Here, verb: ConfigVerb) -> Result<(), Failure> {
    match verb {
        ConfigVerb::Init { profile } => here.out.text(&commented_file(profile)),
        ConfigVerb::Check { file } => check(here, file),
        ConfigVerb::Show { sources: true } => show(here, Origins::Shown),
        ConfigVerb::Show { sources: false } => show(here, Origins::Hidden),
        ConfigVerb::Keys { markdown: true } => here.out.text(&reference()),
        ConfigVerb::Keys { markdown: false } => keys(here),
    }
}

fn check(here: &Here, file: Option<String>) -> Result<(), Failure> {
    let loaded = here.load_as(Mode::Serve, file, &[])?;
    check_files(&loaded)?;
    let given = loaded.settings.iter().filter(|it| it.source != Source::Default);
    let given: Vec<&str> = given.map(|it| it.setting.name).collect();
    let models: Vec<&str> = loaded.models.iter().map(|it| it.id.as_str()).collect();
    let (out, file) = (&here.out, file_text(&loaded));
    if out.is_json() {
        return out.json(&json!({ "ok": true, "file": file, "set": given, "models": models }));
    }
    out.line(out.strong("The settings are good."))?;
    let set =
        if given.is_empty() { "none; the defaults hold".to_owned() } else { given.join(", ") };
    let models = if models.is_empty() { "none".to_owned() } else { models.join(", ") };
    let file = file.unwrap_or_else(|| "none".to_owned());
    out.facts(&[("file", file), ("set", set), ("models", models)])
}

/// Reads the files that settings name, as the daemon will.
fn check_files(loaded: &Loaded) -> Result<(), Failure> {
    let config = &loaded.config;
    if let Some(files) = &config.http.tls {
        Acceptor::load(files.clone())?;
    }
    if let Some(path) = &config.outbound.extra_roots {
        let wrong = |why: &dyn std::error::Error| {
            let what = format!("outbound.extra_roots: {}: {}", path.display(), with_sources(why));
            Failure::new(Exit::BadConfig, what)
        };
        let pem = std::fs::read(path).map_err(|it| wrong(&it))?;
        Trust::new(Clock::host(), &pem).map_err(|it| wrong(&it))?;
    }
    for upstream in config.chat.models.iter().flat_map(|it| &it.upstreams) {
        if let Some(file) = &upstream.key_file {
            file.read().map_err(|it| Refused { faults: vec![it] })?;
        }
    }
    Ok(())
}

fn show(here: &Here, origins: Origins) -> Result<(), Failure> {
    let loaded = here.load()?;
    let out = &here.out;
    if out.is_json() {
        let setting = |it: &crate::config::Effective| json!({ "key": it.setting.name, "value": it.value, "source": it.source.to_string() });
        let settings: Vec<Value> = loaded.settings.iter().map(setting).collect();
        let models: Vec<Value> = loaded.models.iter().map(model).collect();
        let file = file_text(&loaded);
        return out.json(&json!({ "file": file, "settings": settings, "models": models }));
    }
    out.text(&effective_file(&loaded, origins))
}

/// A model with who says what of it.
fn model(model: &EffectiveModel) -> Value {
    let entry = |(key, value, source): &(&str, String, Source)| json!({ "key": key, "value": value, "source": source.to_string() });
    let entries: Vec<Value> = model.entries.iter().map(entry).collect();
    json!({ "id": model.id, "settings": entries })
}

fn keys(here: &Here) -> Result<(), Failure> {
    let out = &here.out;
    if out.is_json() {
        let row = |it: &Setting| {
            json!({
                "key": it.name,
                "default": it.default_words(),
                "value": it.expectation(),
                "variable": it.variable(),
                "meaning": it.meaning,
            })
        };
        let rows: Vec<Value> = Setting::all().map(row).collect();
        let key = |it: &ModelKey| {
            json!({
                "key": it.name,
                "default": it.default,
                "value": it.expectation,
                "meaning": it.meaning,
            })
        };
        let models: Vec<Value> = model_keys().iter().map(key).collect();
        return out.json(&json!({ "settings": rows, "models": models }));
    }
    out.text(&listing())
}

fn file_text(loaded: &Loaded) -> Option<String> {
    loaded.file.as_ref().map(|it| it.display().to_string())
}
