//! Lists: their query and their one envelope. Source: the contract, section 1.

use serde::Serialize;

use crate::api::error::Failure;
use crate::domain::limits::{PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, PAGE_OFFSET_MAX};
use crate::domain::time::Timestamp;
use crate::inbound::Head;

/// The parameters of a query, taken one by one; what is left at the end was not known.
pub(in crate::api) struct Query(Vec<(String, String)>);

/// Which page is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::api) struct Page {
    pub(in crate::api) limit: u32,
    pub(in crate::api) offset: u32,
}

/// The one form of every list.
#[derive(Serialize)]
pub(in crate::api) struct Envelope<T> {
    object: &'static str,
    pub(in crate::api) data: Vec<T>,
    pub(in crate::api) total: u64,
    pub(in crate::api) limit: u32,
    pub(in crate::api) offset: u32,
    pub(in crate::api) has_more: bool,
}

impl Query {
    /// Reads the query of a request.
    pub(in crate::api) fn of(head: &Head) -> Result<Self, Failure> {
        match head.query_pairs() {
            Ok(pairs) => Ok(Self(pairs)),
            Err(_) => Err(wrong("query", "has a broken escape")),
        }
    }

    /// Takes a parameter that may be absent and may not stand twice.
    pub(in crate::api) fn take(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let mut values = self.take_all(name);
        if values.len() > 1 {
            return Err(wrong(name, "must not stand twice"));
        }
        Ok(values.pop())
    }

    /// Takes a parameter that may stand any number of times.
    pub(in crate::api) fn take_all(&mut self, name: &str) -> Vec<String> {
        self.0.extract_if(.., |(found, _)| found == name).map(|(_, value)| value).collect()
    }

    /// Takes the page.
    pub(in crate::api) fn page(&mut self) -> Result<Page, Failure> {
        self.page_of(PAGE_ITEMS_DEFAULT)
    }

    /// Takes the page, of `usual` items when nobody says.
    pub(in crate::api) fn page_of(&mut self, usual: u32) -> Result<Page, Failure> {
        let limit = self.number("limit", usual, 1, PAGE_ITEMS_MAX)?;
        let offset = self.number("offset", 0, 0, PAGE_OFFSET_MAX)?;
        Ok(Page { limit, offset })
    }

    /// Takes how many items are wanted.
    pub(in crate::api) fn limit(&mut self) -> Result<u32, Failure> {
        self.number("limit", PAGE_ITEMS_DEFAULT, 1, PAGE_ITEMS_MAX)
    }

    /// Takes a time that may be absent.
    pub(in crate::api) fn time(&mut self, name: &str) -> Result<Option<Timestamp>, Failure> {
        let Some(text) = self.take(name)? else { return Ok(None) };
        // The plus of an offset is a space in a query that was not escaped.
        let with_plus = || text.rsplit_once(' ').map(|(time, offset)| format!("{time}+{offset}"));
        let time = Timestamp::parse(&text).or_else(|| Timestamp::parse(&with_plus()?));
        time.map(Some).ok_or_else(|| wrong(name, "must be a time such as 2026-01-01T00:00:00Z"))
    }

    /// Refuses what is left.
    pub(in crate::api) fn finish(self) -> Result<(), Failure> {
        match self.0.into_iter().next() {
            None => Ok(()),
            Some((name, _)) => Err(wrong(&name, "is not known here")),
        }
    }

    fn number(&mut self, name: &str, default: u32, min: u32, max: u32) -> Result<u32, Failure> {
        let Some(text) = self.take(name)? else { return Ok(default) };
        let digits = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        let number = text.parse().ok().filter(|it| digits && (min..=max).contains(it));
        number.ok_or_else(|| wrong(name, &format!("must be a whole number from {min} to {max}")))
    }
}

impl Page {
    /// Whether a list of `total` items goes on behind the page.
    pub(in crate::api) fn goes_on(self, total: u64) -> bool {
        u64::from(self.offset).saturating_add(u64::from(self.limit)) < total
    }
}

impl<T> Envelope<T> {
    /// A page of a longer list.
    pub(in crate::api) const fn new(data: Vec<T>, total: u64, page: Page, has_more: bool) -> Self {
        let Page { limit, offset } = page;
        Self { object: "list", data, total, limit, offset, has_more }
    }

    /// A page out of a list that is there as a whole.
    pub(in crate::api) fn cut(all: Vec<T>, page: Page) -> Self {
        let (skip, take) = (page.offset as usize, page.limit as usize);
        let total = all.len();
        let data: Vec<T> = all.into_iter().skip(skip).take(take).collect();
        let has_more = skip.saturating_add(data.len()) < total;
        Self::new(data, u64::try_from(total).unwrap_or(u64::MAX), page, has_more)
    }
}

/// A parameter of the query that cannot be used.
pub(in crate::api) fn wrong(param: &str, problem: &str) -> Failure {
    Failure::Query { param: param.to_owned(), problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(pairs: &[(&str, &str)]) -> Query {
        Query(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
    }

    #[test]
    fn a_page_has_defaults_and_bounds_and_is_never_clamped() {
        assert_eq!(query(&[]).page().unwrap(), Page { limit: 50, offset: 0 });
        let edges = query(&[("limit", "200"), ("offset", "100000")]).page().unwrap();
        assert_eq!(edges, Page { limit: 200, offset: 100_000 });
        for limit in ["0", "201", "-1", "1.0", "", "x", "+5", " 5", "99999999999"] {
            assert!(query(&[("limit", limit)]).page().is_err(), "{limit}");
        }
        for offset in ["100001", "-1", ""] {
            assert!(query(&[("offset", offset)]).page().is_err(), "{offset}");
        }
        assert!(query(&[("limit", "1"), ("limit", "1")]).page().is_err());
    }

    #[test]
    fn a_whole_list_is_cut_into_pages() {
        let cut = |limit, offset| {
            let envelope = Envelope::cut(vec![1, 2, 3], Page { limit, offset });
            (envelope.data, envelope.total, envelope.has_more)
        };
        assert_eq!(cut(2, 0), (vec![1, 2], 3, true));
        assert_eq!(cut(2, 2), (vec![3], 3, false));
        assert_eq!(cut(2, 5), (vec![], 3, false));
    }
}
