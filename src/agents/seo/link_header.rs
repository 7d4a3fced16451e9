//! The `Link` header, in which a page may name its canonical address and its translations.

/// One link of a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderLink {
    /// The address as written.
    pub target: String,
    /// Its `rel`, lower case.
    pub rel: String,
    /// Its `hreflang`.
    pub hreflang: Option<String>,
}

/// The links of one header; what is not a link is left out.
///
/// Source: RFC 8288, section 3.
#[must_use]
pub fn read(value: &str) -> Vec<HeaderLink> {
    let mut links = Vec::new();
    let mut rest = value;
    while links.len() < LINKS_MAX
        && let Some((_, after)) = rest.split_once('<')
        && let Some((target, after)) = after.split_once('>')
    {
        let mut link = HeaderLink { target: target.trim().to_owned(), ..HeaderLink::default() };
        rest = parameters(after, &mut link);
        links.push(link);
    }
    links
}

/// Reads the parameters of a link; answers what follows its comma.
fn parameters<'a>(mut text: &'a str, link: &mut HeaderLink) -> &'a str {
    loop {
        text = text.trim_start();
        let Some(after) = text.strip_prefix(';') else {
            return text.strip_prefix(',').unwrap_or(text);
        };
        let end = after.find([';', ',', '=']).unwrap_or(after.len());
        let (name, after) = after.split_at(end);
        let (value, after) = match after.strip_prefix('=').map(str::trim_start) {
            Some(quoted) if quoted.starts_with('"') => {
                let inner = quoted.get(1..).unwrap_or_default();
                inner.split_once('"').unwrap_or((inner, ""))
            }
            Some(plain) => plain.split_at(plain.find([';', ',']).unwrap_or(plain.len())),
            None => ("", after),
        };
        match name.trim().to_ascii_lowercase().as_str() {
            "rel" => link.rel = value.trim().to_ascii_lowercase(),
            "hreflang" => link.hreflang = Some(value.trim().to_owned()),
            _ => {}
        }
        text = after;
    }
}

/// Links of one header that are read.
const LINKS_MAX: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(value: &str, expected: &[(&str, &str, Option<&str>)]) {
        let found = read(value);
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.target.as_str(), it.rel.as_str(), it.hreflang.as_deref()))
            .collect();
        assert_eq!(found, expected, "{value:?}");
    }

    #[test]
    fn links_are_read_with_their_parameters() {
        check("", &[]);
        check("<https://a/>; rel=\"Canonical\"", &[("https://a/", "canonical", None)]);
        check(
            "</b,c>;rel=preload;as=style, <d> ; rel = alternate ; hreflang=\"de\"",
            &[("/b,c", "preload", None), ("d", "alternate", Some("de"))],
        );
        check("<a>; title=\"x, <y>; rel=z\"; rel=canonical", &[("a", "canonical", None)]);
        check("<a", &[]);
        check("<a>; rel=\"canonical", &[("a", "canonical", None)]);
    }

    proptest! {
        #[test]
        fn any_value_is_read_to_its_end(value in "[<>;,=\" a-zé]{0,60}") {
            let _ = read(&value);
        }
    }
}
