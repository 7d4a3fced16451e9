//! Which known name somebody may have meant.

/// The known name that is nearest to `wrong`; `None` when none is near.
///
/// Names have the form `section.key`. The right key in the wrong section is near, and so is a key
/// that stands alone.
pub(super) fn nearest<'a>(
    wrong: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let all = known.clone();
    let wrong = wrong.to_lowercase();
    let key = last_part(&wrong);
    let scored = known.map(|it| {
        let whole = distance(&wrong, it);
        // One step for the section, which may be anything.
        let alone = distance(key, last_part(it)).saturating_add(1);
        (whole.min(alone), it)
    });
    let (steps, name) = scored.min_by_key(|(steps, _)| *steps)?;
    let near = (key.chars().count() / 3).clamp(1, STEPS_MAX);
    if steps <= near { Some(name) } else { begun(&wrong, all) }
}

/// The name that begins as `wrong` does, section and all; `None` when there is none or several.
fn begun<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (_, key) = wrong.split_once('.')?;
    let shown = wrong.len().saturating_sub(key.len()).saturating_add(BEGINNING_CHARS);
    let beginning = wrong.get(..shown)?;
    let mut found = known.filter(|it| it.starts_with(beginning));
    found.next().filter(|_| found.next().is_none())
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Letters to insert, delete, replace or swap with their neighbour to make one of the other.
///
/// This is the distance of Damerau and Levenshtein in which no part is changed twice.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, from) in one.iter().enumerate() {
        let mut line = vec![row.saturating_add(1)];
        for (column, to) in other.iter().enumerate() {
            let at =
                |cells: &[usize], index: usize| cells.get(index).copied().unwrap_or(usize::MAX);
            let replaced = at(&last, column).saturating_add(usize::from(from != to));
            let next = column.saturating_add(1);
            let shorter = at(&last, next).min(at(&line, column)).saturating_add(1);
            let swaps = column > 0
                && one.get(row.wrapping_sub(1)) == Some(to)
                && other.get(column.wrapping_sub(1)) == Some(from);
            let swapped = if swaps {
                at(&before, column.saturating_sub(1)).saturating_add(1)
            } else {
                usize::MAX
            };
            line.push(replaced.min(shorter).min(swapped));
        }
        before = std::mem::replace(&mut last, line);
    }
    last.last().copied().unwrap_or(0)
}

/// Steps from which on a name is another one and not a slip.
const STEPS_MAX: usize = 4;
/// Characters of a key that are enough to know it by.
const BEGINNING_CHARS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] =
        ["http.listen", "http.header_timeout", "log.level", "limits.account_requests"];

    #[track_caller]
    fn check_nearest(wrong: &str, expected: Option<&str>) {
        assert_eq!(nearest(wrong, KNOWN.into_iter()), expected, "{wrong}");
    }

    #[test]
    fn a_slip_is_led_back_to_the_name_that_was_meant() {
        check_nearest("http.lisetn", Some("http.listen"));
        check_nearest("http.headers_timeout", Some("http.header_timeout"));
        check_nearest("HTTP.Listen", Some("http.listen"));
        check_nearest("server.listen", Some("http.listen"));
        check_nearest("listen", Some("http.listen"));
        check_nearest("lgo.level", Some("log.level"));
        check_nearest("limits.account-request", Some("limits.account_requests"));
        check_nearest("http.headr", Some("http.header_timeout"));
    }

    #[test]
    fn a_name_that_is_like_none_gets_no_suggestion() {
        check_nearest("smtp.password", None);
        check_nearest("", None);
        check_nearest("x", None);
    }

    #[test]
    fn distance_counts_inserted_deleted_replaced_and_swapped_letters() {
        assert_eq!(distance("listen", "listen"), 0);
        assert_eq!(distance("lsiten", "listen"), 1);
        assert_eq!(distance("liste", "listen"), 1);
        assert_eq!(distance("listens", "listen"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
