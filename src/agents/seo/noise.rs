//! What changes in texts and addresses although nobody changed anything: measured numbers,
//! counters, the names that builds give to files.

/// A text in which measured numbers count for one; a status stays.
#[must_use]
pub fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, it) in text.char_indices() {
        let is_status = || {
            let before = out.trim_end_matches(|it: char| it.is_ascii_digit());
            before.ends_with("status ")
        };
        if !it.is_ascii_digit() || is_status() {
            out.push(it);
        } else if !text.get(..at).unwrap_or_default().ends_with(|it: char| it.is_ascii_digit()) {
            out.push('#');
        }
    }
    out
}

/// A text in which every number counts for one: a change of nothing else is a minor one.
#[must_use]
pub fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        if !it.is_ascii_digit() {
            out.push(it);
            continue;
        }
        // A sign between two digits belongs to the number.
        while let Some(next) = rest.peek().copied() {
            let is_sign = NUMBER_SIGNS.contains(next);
            let goes_on = is_sign && rest.clone().nth(1).is_some_and(|it| it.is_ascii_digit());
            if !next.is_ascii_digit() && !goes_on {
                break;
            }
            rest.next();
        }
        out.push('#');
    }
    out
}

/// An address of a file that a page loads, without what changes with every build: the query, and
/// parts that look like hashes.
#[must_use]
pub fn without_build(address: &str) -> String {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let is_separator = |it: char| matches!(it, '/' | '.' | '-' | '_');
    let mut out = String::with_capacity(path.len());
    for piece in path.split_inclusive(is_separator) {
        let part = piece.trim_end_matches(is_separator);
        if is_hash(part) {
            out.push('#');
            out.push_str(piece.get(part.len()..).unwrap_or_default());
        } else {
            out.push_str(piece);
        }
    }
    out
}

/// Whether a part of an address looks like a hash: letters and digits without a pattern.
fn is_hash(part: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| part.bytes().any(|it| kind(&it));
    part.len() >= HASH_BYTES_MIN
        && part.bytes().all(|it| it.is_ascii_alphanumeric())
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

/// Whether an address is that of a file that pages load.
#[must_use]
pub fn is_asset(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let ending = path.rsplit_once('.').map(|(_, it)| it.to_ascii_lowercase());
    ending.is_some_and(|it| ASSET_ENDINGS.contains(&it.as_str()))
}

/// A sentence about addresses without what changes with every build.
#[must_use]
pub fn without_builds(text: &str) -> String {
    let is_edge = |it: char| it == ' ' || it == '`';
    let settled = |it: &str| {
        let word = it.trim_end_matches(is_edge);
        let tail = it.get(word.len()..).unwrap_or_default();
        if is_asset(word) { without_build(word) + tail } else { it.to_owned() }
    };
    text.split_inclusive(is_edge).map(settled).collect()
}

/// A title without the number of unread messages that chats and mail put before it.
#[must_use]
pub fn without_counter(title: &str) -> &str {
    let rest = title.strip_prefix('(').and_then(|it| it.split_once(") "));
    let rest = rest.filter(|(count, _)| count.bytes().all(|it| it.is_ascii_digit() || it == b'+'));
    rest.map_or(title, |(_, rest)| rest)
}

/// Endings of the addresses of files that pages load.
const ASSET_ENDINGS: [&str; 18] = [
    "png",
    "jpg",
    "jpeg",
    "gif",
    "webp",
    "avif",
    "svg",
    "ico",
    "bmp",
    "css",
    "js",
    "mjs",
    "woff",
    "woff2",
    "ttf",
    "mp4",
    "webm",
    "webmanifest",
];
/// Characters of the shortest hash that builds put into the names of files.
const HASH_BYTES_MIN: usize = 7;
/// Signs inside numbers, between two digits.
const NUMBER_SIGNS: &str = ".,:'’\u{a0}\u{202f}";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_numbers_count_for_one_and_a_status_stays() {
        assert_eq!(masked("61 words, 7 scripts"), "# words, # scripts");
        assert_eq!(
            masked("answers with status 404 after 12 ms"),
            "answers with status 404 after # ms"
        );
        assert_eq!(masked(""), "");
    }

    #[test]
    fn numbers_count_for_one_with_their_signs() {
        assert_eq!(without_numbers("1,204 jobs, 12 new"), "# jobs, # new");
        assert_eq!(without_numbers("1 204 Stellen, 3.5."), "# # Stellen, #.");
        assert_eq!(without_numbers("12’000"), without_numbers("999"));
        assert_eq!(without_numbers(""), "");
    }

    #[test]
    fn addresses_of_files_lose_what_changes_with_every_build() {
        let check = |address: &str, expected: &str| assert_eq!(without_build(address), expected);
        check("/a.png?v=1#x", "/a.png");
        check("/hero.8f3ab2c1.png", "/hero.#.png");
        check("/hero-91bb02de.png", "/hero-#.png");
        check("/_next/static/Qx81hZs2k/boat.webp", "/_next/static/#/boat.webp");
        check("/assets/index-B7d9KxQ2.css", "/assets/index-#.css");
        check("/photos/waterwheel.png", "/photos/waterwheel.png");
        check("/photos/2026-11-20/a1.png", "/photos/2026-11-20/a1.png");
        check("", "");
        let text = "`https://example.com/og.8f3ab2c1.png` answers with status 404";
        let expected = "`https://example.com/og.#.png` answers with status 404";
        assert_eq!(without_builds(text), expected);
        let page = "`https://example.com/order-8f3ab2c1` answers with status 404";
        assert_eq!(without_builds(page), page);
    }

    #[test]
    fn a_title_loses_its_counter() {
        assert_eq!(without_counter("(12) Inbox"), "Inbox");
        assert_eq!(without_counter("(Old) Inbox"), "(Old) Inbox");
    }
}
