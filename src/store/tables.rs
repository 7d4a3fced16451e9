//! Every table: its name, its key, its value and what it is for. The schema on one page.
//!
//! Keys are bytes whose order is the order of their parts (`key`). A value is a record in its
//! envelope (`codec`) or, in an index, nothing at all. A table's name carries the version of its
//! key; the version of a record is in its envelope.

use redb::TableDefinition;

/// One table of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// What is known of the file itself. Key: a word. Value: a record of `meta`.
    Meta,
    /// Accounts. Key: account. Value: `accounts::AccountRow`.
    Accounts,
    /// What each account has, and how many runs of it are not over.
    /// Key: account. Value: `ledger::WalletRow`.
    ///
    /// Invariant: the amount is the sum of the account's ledger; the held part is the sum of the
    /// holds of its runs and ghosts; the runs that are not over are those of `Runs` and all of
    /// `Ghosts`, because a deleted run counts until its execution has ended.
    Wallets,
    /// Every change of a balance, never changed again.
    /// Key: account, number from 1 without gaps. Value: `entry_row::EntryRow`.
    Ledger,
    /// API keys. Key: SHA-256 of the key. Value: `keys::KeyRow`.
    Keys,
    /// Numbers for the names of kinds. Key: name. Value: `runs::KindRow`.
    Kinds,
    /// Runs. Key: account, run. Value: `run_row::RunRow`.
    Runs,
    /// Deleted runs whose execution is still going on. Key: account, run. Value: `run_row::RunRow`.
    ///
    /// Invariant: each has a claim.
    Ghosts,
    /// What runs left behind. Key: account, run, part (0 output, 1 result, 2 steps). Value: `runs::TextRow`.
    Outputs,
    /// Index: runs by kind and status. Key: account, kind, status, run.
    ///
    /// Invariant: exactly one row for each run.
    RunStates,
    /// Index: runs by the caller's own name. Key: account, label, zero byte, run.
    RunLabels,
    /// How many runs there are. Key: account, kind, status. Value: `runs::CountRow`.
    ///
    /// Invariant: the number of rows of `RunStates` that begin so.
    RunCounts,
    /// Index: waiting work. Key: account, rank, class, due time, run.
    ///
    /// Invariant: exactly one row for each pending run.
    Queue,
    /// Work under way. Key: run. Value: `queue::ClaimRow`.
    ///
    /// Invariant: exactly one row for each running run and each ghost.
    Claims,
    /// Receivers. Key: account, receiver. Value: `receivers::ReceiverRow`.
    Receivers,
    /// Index: receivers that are not disabled. Key: account, receiver.
    ActiveReceivers,
    /// How each receiver does, and how many deliveries it has of each status.
    /// Key: account, receiver. Value: `receivers::StandingRow`.
    Standings,
    /// Events. Key: account, event. Value: `events::EventRow`.
    ///
    /// Invariant: each has a delivery.
    Events,
    /// Index: events by run. Key: account, run, event.
    RunEvents,
    /// The log of every receiver. Key: account, receiver, delivery.
    /// Value: `delivery_row::DeliveryRow`.
    Deliveries,
    /// Index: deliveries by status. Key: account, receiver, status, delivery.
    ///
    /// Invariant: exactly one row for each delivery.
    DeliveryStates,
    /// Index: deliveries by event. Key: account, event, receiver, delivery.
    ///
    /// Invariant: exactly one row for each delivery.
    EventDeliveries,
    /// Deliveries that are not over: when the next attempt is due, and the claim of the one that is
    /// under way. Key: account, receiver, delivery. Value: `outbox::OpenRow`.
    ///
    /// Invariant: exactly one row for each pending or retrying delivery.
    Outbox,
    /// Schedules. Key: account, schedule. Value: `schedules::ScheduleRow`.
    Schedules,
    /// Index: what fires next. Key: time, account, schedule.
    ///
    /// Invariant: exactly one row for each schedule that is not stopped.
    DueSchedules,
    /// What became of the last slots of each schedule. Key: account, schedule, number from 0.
    /// Value: `ticks::TickRow`.
    ///
    /// Invariant: each belongs to a schedule, which says how many there are.
    Ticks,
    /// Index: runs of schedules. Key: account, schedule, whether it is over (0 or 1), run.
    ///
    /// Invariant: exactly one row for each run that a schedule started.
    ScheduleRuns,
    /// What each schedule's next run compares with. Key: account, schedule.
    /// Value: `baselines::BaselineRow`.
    ///
    /// Invariant: each belongs to a schedule.
    Baselines,
    /// What each key has spent. Key: key. Value: `spends::SpendRow`.
    KeySpends,
    /// How many schedules each account has. Key: account. Value: `schedules::ScheduleCountRow`.
    ///
    /// Invariant: the number of rows of `Schedules` that begin so.
    ScheduleCounts,
}

