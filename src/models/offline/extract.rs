//! A summary without a model: the sentences whose words come up most, in their order.

use std::cmp::Reverse;
use std::collections::HashMap;

/// Picks at most three sentences out of `text`.
pub(super) fn summary(text: &str) -> String {
    let sentences = sentences(text);
    if sentences.len() <= SENTENCES_MAX {
        return sentences.join(" ");
    }
    let mut counts: HashMap<String, u64> = HashMap::new();
    for word in words(text) {
        *counts.entry(word).or_default() += 1;
    }
    let mut ranked: Vec<_> = sentences.iter().enumerate().collect();
    ranked.sort_by_cached_key(|(at, it)| (Reverse(score(it, &counts)), *at));
    ranked.truncate(SENTENCES_MAX);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, it)| *it).collect::<Vec<_>>().join(" ")
}

/// How often the words of a sentence come up, on average, in thousandths.
fn score(sentence: &str, counts: &HashMap<String, u64>) -> u64 {
    let counts: Vec<_> = words(sentence).map(|it| counts.get(&it).copied().unwrap_or(0)).collect();
    let words = u64::try_from(counts.len()).unwrap_or(u64::MAX);
    (counts.iter().sum::<u64>() * 1000).checked_div(words).unwrap_or(0)
}

/// The words that mean something: those of four letters and more, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|it: char| !it.is_alphanumeric());
    words.filter(|it| it.chars().nth(WORD_CHARS_MIN - 1).is_some()).map(str::to_lowercase)
}

/// Sentences end with a sign and a blank, or with a line.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim();
        while let Some(end) = sentence_bytes(rest) {
            let (sentence, tail) = rest.split_at(end);
            sentences.push(sentence);
            rest = tail.trim_start();
        }
        if !rest.is_empty() {
            sentences.push(rest);
        }
    }
    sentences
}

/// The length of the first sentence, if another follows it.
fn sentence_bytes(text: &str) -> Option<usize> {
    let is_end = |it: &(usize, char)| {
        let after = it.0 + it.1.len_utf8();
        matches!(it.1, '.' | '!' | '?') && text[after..].starts_with(char::is_whitespace)
    };
    text.char_indices().find(is_end).map(|(at, it)| at + it.len_utf8())
}

/// Sentences of a summary.
const SENTENCES_MAX: usize = 3;
/// Letters of a word that means something.
const WORD_CHARS_MIN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_with_a_sign_and_a_blank_or_with_a_line() {
        let text = "One is 1.5 long. Two!  Three?\n\nFour: a.b.c\n Five. ";
        assert_eq!(sentences(text), ["One is 1.5 long.", "Two!", "Three?", "Four: a.b.c", "Five."]);
        assert!(sentences(" \n ").is_empty());
    }

    #[test]
    fn a_short_text_is_its_own_summary() {
        assert_eq!(summary("One. Two.\nThree."), "One. Two. Three.");
        assert_eq!(summary(""), "");
    }

    #[test]
    fn the_sentences_with_the_most_frequent_words_stay_in_their_order() {
        let text = "Weather was fine. Queues keep order. It is so. Durable queues keep jobs. \
            Somebody laughed. Jobs in queues keep waiting.";
        let expected = "Queues keep order. Durable queues keep jobs. Jobs in queues keep waiting.";
        assert_eq!(summary(text), expected);
        assert_eq!(summary(text), summary(text));
    }
}
