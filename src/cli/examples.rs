//! What stands below the help of each verb: what is good to know, and calls that work.

/// What a newcomer does first, and what the numbers at the end mean.
pub(super) const FIRST_STEPS: &str = "\
First steps:
  errand try      watch one audit from start to end
  errand dev      have an API on this machine, with a key and money
  errand serve    run it for real; then: errand account create --name NAME

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not running, 4 not allowed, 5 not found,
6 in use or in conflict, 7 wrong settings, 8 data of a newer version";

/// Below the help of `errand try`.
pub(super) const TRY_EXAMPLES: &str = "\
Examples:
  errand try
  errand try https://example.org/
  errand try > report.md";

/// Below the help of `errand dev`.
pub(super) const DEV_EXAMPLES: &str = "\
The key stays the same for a directory. Programs find it in DIR/dev.json, which is written
before `ready` is printed: base_url, api_key, signing_secret, account_id.

Examples:
  errand dev
  errand dev --listen 127.0.0.1:0 --ephemeral
  KEY=$(jq -r .api_key .errand/dev.json)";

/// Below the help of `errand serve`.
pub(super) const SERVE_EXAMPLES: &str = "\
SIGTERM or Ctrl-C lets requests and runs end first; a second one stops at once. SIGHUP reads the
TLS files again.

Examples:
  errand serve
  errand serve --data-dir /srv/errand --listen 127.0.0.1:8080
  errand serve --config /etc/errand/errand.toml";

/// Below the help of `errand webhook sign`.
pub(super) const WEBHOOK_SIGN_EXAMPLES: &str = "\
The headers of an event are printed one a line, as curl reads them. Without an id in the body
there is neither X-Service-Event-Id nor a signature of Standard Webhooks.

Examples:
  errand webhook sign body.json
  errand webhook sign body.json --secret-file whsec > headers
  curl -H @headers --data-binary @body.json http://127.0.0.1:3000/hooks";

/// Below the help of `errand webhook verify`.
pub(super) const WEBHOOK_VERIFY_EXAMPLES: &str = "\
Says what a right receiver answers, and of a signature that does not fit, the usual cause that
explains it. Exit 1 when the request is not to be believed.

Examples:
  errand webhook verify --request saved.http --now 2026-01-01T00:00:00Z
  errand webhook verify --timestamp 1767225600 --signature v1=... body.json --secret-file whsec";

/// Below the help of `errand trigger`.
pub(super) const TRIGGER_EXAMPLES: &str = "\
Sends once, signed as the daemon signs. Exit 0 when the receiver answers as it should: 2xx, or for
a tampered signature or timestamp 401, or for a tampered id 400.

Examples:
  errand trigger agent.run.succeeded --url http://127.0.0.1:3000/hooks
  errand trigger agent.run.failed --url http://127.0.0.1:3000/hooks --tamper signature
  errand trigger agent.run.no_signal --body event.json";

/// Below the help of `errand listen`.
pub(super) const LISTEN_EXAMPLES: &str = "\
Answers 204 to what it believes, 401 or 400 to what it does not. Ctrl-C ends it with a summary.
With --output json there is one JSON value a line.

Examples:
  errand listen
  errand listen --port 0 --secret-file whsec --output json
  errand listen --status 503";

/// Below the help of `errand status`.
pub(super) const STATUS_EXAMPLES: &str = "\
Examples:
  errand status
  errand status --output json | jq .ready";

/// Below the help of `errand doctor`.
pub(super) const DOCTOR_EXAMPLES: &str = "\
Works with and without a running daemon. Exit 1 when something is wrong; nothing is changed.

Examples:
  errand doctor
  errand doctor --data-dir /srv/errand";

/// Below the help of `errand account create`.
pub(super) const ACCOUNT_CREATE_EXAMPLES: &str = "\
Examples:
  errand account create --name \"Example Ltd\"
  errand account create --name Tests --currency CREDIT --output json | jq -r .id";

/// Below the help of `errand account list`.
pub(super) const ACCOUNT_LIST_EXAMPLES: &str = "Example:\n  errand account list";

/// Below the help of `errand account show`.
pub(super) const ACCOUNT_SHOW_EXAMPLES: &str =
    "Example:\n  errand account show 01920f3c-1d2e-7a4b-8c5d-6e7f80910a1b";

/// Below the help of `errand config init`.
pub(super) const CONFIG_INIT_EXAMPLES: &str = "\
Examples:
  errand config init > errand.toml
  errand config init --profile proxy | sudo tee /etc/errand/errand.toml";

/// Below the help of `errand config check`.
pub(super) const CONFIG_CHECK_EXAMPLES: &str = "\
Examples:
  errand config check
  errand config check /etc/errand/errand.toml";

/// Below the help of `errand config show`.
pub(super) const CONFIG_SHOW_EXAMPLES: &str = "Example:\n  errand config show --sources";

/// Below the help of `errand config keys`.
pub(super) const CONFIG_KEYS_EXAMPLES: &str = "\
Examples:
  errand config keys
  errand config keys --markdown > settings.md";
