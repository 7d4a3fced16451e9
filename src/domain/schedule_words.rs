//! The words of a schedule: its channels, its rules, and why it stopped, as the interface has them.

use crate::domain::schedule::{Channel, MissedSlots, Overlap, Repeat, Stopped};

impl Channel {
    /// Every channel, in the order they are shown.
    pub const ALL: [Self; 3] = [Self::Email, Self::Telegram, Self::Slack];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Telegram => "telegram",
            Self::Slack => "slack",
        }
    }

    /// Reads the word for a channel.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

impl Overlap {
    /// Every rule.
    pub const ALL: [Self; 3] = [Self::Skip, Self::QueueOne, Self::Allow];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::QueueOne => "queue_one",
            Self::Allow => "allow",
        }
    }

    /// Reads the word for a rule.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

impl MissedSlots {
    /// Every rule.
    pub const ALL: [Self; 2] = [Self::FireOnce, Self::Skip];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FireOnce => "fire_once",
            Self::Skip => "skip",
        }
    }

    /// Reads the word for a rule.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

impl Repeat {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Always, Self::Once];
}

impl Stopped {
    /// Every reason.
    pub const ALL: [Self; 5] = [
        Self::User,
        Self::OneShotDone,
        Self::OneShotMissed,
        Self::KindUnavailable,
        Self::CronInvalid,
    ];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::OneShotDone => "one_shot_done",
            Self::OneShotMissed => "one_shot_missed",
            Self::KindUnavailable => "kind_unavailable",
            Self::CronInvalid => "cron_invalid",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_read_as_it_is_written() {
        for it in Channel::ALL {
            assert_eq!(Channel::parse(it.as_str()), Some(it));
        }
        for it in Overlap::ALL {
            assert_eq!(Overlap::parse(it.as_str()), Some(it));
        }
        for it in MissedSlots::ALL {
            assert_eq!(MissedSlots::parse(it.as_str()), Some(it));
        }
        for text in ["", "Skip", "sms", "fire once"] {
            assert_eq!((Channel::parse(text), Overlap::parse(text)), (None, None), "{text}");
            assert_eq!(MissedSlots::parse(text), None, "{text}");
        }
    }
}
