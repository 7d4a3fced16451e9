//! Reads one block of `[[models]]`, and says what is wrong with it.

use std::path::Path;

use crate::config::environment::Environment;
use crate::config::error::{Fault, Place};
use crate::config::key_file::KeyFile;
use crate::config::load::unknown;
use crate::config::model_rows::{
    DEFAULT_TOKENS, Draft, MODEL_ROWS, OUTPUT_TOKENS, OWNED_BY, Row, UPSTREAM_ROWS, UpstreamDraft,
};
use crate::config::models::{MODELS_KEY, ModelSettings, UPSTREAMS_KEY, UpstreamSettings};
use crate::config::nearest::nearest;
use crate::config::raw::{Block, Line, Raw};
use crate::config::reading::Problem;
use crate::domain::chat::{Capabilities, ModelId, Price, Sizes};
use crate::domain::money::Amount;

/// Reads blocks of one file.
pub(super) struct Reader<'a> {
    pub(super) path: &'a Path,
    pub(super) here: &'a Environment,
    pub(super) faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    pub(super) fn fault(&mut self, line: usize, what: impl Into<String>) {
        self.faults.push(Fault::new(Place::Line(self.path.to_owned(), line), what));
    }

    /// Reads one model; `None` when something is wrong with it.
    pub(super) fn model(&mut self, block: &Block) -> Option<ModelSettings> {
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
        self.fault(line.line, unknown(&what, meant));
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
}

/// What makes up a price; the first two cannot be left out.
const PRICES: [&str; 3] = ["input_per_million", "output_per_million", "per_request"];
/// How the names of the built-in models begin.
const RESERVED: &str = "offline/";
/// Upstreams of one model; three are tried at most.
const UPSTREAMS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::models::sample::{block, check_refused, load_text, only};
    use crate::domain::chat::UpstreamStream;

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
        assert!(file.path == Path::new("/place/key") && file.place.to_string().ends_with(":6"));
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
        let nine = ["{ base_url = \"http://a.example\" }"; 9].join(", ");
        check_refused(&list(&format!("[{nine}]")), &["4: a model has at most 8 upstreams"]);
    }
}
