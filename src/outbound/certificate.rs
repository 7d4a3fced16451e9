//! Two facts of a certificate: until when it is valid, and who signed it.
//!
//! A walk over the outer fields of X.509 and nothing more: it checks nothing, because rustls has
//! checked already. Lengths are compared with what is there, so no input makes it panic or read
//! twice.

use crate::domain::time::{Civil, Timestamp};

/// What is read from a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CertificateFacts {
    /// The last moment at which it is valid.
    pub(super) not_after: Timestamp,
    /// The issuer's common name, else its organisation, else nothing.
    pub(super) issuer: String,
}

/// One element of DER.
#[derive(Clone, Copy)]
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
}

/// Elements that stand one behind the other.
#[derive(Clone, Copy)]
struct Elements<'a>(&'a [u8]);

/// Reads a certificate in DER; `None` when it is not one.
///
/// Source: RFC 5280, section 4.1.
pub(super) fn read(der: &[u8]) -> Option<CertificateFacts> {
    let mut certificate = Elements(Elements(der).next()?.inside(SEQUENCE)?.0);
    let mut fields = certificate.next()?.inside(SEQUENCE)?;
    let mut field = fields.next()?;
    if field.tag == VERSION {
        field = fields.next()?;
    }
    // That was the serial number; the algorithm of the signature follows.
    field.is(INTEGER)?;
    fields.next()?.is(SEQUENCE)?;
    let issuer = fields.next()?.inside(SEQUENCE)?;
    let mut validity = fields.next()?.inside(SEQUENCE)?;
    validity.next()?;
    Some(CertificateFacts { not_after: time(validity.next()?)?, issuer: name(issuer) })
}

/// The text of the first common name, else of the first organisation.
fn name(sets: Elements<'_>) -> String {
    let attributes = || sets.filter_map(|it| it.inside(SET)).flatten();
    let find = |kind: &[u8]| attributes().find_map(|it| attribute(it, kind));
    let text = find(&COMMON_NAME).or_else(|| find(&ORGANISATION)).unwrap_or_default();
    text.chars().filter(|it| !it.is_control()).take(NAME_CHARS_MAX).collect()
}

fn attribute(element: Element<'_>, kind: &[u8]) -> Option<String> {
    let mut pair = element.inside(SEQUENCE)?;
    let oid = pair.next()?;
    oid.is(OID)?;
    let value = pair.next().filter(|_| oid.content == kind)?;
    Some(match value.tag {
        BMP_STRING => {
            let units = value.content.as_chunks().0.iter().map(|it| u16::from_be_bytes(*it));
            char::decode_utf16(units).map(|it| it.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
        _ => String::from_utf8_lossy(value.content).into_owned(),
    })
}

/// Reads `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ`. Source: RFC 5280, section 4.1.2.5.
fn time(element: Element<'_>) -> Option<Timestamp> {
    let digits = element.content.strip_suffix(b"Z")?;
    let (year, rest) = match element.tag {
        UTC_TIME => {
            let (year, rest) = digits.split_at_checked(2)?;
            let year = number(year)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = digits.split_at_checked(4)?;
            (number(year)?, rest)
        }
        _ => return None,
    };
    let &[m, mm, d, dd, h, hh, i, ii, s, ss] = rest else {
        return None;
    };
    let civil = Civil {
        year: i64::from(year),
        month: number(&[m, mm])?,
        day: number(&[d, dd])?,
        hour: number(&[h, hh])?,
        minute: number(&[i, ii])?,
        second: number(&[s, ss])?,
        millis: 0,
        weekday: 0,
    };
    Timestamp::of_civil(&civil)
}

/// Reads a few digits.
fn number(digits: &[u8]) -> Option<u32> {
    let text = str::from_utf8(digits).ok().filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?;
    text.parse().ok()
}

impl<'a> Element<'a> {
    fn is(self, tag: u8) -> Option<()> {
        (self.tag == tag).then_some(())
    }

    fn inside(self, tag: u8) -> Option<Elements<'a>> {
        self.is(tag).map(|()| Elements(self.content))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    /// Takes the next element; ends at the first that is cut off or has a length in a form that
    /// certificates do not use.
    fn next(&mut self) -> Option<Element<'a>> {
        let (&[tag, short], rest) = self.0.split_first_chunk()?;
        let (length, rest) = match short {
            0..=0x7F => (usize::from(short), rest),
            0x81..=0x83 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(short & 0x0F))?;
                (bytes.iter().fold(0, |sum, it| sum << 8 | usize::from(*it)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(Element { tag, content })
    }
}

const INTEGER: u8 = 0x02;
const OID: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const BMP_STRING: u8 = 0x1E;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xA0;
/// 2.5.4.3.
const COMMON_NAME: [u8; 3] = [0x55, 4, 3];
/// 2.5.4.10.
const ORGANISATION: [u8; 3] = [0x55, 4, 10];
/// Characters of an issuer's name that are kept.
const NAME_CHARS_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, date_time_ymd};

    use super::*;

    fn certificate(not_after: (i32, u8, u8), names: &[(DnType, &str)]) -> Vec<u8> {
        let mut params = CertificateParams::new(vec!["hooks.example.org".into()]).unwrap();
        params.not_before = date_time_ymd(1990, 1, 1);
        params.not_after = date_time_ymd(not_after.0, not_after.1, not_after.2);
        params.distinguished_name = DistinguishedName::new();
        for (kind, text) in names {
            params.distinguished_name.push(kind.clone(), *text);
        }
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[track_caller]
    fn check(not_after: (i32, u8, u8), names: &[(DnType, &str)], text: &str, issuer: &str) {
        let facts = read(&certificate(not_after, names)).unwrap();
        assert_eq!(facts.not_after, Timestamp::parse(text).unwrap());
        assert_eq!(facts.issuer, issuer);
    }

    #[test]
    fn the_end_and_the_issuer_are_read() {
        let both = [(DnType::OrganizationName, "Org"), (DnType::CommonName, "Größe CA")];
        check((2026, 12, 31), &both, "2026-12-31T00:00:00Z", "Größe CA");
        check((2049, 2, 28), &both[..1], "2049-02-28T00:00:00Z", "Org");
        check((2051, 1, 1), &[], "2051-01-01T00:00:00Z", "");
        check((1999, 1, 1), &[(DnType::CommonName, "a\nb")], "1999-01-01T00:00:00Z", "ab");
    }

    #[test]
    fn what_is_cut_off_anywhere_before_the_validity_is_not_a_certificate() {
        let der = certificate((2026, 12, 31), &[(DnType::CommonName, "CA")]);
        for end in 0..der.len() {
            assert_eq!(read(&der[..end]), None, "cut at {end}");
        }
        for hostile in [&[0x30, 0x84, 255, 255, 255, 255][..], &[0x30, 0x80, 0, 0], &[0x30; 64]] {
            assert_eq!(read(hostile), None);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(noise: Vec<u8>, changes: Vec<(prop::sample::Index, u8)>) {
            let _ = read(&noise);
            let mut der = certificate((2026, 12, 31), &[(DnType::CommonName, "CA")]);
            for (at, byte) in changes {
                let at = at.index(der.len());
                der[at] = byte;
            }
            let _ = read(&der);
        }
    }
}
