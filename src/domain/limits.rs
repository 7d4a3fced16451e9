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
/// Bytes of what a schedule keeps to compare its next run with.
pub const BASELINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Runs of one account that wait or run at the same time. Source: the contract, section 6.
pub const PENDING_RUNS_DEFAULT: u32 = 1_000;
/// Time that one run may take. Source: the contract, section 6.
pub const RUN_TIMEOUT_DEFAULT: Duration = Duration::from_mins(15);
/// How long a scheduled run stands behind runs that were asked for. Source: the contract, section 6.
pub const CLASS_AGE: Duration = Duration::from_mins(1);
/// How long after its slot a scheduled run counts as late. Source: the contract, section 7.
pub const LATE_AFTER: Duration = Duration::from_mins(1);
/// Schedules of one account. Source: the contract, section 7.
pub const SCHEDULES_DEFAULT: u32 = 100;
/// Schedules of one account that an operator can allow.
pub const SCHEDULES_MAX: u32 = 10_000;
/// How old a slot may be that becomes a late run. Source: the contract, section 7.
pub const MISSED_WINDOW_DEFAULT: Duration = Duration::from_hours(24);
/// Lines in the log of a schedule. Source: the contract, section 7.
pub const TICKS_KEPT: u32 = 500;
/// Slots that a look ahead shows. Source: the contract, section 7.
pub const SLOTS_SHOWN_MAX: u32 = 20;
/// Pauses after the first, second and third execution that lost its worker.
///
/// Source: the contract, section 6.
pub const LOST_RUN_PAUSES: [Duration; 3] =
    [Duration::ZERO, Duration::from_secs(10), Duration::from_mins(1)];

/// Times that one event is sent to one receiver. Source: service interface, "Limits".
pub const SENDS_MAX: u32 = 6;
/// Pauses after the first to the fifth failed attempt, at least. Source: service interface, "Limits".
pub const SEND_PAUSES: [Duration; 5] = [
    Duration::from_mins(1),
    Duration::from_mins(2),
    Duration::from_mins(4),
    Duration::from_mins(8),
    Duration::from_mins(16),
];
/// The longest time that is added to a pause by chance. Source: the contract, section 8.
pub const PAUSE_JITTER_MAX: Duration = Duration::from_mins(1);
/// The longest pause that a receiver can ask for. Source: the contract, section 8.
pub const RETRY_HINT_MAX: Duration = Duration::from_hours(1);
/// Unicode characters of the output in an event. Source: service interface, "Limits".
pub const EVENT_OUTPUT_CHARS_MAX: usize = 32_000;
/// Difference of two clocks that a receiver puts up with. Source: service interface, "Limits".
pub const SIGNATURE_SKEW_MAX: Duration = Duration::from_mins(5);
/// Receivers of one account. Source: the contract, section 8.
pub const RECEIVERS_DEFAULT: u32 = 10;
/// Receivers of one account that an operator can allow. Source: the contract, section 8.
pub const RECEIVERS_MAX: u32 = 100;
/// Deliveries of one receiver that are not over. Source: the contract, section 8.
pub const BACKLOG_MAX: u64 = 10_000;
/// How far back failed deliveries can be sent again at once. Source: the contract, section 8.
pub const RECOVER_SPAN_MAX: Duration = Duration::from_hours(14 * 24);
/// How long a delivery is kept after it is over. Source: the contract, section 8.
pub const DELIVERY_RETENTION_DEFAULT: Duration = Duration::from_hours(30 * 24);

/// Chats of one key at the same time. Source: the contract, section 5.
pub const CHATS_IN_FLIGHT_DEFAULT: u32 = 32;
/// Bytes of a chat's body. Source: the contract, section 2.
pub const CHAT_BYTES_MAX: usize = 4 * 1024 * 1024;
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
