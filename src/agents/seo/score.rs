//! The score: a hundred minus what every fault costs, so that all lost points can be listed.
//!
//! No curve and no density. A page without faults has 100; a fault of low severity moves the
//! score by at most one.

use crate::agents::seo::finding::{Check, Group, Severity, Share};

/// A score and how it came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// The score, 0 to 100.
    pub value: u32,
    /// The points that all faults cost together.
    pub lost: u32,
    /// Whether a critical fault holds the score at [`CRITICAL_MAX`].
    pub is_capped: bool,
}

/// What a score means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// 90 to 100.
    Good,
    /// 70 to 89.
    Fair,
    /// 40 to 69.
    Poor,
    /// 0 to 39.
    Blocked,
}

/// Gives every check its points and adds them up.
#[must_use]
pub fn rate(checks: &mut [Check]) -> Score {
    let mut left = [GROUP_POINTS_MAX; GROUPS.len()];
    for check in checks.iter_mut() {
        let full = full_points(check);
        let group = GROUPS.iter().position(|it| *it == check.rule.group);
        check.points = match group.and_then(|it| left.get_mut(it)) {
            Some(left) => {
                let points = full.min(*left);
                *left = left.saturating_sub(points);
                points
            }
            None => full,
        };
    }
    let lost = checks.iter().map(|it| it.points).sum();
    let value = FULL.saturating_sub(lost);
    let is_critical = |it: &Check| it.fault().is_some() && it.severity() == Severity::Critical;
    let is_capped = checks.iter().any(is_critical) && value > CRITICAL_MAX;
    Score { value: if is_capped { CRITICAL_MAX } else { value }, lost, is_capped }
}

/// The points of a check before the limit of its group.
fn full_points(check: &Check) -> u32 {
    let Some(found) = check.fault() else { return 0 };
    let whole = match check.severity() {
        Severity::Critical => 30,
        Severity::High => 10,
        Severity::Medium => 4,
        Severity::Low => 1,
        Severity::Info => 0,
    };
    found.share.map_or(whole, |it| scaled(whole, it))
}

/// `whole` times the failing share, at least three tenths of it, rounded up.
fn scaled(whole: u32, share: Share) -> u32 {
    let bounded = |it: usize| u64::try_from(it).unwrap_or(u64::MAX).min(1 << 40);
    let (failing, total) = (bounded(share.failing), bounded(share.total).max(1));
    let tenths = (failing * 10).max(total * 3).min(total * 10);
    u32::try_from((u64::from(whole) * tenths).div_ceil(total * 10)).unwrap_or(whole)
}

impl Score {
    /// What the score means.
    #[must_use]
    pub const fn band(self) -> Band {
        match self.value {
            90.. => Band::Good,
            70.. => Band::Fair,
            40.. => Band::Poor,
            _ => Band::Blocked,
        }
    }
}

impl Band {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
            Self::Blocked => "blocked",
        }
    }
}

/// The score of a page without faults.
const FULL: u32 = 100;
/// The most that a page with a critical fault can have.
pub const CRITICAL_MAX: u32 = 39;
/// Points that one group of rules can cost.
const GROUP_POINTS_MAX: u32 = 15;
/// The groups that are limited.
const GROUPS: [Group; 5] =
    [Group::Links, Group::Headings, Group::Images, Group::Hreflang, Group::StructuredData];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::seo::checks::rule;
    use crate::agents::seo::finding::{Found, Judgement};

    fn fault(id: &str, found: Found) -> Check {
        Check { rule: rule(id).unwrap(), judgement: Judgement::Fail(found), points: 0 }
    }

    #[track_caller]
    fn check_score(faults: Vec<Check>, value: u32, points: &[u32]) {
        let mut checks = faults;
        let score = rate(&mut checks);
        assert_eq!(score.value, value);
        assert_eq!(checks.iter().map(|it| it.points).collect::<Vec<_>>(), points);
        assert_eq!(score.lost, points.iter().sum::<u32>());
    }

    #[test]
    fn every_lost_point_belongs_to_a_fault() {
        check_score(vec![], 100, &[]);
        let plain = |id| fault(id, Found::new("x"));
        check_score(vec![plain("document-title"), plain("h1"), plain("doctype")], 85, &[10, 4, 1]);
        let info = Check { judgement: Judgement::Info(Found::new("x")), ..plain("redirects") };
        check_score(vec![info], 100, &[0]);
    }

    #[test]
    fn a_critical_fault_holds_the_score_down() {
        let plain = |id| fault(id, Found::new("x"));
        check_score(vec![plain("is-crawlable")], 39, &[30]);
        let high = (0..9).map(|_| plain("document-title"));
        check_score(
            [plain("is-crawlable")].into_iter().chain(high).collect(),
            0,
            &[30, 10, 10, 10, 10, 10, 10, 10, 10, 10],
        );
    }

    #[test]
    fn faults_of_lists_cost_their_share_and_groups_have_a_limit() {
        let links =
            |failing, total| fault("links-local", Found::new("x").of(failing, total, "links"));
        check_score(vec![links(1, 1)], 90, &[10]);
        check_score(vec![links(1, 100)], 97, &[3]);
        check_score(vec![links(5, 10)], 95, &[5]);
        check_score(vec![links(1, 3)], 96, &[4]);
        check_score(vec![links(0, 0)], 97, &[3]);
        check_score(vec![links(9, 9), links(9, 9), links(9, 9)], 85, &[10, 5, 0]);
    }

    #[test]
    fn bands_begin_where_they_should() {
        let band = |value| Score { value, lost: 0, is_capped: false }.band();
        assert_eq!(
            [90, 89, 70, 69, 40, 39, 0].map(band),
            [
                Band::Good,
                Band::Fair,
                Band::Fair,
                Band::Poor,
                Band::Poor,
                Band::Blocked,
                Band::Blocked,
            ]
        );
    }
}
