//! Files that were damaged, or are not the store's at all.
//!
//! Whatever is wrong with the bytes: the file is refused when it is opened, or a row is told to be
//! damaged when it is read, or nothing of value was hit. Wrong content is never served.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod disk;
mod work;

use std::sync::atomic::{AtomicUsize, Ordering};

use errand::store::{Error, FileDisk, doctor};
use errand::sys::entropy::Entropy;

use disk::FaultDisk;
use work::{Content, Planner, content};

/// A file with some history: as a process leaves it that was killed, and closed; what is in it.
async fn files() -> ([Vec<u8>; 2], Content) {
    let disk = FaultDisk::default();
    let store = work::open(disk.clone(), &work::options()).unwrap();
    let model = work::history(&store, &mut Planner::new(1)).await;
    let unclosed = disk.image();
    store.close();
    ([unclosed, disk.image()], model.books)
}

/// What became of a damaged file.
#[derive(Debug, Default)]
struct Outcomes {
    refused: AtomicUsize,
    told: AtomicUsize,
    unaffected: AtomicUsize,
}

/// Damages a file in some way.
fn damage(image: &mut Vec<u8>, chance: &Entropy) -> String {
    let below = |end: usize| usize::try_from(chance.below(end as u64)).unwrap();
    let used: Vec<usize> = image
        .chunks(PAGE_BYTES)
        .enumerate()
        .filter(|(_, page)| page.iter().any(|it| *it != 0))
        .map(|(number, _)| number * PAGE_BYTES)
        .collect();
    let page = used[below(used.len())];
    match below(10) {
        0 => {
            let len = below(image.len());
            image.truncate(len);
            format!("cut to {len} bytes")
        }
        1 => {
            image[page..page + PAGE_BYTES].fill(0);
            format!("zeros at {page}")
        }
        2 => {
            let from = used[below(used.len())];
            image.copy_within(from..from + PAGE_BYTES, page);
            format!("the page at {from} at {page}")
        }
        3 => {
            let bytes = 1 + below(64);
            let at = page + below(PAGE_BYTES - bytes);
            chance.fill(&mut image[at..at + bytes]);
            format!("{bytes} other bytes at {at}")
        }
        _ => {
            // The beginning of a page, where its structure is, more often than the rest.
            let at = page + if below(2) == 0 { below(64) } else { below(PAGE_BYTES) };
            let bit = below(8);
            image[at] ^= 1 << bit;
            format!("bit {bit} at {at}")
        }
    }
}

#[tokio::test]
async fn damaged_bytes_are_refused_or_told_and_never_served() {
    let (images, books) = files().await;
    let outcomes = [Outcomes::default(), Outcomes::default()];
    std::thread::scope(|scope| {
        for ((image, outcomes), kind) in images.iter().zip(&outcomes).zip(0..) {
            let books = &books;
            scope.spawn(move || {
                for trial in 0..TRIALS {
                    let chance = Entropy::seeded(trial * 2 + kind);
                    let mut image = image.clone();
                    let what = damage(&mut image, &chance);
                    let open = || work::open(FaultDisk::on(image), &work::options());
                    let Ok(store) = disk::quietly(open) else {
                        outcomes.refused.fetch_add(1, Ordering::Relaxed);
                        continue;
                    };
                    let outcome = match store.read(content) {
                        Ok(found) => {
                            assert_eq!(&found, books, "trial {trial} of {kind}: {what}");
                            &outcomes.unaffected
                        }
                        Err(_) => &outcomes.told,
                    };
                    outcome.fetch_add(1, Ordering::Relaxed);
                    // The doctor looks at it all the same.
                    let _ = doctor::examine(&store);
                    store.close();
                }
            });
        }
    });
    println!("not closed: {:?}\nclosed: {:?}", outcomes[0], outcomes[1]);
    for outcomes in outcomes {
        assert!(outcomes.refused.into_inner() > 100, "damage is found");
        assert!(outcomes.unaffected.into_inner() > 0, "damage in free pages harms nobody");
    }
}

#[tokio::test]
async fn an_empty_file_is_a_new_store_and_a_foreign_or_cut_one_is_left_alone() {
    let store = work::open(FaultDisk::on(Vec::new()), &work::options()).unwrap();
    assert_eq!(store.read(content).unwrap().len(), 0);
    store.close();
    let ([_, whole], _) = files().await;
    let zeros = vec![0; 9 * 1024 * 1024];
    let headless = [vec![0; PAGE_BYTES], whole[PAGE_BYTES..].to_vec()].concat();
    let cut = whole[..whole.len() / 2].to_vec();
    let foreign = b"SQLite format 3\0".repeat(1_000);
    for image in [foreign, cut, headless, zeros, b"redb".to_vec(), b"x".to_vec()] {
        let disk = FaultDisk::on(image.clone());
        let refused = work::open(disk.clone(), &work::options()).err().unwrap();
        assert!(matches!(refused, Error::Unreadable { .. }), "{refused:?}");
        assert_eq!(disk.image().len(), image.len());
        assert!(disk.image() == image, "{refused}: the file was changed");
    }
}

#[test]
fn a_file_that_somebody_has_open_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let file = FileDisk::new(temp.path().join("errand.redb"));
    let first = work::open(file.clone(), &work::options()).unwrap();
    let second = work::open(file.clone(), &work::options()).err().unwrap();
    assert!(matches!(second, Error::Locked { .. }), "{second:?}");
    first.close();
    work::open(file, &work::options()).unwrap().close();
    let memory = FaultDisk::default();
    let _first = work::open(memory.clone(), &work::options()).unwrap();
    assert!(matches!(work::open(memory, &work::options()), Err(Error::Locked { .. })));
}

/// Damages of each kind of file.
const TRIALS: u64 = 600;
/// Bytes of a page of redb.
const PAGE_BYTES: usize = 4096;
