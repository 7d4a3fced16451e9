//! `errand config`: the settings there are, those that hold, and what is wrong with them.

use serde_json::{Value, json};

use crate::cli::args::ConfigVerb;
use crate::cli::command::Here;
use crate::cli::exit::{Exit, Failure, with_sources};
use crate::config::{
    Loaded, Mode, Origins, Setting, Source, commented_file, effective_file, listing, reference,
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
    let out = &here.out;
    if out.is_json() {
        return out.json(&json!({ "ok": true, "file": file_text(&loaded), "set": given }));
    }
    out.line(out.strong("The settings are good."))?;
    let set =
        if given.is_empty() { "none; the defaults hold".to_owned() } else { given.join(", ") };
    out.facts(&[("file", file_text(&loaded).unwrap_or_else(|| "none".to_owned())), ("set", set)])
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
    Ok(())
}

fn show(here: &Here, origins: Origins) -> Result<(), Failure> {
    let loaded = here.load()?;
    let out = &here.out;
    if out.is_json() {
        let setting = |it: &crate::config::Effective| json!({ "key": it.setting.name, "value": it.value, "source": it.source.to_string() });
        let settings: Vec<Value> = loaded.settings.iter().map(setting).collect();
        return out.json(&json!({ "file": file_text(&loaded), "settings": settings }));
    }
    out.text(&effective_file(&loaded, origins))
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
        return out.json(&json!({ "settings": rows }));
    }
    out.text(&listing())
}

fn file_text(loaded: &Loaded) -> Option<String> {
    loaded.file.as_ref().map(|it| it.display().to_string())
}
