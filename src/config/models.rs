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
use crate::config::model_rows::{
    DEFAULT_TOKENS, Draft, MODEL_ROWS, OUTPUT_TOKENS, OWNED_BY, Row, UPSTREAM_ROWS, UpstreamDraft,
};
use crate::config::nearest::nearest;
use crate::config::raw::{Block, Line, Raw};
use crate::config::reading::Problem;
use crate::domain::chat::{Capabilities, ModelId, Price, Sizes, UpstreamStream};
use crate::domain::money::Amount;
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
    let blocks = match &line.value {
        Raw::Tables(blocks) if blocks.len() <= MODELS_MAX => blocks,
        Raw::Tables(_) => {
            reader.fault(line.line, format!("there are more than {MODELS_MAX} models"));
            return Vec::new();
        }
        Raw::List(items) if items.is_empty() => return Vec::new(),
        other => {
            let what = format!("models are written as [[models]], not as {}", other.shown());
            reader.fault(line.line, what);
            return Vec::new();
        }
    };
    let mut lines_of: BTreeMap<ModelId, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for block in blocks {
        let Some(model) = reader.model(block) else { continue };
        if let Some(first) = lines_of.insert(model.id.clone(), block.line) {
            let what = format!("two models are called {}; the first is in line {first}", model.id);
            reader.fault(block.line, what);
        }
        let effective = reader.effective(&model, block);
        found.push((model, effective));
    }
    found
}

