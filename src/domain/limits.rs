//! Every number of the contract, each with its unit and its source.
//!
//! A limit that an operator may change is a setting with one of these as its default; the others
//! hold for everybody.

use std::time::Duration;

/// Executions of one run before it is given up. Source: the contract, section 6.
pub const ATTEMPTS_MAX: u32 = 3;

/// Items on a page of any list when the caller does not say. Source: the contract, section 1.
pub const PAGE_ITEMS_DEFAULT: u32 = 50;
/// Items on a page of any list. Source: service interface, "Limits".
pub const PAGE_ITEMS_MAX: u32 = 200;
/// Items that a page may skip. Source: the contract, section 1.
pub const PAGE_OFFSET_MAX: u32 = 100_000;

/// Bytes of a request body, where a resource has no smaller limit. Source: the contract, section 2.
pub const BODY_BYTES_MAX: usize = 256 * 1024;
/// Bytes of a run's input, as JSON text. Source: the contract, section 2.
pub const INPUT_BYTES_MAX: usize = 64 * 1024;
/// Nesting of a JSON body. Source: the contract, section 2.
pub const JSON_DEPTH_MAX: usize = 64;
/// Values in a JSON body, so that a small text cannot become a large tree.
pub const JSON_VALUES_MAX: usize = 10_000;

/// Characters of an `external_id`. Source: the contract, section 6.
pub const EXTERNAL_ID_CHARS_MAX: usize = 128;
/// Characters of the name of an account or a key. Source: the contract, section 3.
pub const NAME_CHARS_MAX: usize = 100;
/// Bytes of a URL.
pub const URL_BYTES_MAX: usize = 2048;
/// Keys of one account that are neither revoked nor expired. Source: the contract, section 3.
pub const LIVE_KEYS_MAX: usize = 100;

/// Characters of a run's output, so that a webhook never has to cut it. Source: the contract, section 6.
pub const OUTPUT_CHARS_MAX: usize = 30_000;
/// Bytes of a run's structured result.
pub const RESULT_BYTES_MAX: usize = 1024 * 1024;

/// Runs of one account that wait or run at the same time. Source: the contract, section 6.
pub const PENDING_RUNS_DEFAULT: u32 = 1_000;
/// Time that one run may take. Source: the contract, section 6.
pub const RUN_TIMEOUT_DEFAULT: Duration = Duration::from_mins(15);
/// How long a scheduled run stands behind runs that were asked for. Source: the contract, section 6.
pub const CLASS_AGE: Duration = Duration::from_mins(1);
/// Pauses after the first, second and third execution that lost its worker.
///
/// Source: the contract, section 6.
pub const LOST_RUN_PAUSES: [Duration; 3] =
    [Duration::ZERO, Duration::from_secs(10), Duration::from_mins(1)];
/// Time between asking an agent to stop and stopping it. Source: the contract, section 6.
pub const CANCEL_GRACE: Duration = Duration::from_secs(10);

/// Requests a minute of one key. Source: the contract, section 5.
pub const KEY_REQUESTS_PER_MINUTE: u32 = 600;
/// Requests that one key may make at once. Source: the contract, section 5.
pub const KEY_REQUESTS_BURST: u32 = 60;
/// Requests a minute of all keys of one account. Source: the contract, section 5.
pub const ACCOUNT_REQUESTS_PER_MINUTE: u32 = 1_200;
/// Requests a minute from one address that show no valid key. Source: the contract, section 5.
pub const FAILED_AUTH_PER_MINUTE: u32 = 30;
/// The longest pause that a refused caller is told. Source: the contract, section 2.
pub const RETRY_AFTER_MAX: Duration = Duration::from_mins(1);
