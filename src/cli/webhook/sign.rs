//! `errand webhook sign`: the headers that the daemon would send with a body.

use serde_json::{Map, Value};

use crate::cli::command::Here;
use crate::cli::exit::Failure;
use crate::cli::input;
use crate::cli::webhook::args::SignArgs;
use crate::cli::webhook::{secret, signed};
use crate::domain::limits::BODY_BYTES_MAX;
use crate::sys::clock::Clock;

/// Prints one header a line, such as `curl -H @-` reads them.
pub(in crate::cli) fn run(here: &Here, args: &SignArgs) -> Result<(), Failure> {
    let secret = secret::secret(here, &args.secret)?;
    let body = input::read(&args.file, BODY_BYTES_MAX)?;
    let timestamp = args.timestamp.unwrap_or_else(|| Clock::host().now().seconds());
    let headers = signed::headers(&secret, signed::id(&body), timestamp, &body);
    if here.out.is_json() {
        let field = |(name, value): (&str, String)| (name.to_owned(), Value::String(value));
        return here
            .out
            .json(&Value::Object(headers.into_iter().map(field).collect::<Map<_, _>>()));
    }
    headers.iter().try_for_each(|(name, value)| here.out.line(format!("{name}: {value}")))
}