/// Reads blocks of one file.
struct Reader<'a> {
    path: &'a Path,
    here: &'a Environment,
    faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, line: usize, what: impl Into<String>) {
        self.faults.push(Fault::new(Place::Line(self.path.to_owned(), line), what));
    }

    /// Reads one model; `None` when something is wrong with it.
    fn model(&mut self, block: &Block) -> Option<ModelSettings> {
        let before = self.faults.len();
        let (mut draft, mut single) = (Draft::default(), UpstreamDraft::default());
        for line in block.lines.iter().filter(|it| it.name != UPSTREAMS_KEY) {
            if !self.apply(&MODEL_ROWS, line, &mut draft)
                && !self.apply(&UPSTREAM_ROWS, line, &mut single)
            {
                self.unknown(line);
            }
        }
        let id = draft.id.clone();
        // What could not be read is not missing as well.
        let is_given = |name: &str| block.lines.iter().any(|it| it.name == name);
        if !is_given("id") {
            self.fault(block.line, "a model needs an id, such as id = \"local/llama3\"");
        }
        if id.as_ref().is_some_and(|it| it.as_str().starts_with(RESERVED)) {
            let what = format!("names that begin with {RESERVED} are those of built-in models");
            self.fault(block.line, what);
        }
        let upstreams = self.upstreams(block, single, id.as_ref());
        let price = self.price(block, &draft);
        let sizes = self.sizes(block, &draft);
        if self.faults.len() > before {
            return None;
        }
        let id = id?;
        let can = |word: &str| draft.capabilities.contains(&word);
        Some(ModelSettings {
            name: draft.name.unwrap_or_else(|| id.to_string()),
            owned_by: draft.owned_by.unwrap_or_else(|| OWNED_BY.to_owned()),
            price: price?,
            sizes: sizes?,
            capabilities: Capabilities { json: can("json"), reasoning: can("reasoning") },
            times: draft.times,
            upstreams,
            id,
        })
    }

    /// Lets the row of that name understand a line; whether there is such a row.
    fn apply<C>(&mut self, rows: &'static [Row<C>], line: &Line, draft: &mut C) -> bool {
        let Some(row) = rows.iter().find(|it| it.name == line.name) else { return false };
        match row.kind.read(&line.value, self.here) {
            Ok(reading) => (reading.apply)(draft),
            Err(Problem::Kind) => {
                let (takes, given) = (row.kind.expectation(), line.value.shown());
                self.fault(line.line, format!("{} must be {takes}, not {given}", row.name));
            }
            Err(Problem::Value(why)) => self.fault(line.line, format!("{}: {why}", row.name)),
        }
        true
    }

    fn unknown(&mut self, line: &Line) {
        let names =
            MODEL_ROWS.iter().map(|it| it.name).chain(UPSTREAM_ROWS.iter().map(|it| it.name));
        let known: Vec<String> =
            names.chain([UPSTREAMS_KEY]).map(|it| format!("{MODELS_KEY}.{it}")).collect();
        let wrong = format!("{MODELS_KEY}.{}", line.name);
        let meant = nearest(&wrong, known.iter().map(String::as_str));
        let meant = meant.and_then(|it| it.split_once('.')).map(|(_, key)| key);
        let what = format!("{} is not a setting of a model", line.name);
        self.fault(line.line, crate::config::load::unknown(&what, meant));
    }

    /// Who answers: the one upstream that the model itself names, or all of its list.
    fn upstreams(
        &mut self,
        block: &Block,
        single: UpstreamDraft,
        id: Option<&ModelId>,
    ) -> Vec<UpstreamSettings> {
        let is_of_upstream = |it: &&Line| UPSTREAM_ROWS.iter().any(|row| row.name == it.name);
        let beside = block.lines.iter().find(is_of_upstream);
        let Some(list) = block.lines.iter().find(|it| it.name == UPSTREAMS_KEY) else {
            return self.upstream(block, single, id).into_iter().collect();
        };
        if let Some(beside) = beside {
            let what = format!("{} stands in each of upstreams, or there is no list", beside.name);
            self.fault(beside.line, what);
        }
        let Raw::Tables(blocks) = &list.value else {
            let what =
                "upstreams must be a list, such as [{ base_url = \"http://127.0.0.1:8080/v1\" }]";
            self.fault(list.line, format!("{what}, not {}", list.value.shown()));
            return Vec::new();
        };
        if blocks.len() > UPSTREAMS_MAX {
            self.fault(list.line, format!("a model has at most {UPSTREAMS_MAX} upstreams"));
        }
        let mut found = Vec::new();
        for block in blocks {
            let mut draft = UpstreamDraft::default();
            for line in &block.lines {
                if !self.apply(&UPSTREAM_ROWS, line, &mut draft) {
                    let names: Vec<&str> = UPSTREAM_ROWS.iter().map(|it| it.name).collect();
                    let what = format!("{} is not a setting of an upstream", line.name);
                    self.fault(line.line, format!("{what}; there are {}", names.join(", ")));
                }
            }
            found.extend(self.upstream(block, draft, id));
        }
        found
    }

    fn upstream(
        &mut self,
        block: &Block,
        draft: UpstreamDraft,
        id: Option<&ModelId>,
    ) -> Option<UpstreamSettings> {
        if !block.lines.iter().any(|it| it.name == "base_url") {
            let what = "nobody is there to answer: set base_url, such as \
                        \"http://127.0.0.1:11434/v1\"";
            self.fault(block.line, what);
        }
        let line = block.lines.iter().find(|it| it.name == "api_key_file");
        let place = Place::Line(self.path.to_owned(), line.map_or(block.line, |it| it.line));
        Some(UpstreamSettings {
            base_url: draft.base_url?,
            model: draft.model.or_else(|| id.map(ToString::to_string))?,
            key_file: draft.key_file.map(|path| KeyFile { path, place }),
            stream: draft.stream,
        })
    }

    /// What it costs. A model is never free because somebody forgot to say what it costs.
    fn price(&mut self, block: &Block, draft: &Draft) -> Option<Price> {
        let of = |name: &str| block.lines.iter().find(|it| it.name == name);
        let priced = PRICES.iter().find_map(|it| of(it));
        if draft.is_free {
            if let Some(line) = priced {
                let what = format!("a free model has no {}; drop one of the two", line.name);
                self.fault(line.line, what);
            }
            return Some(Price::FREE);
        }
        let missing: Vec<&str> = PRICES.into_iter().take(2).filter(|it| of(it).is_none()).collect();
        if !missing.is_empty() && of("free").is_none_or(|it| it.value.truth().is_some()) {
            let what = format!(
                "{} missing, and a model without a price is not served: write \
                 input_per_million = \"1.5\" and output_per_million = \"6\" (\"0\" where nothing is \
                 charged), or free = true",
                if priced.is_none() {
                    "the price is".to_owned()
                } else {
                    missing.join(", ") + " is"
                },
            );
            self.fault(block.line, what);
        }
        Price::new(draft.input?, draft.output?, draft.request.unwrap_or(Amount::ZERO))
    }

    fn sizes(&mut self, block: &Block, draft: &Draft) -> Option<Sizes> {
        let window = draft.context_window;
        let most = draft.max_output_tokens.unwrap_or(OUTPUT_TOKENS.min(window));
        let usual = draft.default_max_tokens.unwrap_or(DEFAULT_TOKENS.min(most));
        let line_of = |name: &str| {
            block.lines.iter().find(|it| it.name == name).map_or(block.line, |it| it.line)
        };
        if most > window {
            let what = format!("max_output_tokens is above context_window, which is {window}");
            self.fault(line_of("max_output_tokens"), what);
        } else if usual > most {
            let what = format!("default_max_tokens is above max_output_tokens, which is {most}");
            self.fault(line_of("default_max_tokens"), what);
        }
        Sizes::new(window.into(), most.into(), usual.into())
    }

    /// The model as it is shown, with who says what.
    fn effective(&self, model: &ModelSettings, block: &Block) -> EffectiveModel {
        let source = |name: &str| match block.lines.iter().find(|it| it.name == name) {
            Some(line) => Source::Given(Place::Line(self.path.to_owned(), line.line)),
            None => Source::Default,
        };
        let entries = entries(model).into_iter();
        let entries = entries.map(|(name, value)| (name, value, source(name))).collect();
        EffectiveModel { id: model.id.to_string(), entries }
    }
}

