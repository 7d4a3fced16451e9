//! Says an expression in English.

use super::expression::Cron;

pub(super) fn of(cron: &Cron) -> String {
    cron.as_str().to_owned()
}
