//! Reads `[[models]]`: who answers chats besides the models that come with the daemon.
//!
//! A model without a price is refused, and so is one that nobody can be asked for. Only files
//! have models; there is no variable for them.

use std::collections::BTreeMap;
use std::path::Path;

use url::Url;

use crate::config::environment::Environment;
use crate::config::error::{Fault, Place};
use crate::config::key_file::KeyFile;
use crate::config::loaded::{EffectiveModel, Source};
use crate::config::model_print::entries;
use crate::config::model_reading::Reader;
use crate::config::raw::{Block, Line, Raw};
use crate::domain::chat::{Capabilities, ModelId, Price, Sizes, UpstreamStream};
use crate::models::Times;

/// A model that the operator offers.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    /// What callers call it.
    pub id: ModelId,
    /// Its title for people.
    pub name: String,
    /// Who runs it, for people.
    pub owned_by: String,
    /// What it costs, in the currency of the prices.
    pub price: Price,
    /// How much it takes and gives.
    pub sizes: Sizes,
    /// What it can do beyond text.
    pub capabilities: Capabilities,
    /// How long its answers may take.
    pub times: Times,
    /// Who answers, in the order in which they are asked; at least one.
    pub upstreams: Vec<UpstreamSettings>,
}

/// A server that answers for a model.
#[derive(Clone, Debug)]
pub struct UpstreamSettings {
    /// Where it is, up to its version.
    pub base_url: Url,
    /// What it calls the model.
    pub model: String,
    /// The key for it.
    pub key_file: Option<KeyFile>,
    /// Whether it is asked for streams.
    pub stream: UpstreamStream,
}

/// Reads the models of the file at `path`; what is wrong goes to `faults`.
pub(super) fn read(
    path: &Path,
    lines: &[Line],
    here: &Environment,
    faults: &mut Vec<Fault>,
) -> Vec<(ModelSettings, EffectiveModel)> {
    let mut reader = Reader { path, here, faults };
    let Some(line) = lines.iter().find(|it| it.name == MODELS_KEY) else { return Vec::new() };
    let Raw::Tables(blocks) = &line.value else {
        // An empty list is a list without models.
        if line.value != Raw::List(Vec::new()) {
            let what = format!("models are written as [[models]], not as {}", line.value.shown());
            reader.fault(line.line, what);
        }
        return Vec::new();
    };
    if blocks.len() > MODELS_MAX {
        reader.fault(line.line, format!("there are more than {MODELS_MAX} models"));
        return Vec::new();
    }
    let mut lines_of: BTreeMap<ModelId, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for block in blocks {
        let Some(model) = reader.model(block) else { continue };
        if let Some(first) = lines_of.insert(model.id.clone(), block.line) {
            let what = format!("two models are called {}; the first is in line {first}", model.id);
            reader.fault(block.line, what);
        }
        let effective = effective(path, &model, block);
        found.push((model, effective));
    }
    found
}

/// The model as it is shown, with who says what.
fn effective(path: &Path, model: &ModelSettings, block: &Block) -> EffectiveModel {
    let source = |name: &str| match block.lines.iter().find(|it| it.name == name) {
        Some(line) => Source::Given(Place::Line(path.to_owned(), line.line)),
        None => Source::Default,
    };
    let entries = entries(model).into_iter();
    let entries = entries.map(|(name, value)| (name, value, source(name))).collect();
    EffectiveModel { id: model.id.to_string(), entries }
}

/// The key of the list of models.
pub(super) const MODELS_KEY: &str = "models";
/// The key of a model's list of upstreams.
pub(super) const UPSTREAMS_KEY: &str = "upstreams";
/// Models of one installation.
const MODELS_MAX: usize = 1_000;

/// What the tests of this file and of the reading of one model share.
#[cfg(test)]
pub(super) mod sample {
    use super::*;
    use crate::config::load::{Sources, load};
    use crate::config::loaded::Loaded;
    use crate::config::shape::Mode;