/// The key of the list of models.
pub(super) const MODELS_KEY: &str = "models";
/// The key of a model's list of upstreams.
pub(super) const UPSTREAMS_KEY: &str = "upstreams";
/// What makes up a price; the first two cannot be left out.
pub(super) const PRICES: [&str; 3] = ["input_per_million", "output_per_million", "per_request"];
/// How the names of the built-in models begin.
const RESERVED: &str = "offline/";
/// Models of one installation.
const MODELS_MAX: usize = 1_000;
/// Upstreams of one model; three are tried at most.
const UPSTREAMS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load::{Sources, load};
    use crate::config::loaded::Loaded;
    use crate::config::print::{Origins, effective_file};
    use crate::config::shape::Mode;

    fn load_text(text: &str) -> Result<Loaded, Vec<String>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("errand.toml");
        std::fs::write(&path, text).unwrap();
        let environment = Environment::of(Path::new("/work"), &[]);
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
    fn block(more: &str) -> String {
        format!("[[models]]\nid = \"m\"\nbase_url = \"http://h.example/v1\"\n{more}\n")
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &[&str]) {
        let told = load_text(text).expect_err("this must be refused");
        let fits = told.len() == expected.len()
            && told.iter().zip(expected).all(|(told, start)| told.starts_with(start));
        assert!(fits, "{text}\n{told:#?}");
    }

    #[track_caller]
    fn only(text: &str) -> ModelSettings {
        let loaded = load_text(text).unwrap_or_else(|told| panic!("{told:#?}"));
        loaded.config.chat.models.into_iter().next().unwrap()
    }

    /// Source: the contract, section 5: unpriced is not served.
    #[test]
    fn a_model_without_a_price_is_refused_and_told_what_to_write() {
        let told = load_text(&block("")).unwrap_err();
        assert!(told[0].starts_with("1: the price is missing"), "{told:?}");
        assert!(told[0].ends_with("or free = true"), "{told:?}");
        check_refused(&block("free = false"), &["1: the price is missing"]);
        check_refused(
            &block("per_request = \"1\""),
            &["1: input_per_million, output_per_million is"],
        );
        check_refused(&block("input_per_million = \"1\""), &["1: output_per_million is missing"]);
        check_refused(
            &block("free = true\ninput_per_million = \"0\""),
            &["5: a free model has no input_per_million"],
        );
    }

    #[test]
    fn money_is_a_decimal_string() {
        for bad in ["1.5", "1", "\"-1\"", "\"1e3\"", "true", "[]"] {
            let text = block(&format!("output_per_million = \"6\"\ninput_per_million = {bad}"));
            check_refused(&text, &["5: input_per_million"]);
        }
        let text = block("input_per_million = 1.5\noutput_per_million = 6.0");
        let told = load_text(&text).unwrap_err();
        assert!(told[0].contains("write \"1.5\"") && told[1].contains("write \"6.0\""), "{told:?}");
    }

    #[test]
    fn a_key_that_no_model_has_is_led_back_to_one_that_it_has() {
        for (wrong, meant) in [
            ("context_windw", "context_window"),
            ("api_key", "api_key_file"),
            ("max_tokens", "max_output_tokens"),
            ("upstream", "upstreams"),
        ] {
            let told = load_text(&block(&format!("free = true\n{wrong} = \"x\""))).unwrap_err();
            let is_said = format!("5: {wrong} is not a setting of a model; did you mean ");
            assert!(told[0].starts_with(&is_said), "{meant}: {told:?}");
        }
        check_refused(&block("free = true\nzzz = 1"), &["5: zzz is not a setting of a model; `er"]);
        let text = "[[models]]\nid = \"m\"\nfree = true\nupstreams = [\n\
                    { base_url = \"http://h.example\", key = \"sk-1\" }]";
        check_refused(text, &["5: key is not a setting of an upstream; there are base_url, "]);
    }

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
        check_refused(&twice, &["6: two models are called m; the first is in line 1"]);
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
    fn a_base_url_is_one_that_can_be_asked() {
        let with = |url: &str| block("free = true").replace("http://h.example/v1", url);
        for bad in ["", "h.example", "ftp://h.example/", "localhost:8080", "http://"] {
            check_refused(&with(bad), &["3: base_url must be an http or https URL"]);
        }
        let copied = "3: base_url: it is the address that all paths begin with";
        check_refused(&with("http://h.example/v1/chat/completions"), &[copied]);
        check_refused(&with("http://h.example/v1/models/"), &[copied]);
        check_refused(
            &with("http://u:p@h.example/"),
            &["3: base_url: a key belongs into api_key_"],
        );
        check_refused(&with("http://h.example/#a"), &["3: base_url: it must have no fragment"]);
        let without = block("free = true").replace("base_url = \"http://h.example/v1\"\n", "");
        check_refused(&without, &["1: nobody is there to answer"]);
    }

    #[test]
    fn sizes_are_in_order() {
        let sizes = |text| only(&block(&format!("free = true\n{text}"))).sizes;
        let all =
            |it: Sizes| (it.context_window(), it.max_output_tokens(), it.default_max_tokens());
        assert_eq!(all(sizes("")), (131_072, 16_384, 4_096));
        assert_eq!(all(sizes("context_window = 8000")), (8_000, 8_000, 4_096));
        assert_eq!(all(sizes("max_output_tokens = 100")), (131_072, 100, 100));
        check_refused(
            &block("free = true\ncontext_window = 10\nmax_output_tokens = 11"),
            &["6: max_output_tokens is above context_window, which is 10"],
        );
        check_refused(
            &block("free = true\nmax_output_tokens = 10\ndefault_max_tokens = 11"),
            &["6: default_max_tokens is above max_output_tokens, which is 10"],
        );
        check_refused(
            &block("free = true\ncontext_window = 0"),
            &["5: context_window must be a wh"],
        );
    }

    #[test]
    fn upstreams_stand_in_the_model_or_in_a_list_of_their_own() {
        let model = only(&block("free = true\nstream = \"off\"\napi_key_file = \"key\""));
        assert_eq!(model.upstreams.len(), 1);
        assert_eq!((model.name.as_str(), model.upstreams[0].model.as_str()), ("m", "m"));
        assert_eq!(model.upstreams[0].stream, UpstreamStream::Never);
        let file = model.upstreams[0].key_file.as_ref().unwrap();
        assert!(file.path == Path::new("/work/key") && file.place.to_string().ends_with(":6"));
        let text = "[[models]]\nid = \"m\"\nfree = true\n\
                    [[models.upstreams]]\nbase_url = \"http://a.example\"\n\
                    [[models.upstreams]]\nbase_url = \"http://b.example\"\nupstream_model = \"n\"\n";
        let names: Vec<String> = only(text).upstreams.into_iter().map(|it| it.model).collect();
        assert_eq!(names, ["m", "n"]);
        let both = block("free = true\nupstreams = [{ base_url = \"http://b.example\" }]");
        check_refused(&both, &["3: base_url stands in each of upstreams"]);
        let list = |list: &str| format!("[[models]]\nid = \"m\"\nfree = true\nupstreams = {list}");
        check_refused(&list("[]"), &["4: upstreams must be a list"]);
        check_refused(&list("[\"http://a.example\"]"), &["4: upstreams must be a list"]);
        check_refused(&list("[{}]"), &["4: nobody is there to answer"]);
        let nine = vec!["{ base_url = \"http://a.example\" }"; 9].join(", ");
        check_refused(&list(&format!("[{nine}]")), &["4: a model has at most 8 upstreams"]);
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
