//! Operations that end also when whoever asked for them has gone.
//!
//! What is written goes to disk whether or not somebody waits for it, and what must happen after
//! that in memory, such as waking a worker, must happen with it. So an operation that writes runs
//! in a task of its own, and a caller who hangs up takes only the answer with him.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::app::App;

/// One operation under way, for as long as this lives.
struct Busy(Arc<AtomicUsize>);

impl Busy {
    fn take(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Does work to its end, whether or not the caller waits for it.
///
/// # Panics
///
/// When the work does.
///
/// # Cancel safety
///
/// Safe: the work goes on without the caller.
pub async fn finish<T: Send + 'static>(
    app: &App,
    work: impl Future<Output = T> + Send + 'static,
) -> T {
    let busy = Busy::take(&app.0.operations);
    let task = tokio::spawn(async move {
        let _busy = busy;
        work.await
    });
    match task.await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime ends, and everything with it.
            Err(_) => std::future::pending().await,
        },
    }
}

/// Begins work that nobody waits for; the daemon does, when it stops.
pub fn begin(app: &App, work: impl Future<Output = ()> + Send + 'static) {
    let busy = Busy::take(&app.0.operations);
    tokio::spawn(async move {
        let _busy = busy;
        work.await;
    });
}

/// How many operations are under way.
#[must_use]
pub fn count(app: &App) -> usize {
    app.0.operations.load(Ordering::Acquire)
}
