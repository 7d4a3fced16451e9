//! Every setting: what there is, what it means, and what it is now.
//!
//! One table has a row for each setting. The settings file, the variables and the flags are read
//! by it; the reference, the commented file and the list of effective values are printed from it.
//! What is not in the table is refused with the name that was probably meant.

mod shape;
pub use shape::{
    Agents, Billing, Chat, Config, Data, Http, Limits, Log, Mode, Outbound, Queue, Runs, Schedules,
    Webhooks,
};

mod table;
pub use table::{Reload, Setting};
mod fit;
mod rows;
mod work_rows;

mod models;
pub use models::{ModelSettings, UpstreamSettings};
mod key_file;
mod model_reading;
mod model_rows;
pub use key_file::KeyFile;

mod kind;
mod nearest;
mod reading;
mod units;
pub use units::{parse_duration, show_duration};

mod environment;
pub use environment::Environment;
mod file;
mod raw;
mod variables;
pub use variables::{API_KEY_VARIABLE, BASE_URL_VARIABLE};

mod error;
pub use error::{Fault, Place, Refused};
mod load;
pub use load::{Flag, Sources, load};
mod loaded;
pub use loaded::{Effective, EffectiveModel, Loaded, Source};

mod print;
pub use print::{Origins, Profile, commented_file, effective_file, help, listing, reference};
mod model_print;
pub use model_print::{ModelKey, model_keys};
