//! What a scan asks for: what robots.txt allows, wherever a redirect leads, and slowly enough.

use errand::domain::outcome::Outcome;
use serde_json::json;

use crate::street::{Street, changes, home};

fn asked(street: &Street) -> Vec<String> {
    street.asked.lock().unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_a_forbidden_path_is_not_followed() {
    let mut street = Street::new();
    street.put("a.example", "/robots.txt", "User-agent: *\nDisallow: /private/");
    street.lead("a.example", "/", "/private/home");
    street.put("a.example", "/private/home", &home("Boats on time", 29, ""));
    let outcome = street.scan().await;
    assert!(!asked(&street).contains(&"a.example/private/home".to_owned()), "{outcome:?}");
    let Outcome::Succeeded(report) = outcome else { panic!("{outcome:?}") };
    let reason = "robots.txt forbids it in line 2: `Disallow: /private/` (refused)";
    assert!(report.output.contains(reason), "{}", report.output);
}

#[tokio::test(start_paused = true)]
async fn a_redirect_to_another_host_asks_that_host_for_its_rules() {
    let mut street = Street::new();
    let page = home("Boats on time", 29, "<p><a href=/pricing>Pricing</a></p>");
    street.put("a.example", "/", &page);
    for (path, to) in [("/pricing", "http://c.example/prices"), ("/features", "http://d.example/")]
    {
        street.lead("a.example", path, to);
    }
    street.open("c.example");
    street.open("d.example");
    street.put("c.example", "/robots.txt", "User-agent: *\nDisallow: /");
    street.put("c.example", "/prices", &home("Prices", 29, ""));
    street.put("d.example", "/", &home("Features", 29, ""));
    let outcome = street.scan().await;
    let asked = asked(&street);
    let has = |it: &str| asked.iter().any(|asked| asked == it);
    assert!(has("c.example/robots.txt") && !has("c.example/prices"), "{asked:?}");
    assert!(has("d.example/robots.txt") && has("d.example/"), "{asked:?}");
    let Outcome::Succeeded(report) = outcome else { panic!("{outcome:?}") };
    let left_out = "the pricing page was left out: robots.txt forbids it in line 2";
    assert!(report.output.contains(left_out), "{}", report.output);
}

#[tokio::test(start_paused = true)]
async fn one_host_is_asked_as_slowly_as_it_wishes_also_for_the_second_time() {
    let mut street = Street::new();
    street.open("shared.example");
    street.put("shared.example", "/robots.txt", "User-agent: *\nCrawl-delay: 7");
    let input = json!({
        "competitors": ["http://shared.example/one", "http://shared.example/two"],
    });
    for price in [29, 35] {
        for path in ["/one", "/two", "/features"] {
            street.put("shared.example", path, &home("Boats on time", price, ""));
        }
        street.asked_at.lock().unwrap().clear();
        let outcome = street.scan_of(&input).await;
        assert!(price == 29 || changes(&outcome).len() == 2, "{outcome:?}");
        let times = street.asked_at.lock().unwrap().clone();
        assert!(times.len() >= 10, "{times:?}");
        for pair in times.windows(2) {
            assert!(pair[1].since(pair[0]).as_secs() >= 7, "{times:?}");
        }
    }
}
