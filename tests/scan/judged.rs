//! Pairs of pages: each was changed in one way, or not at all, and its author wrote down beforehand
//! whether that is worth a message.

use crate::pairs::{Verdict, compare, pairs};

/// The pairs that came out otherwise than their author decided.
fn wrong(set: &str) -> (Vec<String>, Vec<String>) {
    let (mut missed, mut alarms) = (Vec::new(), Vec::new());
    for pair in pairs(set) {
        let Verdict { kinds, shown } = compare(set, &pair);
        if pair.expect == "signal" && !pair.kinds.iter().all(|it| kinds.contains(it)) {
            missed.push(format!("{}: {kinds:?}\n{shown}", pair.id));
        }
        if pair.expect == "no_signal" && !kinds.is_empty() {
            alarms.push(format!("{}: {kinds:?}\n{shown}", pair.id));
        }
    }
    (missed, alarms)
}

#[track_caller]
fn check_set(set: &str) {
    let (missed, alarms) = wrong(set);
    assert!(missed.is_empty(), "{set}: missed {}\n{}", missed.len(), missed.join("\n"));
    assert!(alarms.is_empty(), "{set}: alarms {}\n{}", alarms.len(), alarms.join("\n"));
}

#[test]
fn a_page_of_software_is_judged_as_its_author_meant_it() {
    check_set("pairs");
}

#[test]
fn a_shop_and_a_price_list_are_judged_as_their_author_meant_it() {
    check_set("pairs2");
}
