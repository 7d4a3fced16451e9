//! The record of a run: the layout on disk, apart from the type that the rules are about.
//!
//! The two look alike and are kept apart on purpose: the type may change, the layout never does.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::domain::account::{AccountId, KeyId};
use crate::domain::money::Amount;
use crate::domain::outcome::{Failure, Reason};
use crate::domain::run::{Run, RunId, ScheduleId, Status, Trigger};
use crate::domain::time::Timestamp;
use crate::store::codec::Record;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunRow<'a> {
    key: Option<KeyId>,
    kind: Cow<'a, str>,
    input: Cow<'a, str>,
    external_id: Option<Cow<'a, str>>,
    trigger: TriggerRow,
    status: StatusRow,
    hold: Amount,
    model_hold: Amount,
    cost: Amount,
    attempts: u32,
    due_at: Timestamp,
    created_at: Timestamp,
    started_at: Option<Timestamp>,
    finished_at: Option<Timestamp>,
    updated_at: Timestamp,
    failure: Option<FailureRow<'a>>,
    cancel_requested: bool,
}

impl Record for RunRow<'_> {}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum TriggerRow {
    Api,
    Schedule { schedule: ScheduleId, scheduled_for: Timestamp },
    RunNow { schedule: ScheduleId },
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum StatusRow {
    Pending,
    Running,
    Succeeded,
    NoSignal,
    Failed,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct FailureRow<'a> {
    reason: ReasonRow,
    code: Cow<'a, str>,
    message: Cow<'a, str>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum ReasonRow {
    AgentError,
    Timeout,
    WorkerLost,
    Canceled,
    OutputTooLarge,
    KindUnavailable,
}

/// The record of a run.
pub(crate) fn of(run: &Run) -> RunRow<'_> {
    RunRow {
        key: run.key,
        kind: Cow::Borrowed(&run.kind),
        input: Cow::Borrowed(&run.input),
        external_id: run.external_id.as_deref().map(Cow::Borrowed),
        trigger: match run.trigger {
            Trigger::Api => TriggerRow::Api,
            Trigger::Schedule { schedule, scheduled_for } => {
                TriggerRow::Schedule { schedule, scheduled_for }
            }
            Trigger::RunNow { schedule } => TriggerRow::RunNow { schedule },
        },
        status: match run.status {
            Status::Pending => StatusRow::Pending,
            Status::Running => StatusRow::Running,
            Status::Succeeded => StatusRow::Succeeded,
            Status::NoSignal => StatusRow::NoSignal,
            Status::Failed => StatusRow::Failed,
        },
        hold: run.hold,
        model_hold: run.model_hold,
        cost: run.cost,
        attempts: run.attempts,
        due_at: run.due_at,
        created_at: run.created_at,
        started_at: run.started_at,
        finished_at: run.finished_at,
        updated_at: run.updated_at,
        failure: run.failure.as_ref().map(|it| FailureRow {
            reason: match it.reason {
                Reason::AgentError => ReasonRow::AgentError,
                Reason::Timeout => ReasonRow::Timeout,
                Reason::WorkerLost => ReasonRow::WorkerLost,
                Reason::Canceled => ReasonRow::Canceled,
                Reason::OutputTooLarge => ReasonRow::OutputTooLarge,
                Reason::KindUnavailable => ReasonRow::KindUnavailable,
            },
            code: Cow::Borrowed(&it.code),
            message: Cow::Borrowed(&it.message),
        }),
        cancel_requested: run.cancel_requested,
    }
}

/// The run of a record, whose key has its owner and its name.
pub(crate) fn run(account: AccountId, id: RunId, row: RunRow<'_>) -> Run {
    Run {
        id,
        account,
        key: row.key,
        kind: row.kind.into_owned(),
        input: row.input.into_owned(),
        external_id: row.external_id.map(Cow::into_owned),
        trigger: match row.trigger {
            TriggerRow::Api => Trigger::Api,
            TriggerRow::Schedule { schedule, scheduled_for } => {
                Trigger::Schedule { schedule, scheduled_for }
            }
            TriggerRow::RunNow { schedule } => Trigger::RunNow { schedule },
        },
        status: match row.status {
            StatusRow::Pending => Status::Pending,
            StatusRow::Running => Status::Running,
            StatusRow::Succeeded => Status::Succeeded,
            StatusRow::NoSignal => Status::NoSignal,
            StatusRow::Failed => Status::Failed,
        },
        hold: row.hold,
        model_hold: row.model_hold,
        cost: row.cost,
        attempts: row.attempts,
        due_at: row.due_at,
        created_at: row.created_at,
        started_at: row.started_at,
        finished_at: row.finished_at,
        updated_at: row.updated_at,
        failure: row.failure.map(|it| Failure {
            reason: match it.reason {
                ReasonRow::AgentError => Reason::AgentError,
                ReasonRow::Timeout => Reason::Timeout,
                ReasonRow::WorkerLost => Reason::WorkerLost,
                ReasonRow::Canceled => Reason::Canceled,
                ReasonRow::OutputTooLarge => Reason::OutputTooLarge,
                ReasonRow::KindUnavailable => Reason::KindUnavailable,
            },
            code: it.code.into_owned(),
            message: it.message.into_owned(),
        }),
        cancel_requested: row.cancel_requested,
    }
}