    pub(in crate::config) fn load_text(text: &str) -> Result<Loaded, Vec<String>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("errand.toml");
        std::fs::write(&path, text).unwrap();
        let environment = Environment::of(Path::new("/place"), &[]);
        let mode = Mode::Serve;
        let sources =
            Sources { mode, environment: &environment, file: Some(path), flags: Vec::new() };
        load(&sources).map_err(|refused| {
            let told =
                |it: &Fault| it.to_string().rsplit_once("errand.toml:").unwrap().1.to_owned();
            refused.faults.iter().map(told).collect()
        })
    }

    /// A good model with these lines beside id and base URL; `more` begins in line 4.
    pub(in crate::config) fn block(more: &str) -> String {
        format!("[[models]]\nid = \"m\"\nbase_url = \"http://h.example/v1\"\n{more}\n")
    }

    #[track_caller]
    pub(in crate::config) fn check_refused(text: &str, expected: &[&str]) {
        let told = load_text(text).expect_err("this must be refused");
        let fits = told.len() == expected.len()
            && told.iter().zip(expected).all(|(told, start)| told.starts_with(start));
        assert!(fits, "{text}\n{told:#?}");
    }

    #[track_caller]
    pub(in crate::config) fn only(text: &str) -> ModelSettings {
        let loaded = load_text(text).unwrap_or_else(|told| panic!("{told:#?}"));
        loaded.config.chat.models.into_iter().next().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::sample::{block, check_refused, load_text, only};
    use super::*;
    use crate::config::loaded::Loaded;
    use crate::config::model_rows::{MODEL_ROWS, UPSTREAM_ROWS};
    use crate::config::print::{Origins, effective_file};

    #[test]
    fn what_is_written_in_another_form_is_led_to_the_right_one() {
        check_refused("[models]\nid = \"m\"", &["1: write [[models]] for each model"]);
        check_refused("models = 3", &["1: models are written as [[models]], not as 3"]);
        check_refused("[[model]]\nid = \"m\"", &["1: model is not a setting"]);
        assert!(load_text("models = []").unwrap().config.chat.models.is_empty());
    }

    #[test]
    fn a_name_is_there_once_and_not_one_of_the_built_in() {
        let twice = block("free = true") + &block("free = true");
        check_refused(&twice, &["5: two models are called m; the first is in line 1"]);
        let offline = block("free = true").replace("\"m\"", "\"offline/mine\"");
        check_refused(&offline, &["1: names that begin with offline/"]);
        check_refused(
            &block("free = true").replace("id = \"m\"\n", ""),
            &["1: a model needs an id"],
        );
        check_refused(
            &block("free = true").replace("\"m\"", "\"a b\""),
            &["2: id must be 1 to 128"],
        );
    }

    #[test]
    fn what_is_shown_is_a_good_file_with_the_same_models() {
        let text = block(
            "input_per_million = \"1.50\"\noutput_per_million = \"6\"\ntimeout = \"90s\"\n\
             capabilities = [\"json\"]\nname = \"A \\\"model\\\"\"",
        ) + "[[models]]\nid = \"n\"\nfree = true\nupstreams = [\n{ base_url = \"http://a.example\" },\n\
             { base_url = \"http://b.example/v1\", api_key_file = \"/k\", stream = \"off\" }]\n";
        let first = load_text(&text).unwrap();
        for origins in [Origins::Shown, Origins::Hidden] {
            let again = load_text(&effective_file(&first, origins)).unwrap();
            let shown = |it: &Loaded| it.config.chat.models.iter().map(entries).collect::<Vec<_>>();
            assert_eq!(shown(&again), shown(&first));
        }
        let shown = effective_file(&first, Origins::Shown);
        let line = shown.lines().find(|it| it.starts_with("timeout")).unwrap();
        assert!(
            line.starts_with("timeout = \"90s\"  ") && line.ends_with("errand.toml:6"),
            "{line}"
        );
        assert!(shown.contains("input_per_million = \"1.5\" ") && shown.contains("# default\n"));
    }

    #[test]
    fn every_default_that_the_reference_names_is_the_one_that_holds() {
        let held = entries(&only(&block("free = true")));
        let rows = MODEL_ROWS.iter().map(|it| (it.name, it.default));
        let rows = rows.chain(UPSTREAM_ROWS.iter().map(|it| (it.name, it.default)));
        for (name, default) in rows {
            let Some((_, value)) = held.iter().find(|it| it.0 == name) else { continue };
            let value = match (name, value.trim_matches('"')) {
                ("id" | "free" | "base_url", _) => continue,
                (_, "m") => "the id",
                (_, "[]") => "none",
                (_, value) => value,
            };
            assert!(default == value || default.starts_with(&format!("{value},")), "{name}");
        }
    }
}
