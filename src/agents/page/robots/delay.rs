//! The pause that a robots.txt asks of a crawler.
//!
//! Not part of RFC 9309, but written by many sites and cheap to honour.

use std::time::Duration;

use crate::agents::page::robots::records::{readable, records};

/// The `Crawl-delay` for `crawler`: that of its own group, else that of everybody.
#[must_use]
pub fn crawl_delay(file: &[u8], crawler: &str) -> Option<Duration> {
    let (mut own, mut everybody) = (None, None);
    let (mut is_own, mut is_everybody, mut names_end) = (false, false, true);
    for record in records(readable(file).bytes) {
        let Some(key) = record.key else { continue };
        if key.eq_ignore_ascii_case(b"user-agent") {
            if names_end {
                (is_own, is_everybody, names_end) = (false, false, false);
            }
            is_own |= record.value.eq_ignore_ascii_case(crawler.as_bytes());
            is_everybody |= record.value == b"*";
            continue;
        }
        names_end = true;
        if key.eq_ignore_ascii_case(b"crawl-delay") {
            let pause = seconds(record.value);
            own = own.or(pause.filter(|_| is_own));
            everybody = everybody.or(pause.filter(|_| is_everybody));
        }
    }
    own.or(everybody)
}

fn seconds(value: &[u8]) -> Option<Duration> {
    let text = str::from_utf8(value).ok()?;
    let millis = match text.split_once('.') {
        Some((whole, part)) => {
            let tenth: u64 = part.get(..1)?.parse().ok()?;
            whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(tenth * 100)?
        }
        None => text.parse::<u64>().ok()?.checked_mul(1000)?,
    };
    Some(Duration::from_millis(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_delay(file: &str, seconds: Option<f64>) {
        let expected = seconds.map(Duration::from_secs_f64);
        assert_eq!(crawl_delay(file.as_bytes(), "Errand"), expected, "{file:?}");
    }

    #[test]
    fn the_own_group_is_asked_first() {
        check_delay("", None);
        check_delay("User-agent: *\nCrawl-delay: 5", Some(5.0));
        check_delay(
            "User-agent: *\nCrawl-delay: 5\n\nUser-agent: errand\nCrawl-delay: 2.5",
            Some(2.5),
        );
        check_delay("User-agent: x\nUser-agent: *\nDisallow: /a\nCrawl-delay: 1", Some(1.0));
        check_delay("User-agent: other\nCrawl-delay: 5", None);
        check_delay("Crawl-delay: soon\nUser-agent: *\nCrawl-delay: -1", None);
    }
}
