//! Silence about panics that are caught on the way: redb has many words for a damaged page.

use std::cell::Cell;
use std::sync::Once;

/// Runs `work` without a word of the panics that are caught on the way.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let in_redb = info.location().is_some_and(|it| it.file().contains("/redb-"));
            if !(in_redb && QUIET.get()) {
                loud(info);
            }
        }));
    });
    QUIET.set(true);
    let output = work();
    QUIET.set(false);
    output
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}
