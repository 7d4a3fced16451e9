//! The report that is shown as an example is the one that the agent writes today.

use std::path::Path;

use errand::domain::outcome::Outcome;
use serde_json::json;

use crate::street::Street;

/// A page of the corpus.
fn page(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_example_is_what_a_scan_writes() {
    let mut street = Street::new();
    street.open("harbourlight.example");
    street.open("lantern.example");
    street.open("seilerei.example");
    street.put("harbourlight.example", "/", &page("pairs/same.a.html"));
    street.put("lantern.example", "/pricing", &page("pairs2/api-cta.a.html"));
    street.put("seilerei.example", "/", &page("pairs2/de-price.a.html"));
    let input = json!({
        "competitors": ["http://lantern.example/pricing", "http://seilerei.example/"],
        "own_url": "http://harbourlight.example/",
    });
    street.scan_of(&input).await;
    street.put("lantern.example", "/pricing", &page("pairs2/api-table-price.b.html"));
    street.put("seilerei.example", "/", &page("pairs2/de-menu.b.html"));
    let Outcome::Succeeded(report) = street.scan_of(&input).await else { panic!("no report") };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/reports/competitor_scan.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &report.output).unwrap();
    }
    assert_eq!(report.output, std::fs::read_to_string(&path).unwrap_or_default());
    assert!(report.output.chars().count() < 30_000);
}
