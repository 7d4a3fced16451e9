//! Tokens of the offline models: words, and runs of anything else that is no blank.

/// Splits a text into its tokens, each with the blanks before it; the last has those after it.
///
/// The pieces joined are the text, unless it is blank altogether: then there are none.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.trim_start().is_empty() {
        let blanks = rest.len() - rest.trim_start().len();
        let end = blanks + token_bytes(rest.trim_start());
        let end = if rest[end..].trim_start().is_empty() { rest.len() } else { end };
        let (piece, tail) = rest.split_at(end);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

/// The length of the token at the beginning of a text.
fn token_bytes(text: &str) -> usize {
    let kind = |it: char| (it.is_whitespace(), it.is_alphanumeric());
    let first = text.chars().next().map(kind);
    text.find(|it| Some(kind(it)) != first).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_token_is_a_word_or_a_run_of_signs() {
        assert_eq!(pieces("Hi, you!?"), ["Hi", ",", " you", "!?"]);
        assert_eq!(pieces("  a1 b \n"), ["  a1", " b \n"]);
        assert_eq!(pieces("größer 東京"), ["größer", " 東京"]);
        assert!(pieces("").is_empty() && pieces(" \n").is_empty());
    }

    proptest! {
        #[test]
        fn no_text_is_lost_and_a_token_has_at_least_a_byte(text in "\\PC{0,40}") {
            let pieces = pieces(&text);
            prop_assert!(pieces.len() <= text.len());
            if !text.trim().is_empty() {
                prop_assert_eq!(pieces.concat(), text);
            }
        }
    }
}
