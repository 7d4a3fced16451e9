//! What is to be scanned: two to five competitors, and one's own site if it is named.

use serde_json::{Map, Value, json};

use crate::agents::input::{Fields, InputError};
use crate::domain::limits::URL_BYTES_MAX;
use crate::domain::receiver::{UrlPolicy, UrlReason};
use crate::domain::target::PageUrl;

/// What is to be scanned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    own: Option<PageUrl>,
    competitors: Vec<PageUrl>,
}

impl Order {
    /// Reads an input.
    ///
    /// # Errors
    ///
    /// [`InputError`] names the first field, or item of it, that is missing, wrong or unknown.
    pub fn accept(input: &Map<String, Value>, targets: UrlPolicy) -> Result<Self, InputError> {
        let mut fields = Fields::of(input);
        let urls = fields.texts("competitors")?;
        let own = fields.optional_text("own_url")?;
        fields.finish()?;
        if !(COMPETITORS_MIN..=COMPETITORS_MAX).contains(&urls.len()) {
            return Err(InputError::value("competitors", "must have 2 to 5 items"));
        }
        let mut order = Self { own: None, competitors: Vec::new() };
        for (at, url) in urls.into_iter().enumerate() {
            let name = format!("competitors[{at}]");
            let url = page(url, &name, targets)?;
            if order.competitors.contains(&url) {
                return Err(InputError::value(&name, "is named twice"));
            }
            order.competitors.push(url);
        }
        if let Some(url) = own {
            let url = page(url, "own_url", targets)?;
            if order.competitors.contains(&url) {
                return Err(InputError::value("own_url", "is one of the competitors"));
            }
            order.own = Some(url);
        }
        Ok(order)
    }

    /// Reads an input that was accepted; the rules may have become stricter since.
    #[must_use]
    pub fn stored(input: &str, targets: UrlPolicy) -> Option<Self> {
        let input: Value = serde_json::from_str(input).ok()?;
        Self::accept(input.as_object()?, targets).ok()
    }

    /// The form in which it is stored.
    #[must_use]
    pub fn to_json(&self) -> String {
        let urls: Vec<&str> = self.competitors.iter().map(PageUrl::as_str).collect();
        match &self.own {
            Some(own) => json!({ "competitors": urls, "own_url": own.as_str() }).to_string(),
            None => json!({ "competitors": urls }).to_string(),
        }
    }

    /// All sites: one's own first, then the competitors.
    pub fn sites(&self) -> impl Iterator<Item = &PageUrl> {
        self.own.iter().chain(&self.competitors)
    }

    /// The number of one's own site.
    #[must_use]
    pub fn own(&self) -> Option<usize> {
        self.own.as_ref().map(|_| 0)
    }
}

fn page(url: &str, name: &str, targets: UrlPolicy) -> Result<PageUrl, InputError> {
    PageUrl::parse(url, targets).map_err(|reason| InputError::value(name, refusal(reason)))
}

/// The JSON Schema of the input.
#[must_use]
pub fn input_schema() -> Value {
    let url = |description: &str| {
        json!({
            "type": "string",
            "description": description,
            "minLength": 1,
            "maxLength": URL_BYTES_MAX,
        })
    };
    let own = "A page of your own site, to compare with. Without a scheme, https is meant.";
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["competitors"],
        "additionalProperties": false,
        "properties": {
            "competitors": {
                "type": "array",
                "description": "The competitors: a public page each, such as the home page.",
                "minItems": COMPETITORS_MIN,
                "maxItems": COMPETITORS_MAX,
                "uniqueItems": true,
                "items": url("A public page. Without a scheme, https is meant."),
                "examples": [["https://example.com/", "https://example.org/"]],
            },
            "own_url": url(own),
        },
    })
}

/// Why an address is refused, after its field.
const fn refusal(reason: UrlReason) -> &'static str {
    match reason {
        UrlReason::Invalid | UrlReason::Fragment => "is not the address of a page",
        UrlReason::Scheme => "must begin with https:// or http://",
        UrlReason::Credentials => "must not contain a user name or a password",
        UrlReason::Port => "must use the port 80, 443, 8080 or 8443",
        UrlReason::Host => "must name a host of the public network",
        UrlReason::AddressNotAllowed => "must not be an address of a private network",
    }
}

/// Competitors of a scan at least. Source: service interface, "Limits".
const COMPETITORS_MIN: usize = 2;
/// Competitors of a scan at most. Source: service interface, "Limits".
const COMPETITORS_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_accept(input: &Value, expected: Result<&str, &str>) {
        let found = Order::accept(input.as_object().unwrap(), UrlPolicy::Public);
        let found = found.map(|it| it.to_json()).map_err(|it| it.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{input}");
    }

    #[test]
    fn an_input_is_two_to_five_competitors_and_perhaps_ones_own_site() {
        check_accept(&json!({}), Err("input.competitors is required"));
        let list = "input.competitors must be an array of strings";
        check_accept(&json!({"competitors": "a.example"}), Err(list));
        let count = "input.competitors must have 2 to 5 items";
        check_accept(&json!({"competitors": ["a.example"]}), Err(count));
        check_accept(&json!({"competitors": vec!["a.example"; 6]}), Err(count));
        let text = "input.competitors[1] must be a string";
        check_accept(&json!({"competitors": ["a.example", null]}), Err(text));
        let twice = "input.competitors[1] is named twice";
        check_accept(&json!({"competitors": ["a.example", "https://A.example"]}), Err(twice));
        let local = "input.competitors[1] must not be an address of a private network";
        check_accept(&json!({"competitors": ["a.example", "http://10.0.0.1"]}), Err(local));
        let own = "input.own_url is one of the competitors";
        let both = json!({"competitors": ["a.example", "b.example"], "own_url": "b.example"});
        check_accept(&both, Err(own));
        let unknown = "input.depth is not a field of this agent's input";
        check_accept(&json!({"competitors": ["a.example", "b.example"], "depth": 1}), Err(unknown));
        check_accept(
            &json!({"own_url": "me.example", "competitors": ["a.example", "b.example/x#y"]}),
            Ok(
                r#"{"competitors":["https://a.example/","https://b.example/x"],"own_url":"https://me.example/"}"#,
            ),
        );
    }

    #[test]
    fn what_was_accepted_can_be_read_again() {
        let input = json!({"competitors": ["a.example", "b.example"], "own_url": "me.example"});
        let order = Order::accept(input.as_object().unwrap(), UrlPolicy::Public).unwrap();
        assert_eq!(Order::stored(&order.to_json(), UrlPolicy::Public), Some(order.clone()));
        assert_eq!((order.own(), order.sites().count()), (Some(0), 3));
        assert_eq!(Order::stored("{}", UrlPolicy::Public), None);
    }
}