/// How a table is declared to redb.
pub(crate) type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// What the values of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// Records in their envelopes.
    Records,
    /// Nothing: the key says it all, and can be made again from other tables.
    Nothing,
}

impl Table {
    /// Every table.
    pub(crate) const ALL: [Self; 30] = [
        Self::Meta,
        Self::Accounts,
        Self::Wallets,
        Self::Ledger,
        Self::Keys,
        Self::Kinds,
        Self::Runs,
        Self::Ghosts,
        Self::Outputs,
        Self::RunStates,
        Self::RunLabels,
        Self::RunCounts,
        Self::Queue,
        Self::Claims,
        Self::Receivers,
        Self::ActiveReceivers,
        Self::Standings,
        Self::Events,
        Self::RunEvents,
        Self::Deliveries,
        Self::DeliveryStates,
        Self::EventDeliveries,
        Self::Outbox,
        Self::Schedules,
        Self::DueSchedules,
        Self::Ticks,
        Self::ScheduleRuns,
        Self::Baselines,
        Self::KeySpends,
        Self::ScheduleCounts,
    ];

    /// Its name in the file.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta-1",
            Self::Accounts => "accounts-1",
            Self::Wallets => "wallets-1",
            Self::Ledger => "ledger-1",
            Self::Keys => "keys-1",
            Self::Kinds => "kinds-1",
            Self::Runs => "runs-1",
            Self::Ghosts => "ghosts-1",
            Self::Outputs => "outputs-1",
            Self::RunStates => "run-states-1",
            Self::RunLabels => "run-labels-1",
            Self::RunCounts => "run-counts-1",
            Self::Queue => "queue-1",
            Self::Claims => "claims-1",
            Self::Receivers => "receivers-1",
            Self::ActiveReceivers => "active-receivers-1",
            Self::Standings => "standings-1",
            Self::Events => "events-1",
            Self::RunEvents => "run-events-1",
            Self::Deliveries => "deliveries-1",
            Self::DeliveryStates => "delivery-states-1",
            Self::EventDeliveries => "event-deliveries-1",
            Self::Outbox => "outbox-1",
            Self::Schedules => "schedules-1",
            Self::DueSchedules => "due-schedules-1",
            Self::Ticks => "ticks-1",
            Self::ScheduleRuns => "schedule-runs-1",
            Self::Baselines => "baselines-1",
            Self::KeySpends => "key-spends-1",
            Self::ScheduleCounts => "schedule-counts-1",
        }
    }

    /// Its declaration.
    pub(crate) const fn definition(self) -> Definition {
        Definition::new(self.name())
    }

    /// What its values are.
    pub(crate) const fn values(self) -> Values {
        match self {
            Self::Meta
            | Self::Accounts
            | Self::Wallets
            | Self::Ledger
            | Self::Keys
            | Self::Kinds
            | Self::Runs
            | Self::Ghosts
            | Self::Outputs
            | Self::RunCounts
            | Self::Claims
            | Self::Receivers
            | Self::Standings
            | Self::Events
            | Self::Deliveries
            | Self::Outbox
            | Self::Schedules
            | Self::Ticks
            | Self::Baselines
            | Self::KeySpends
            | Self::ScheduleCounts => Values::Records,
            Self::RunStates
            | Self::RunLabels
            | Self::Queue
            | Self::ActiveReceivers
            | Self::RunEvents
            | Self::DeliveryStates
            | Self::EventDeliveries
            | Self::DueSchedules
            | Self::ScheduleRuns => Values::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_stands_at_its_number_and_has_its_own_name() {
        for (number, table) in Table::ALL.into_iter().enumerate() {
            assert_eq!(table as usize, number, "{}", table.name());
            assert_eq!(Table::ALL.iter().filter(|it| it.name() == table.name()).count(), 1);
        }
    }
}
