//! `errand config`: the table of settings, seen from outside.

use errand::config::{Setting, reference};

use crate::support::Errand;

#[test]
fn what_is_shown_is_the_whole_table_with_its_defaults() {
    let errand = Errand::new();
    let shown = errand.json(&["config", "show"]);
    assert_eq!(shown["file"], serde_json::Value::Null);
    let settings = shown["settings"].as_array().unwrap();
    let names: Vec<&str> = settings.iter().map(|it| it["key"].as_str().unwrap()).collect();
    let table: Vec<&str> = Setting::all().map(|it| it.name).collect();
    assert_eq!(names, table);
    assert!(settings.iter().all(|it| it["source"] == "default"), "{shown}");
    let dir = settings.iter().find(|it| it["key"] == "data.dir").unwrap();
    assert_eq!(dir["value"], format!("{:?}", errand.data()));
    let text = errand.run(&["config", "show"]).out;
    let errand = errand.with("ERRAND_CONFIG", "shown.toml");
    errand.file("shown.toml", &text);
    assert_eq!(errand.run(&["config", "show"]).out, text, "what is shown is a settings file");
}

#[test]
fn each_source_is_named_and_the_strongest_wins() {
    let errand =
        Errand::new().with("ERRAND_DATA_VERIFY", "never").with("ERRAND_HTTP_IDLE_TIMEOUT", "3m");
    let text = "[data]\nverify = \"always\"\ncache_size = \"2MiB\"\ndir = \"/from/file\"\n";
    let file = errand.file("errand.toml", text);
    let args = ["config", "show", "--sources", "--config", &file, "--data-dir", "/from/flag"];
    let shown = errand.run(&args).out;
    let line = |key: &str| {
        let line = shown.lines().find(|it| it.starts_with(key)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("dir"), "dir = \"/from/flag\" # --data-dir");
    assert_eq!(line("verify"), "verify = \"never\" # ERRAND_DATA_VERIFY");
    assert_eq!(line("cache_size"), format!("cache_size = \"2MiB\" # {file}:3"));
    assert_eq!(line("idle_timeout"), "idle_timeout = \"3m\" # ERRAND_HTTP_IDLE_TIMEOUT");
    assert_eq!(line("body_timeout"), "body_timeout = \"15s\" # default");
}

#[test]
fn every_file_to_begin_with_is_accepted() {
    let errand = Errand::new();
    for profile in ["local", "proxy", "docker"] {
        let text = errand.run(&["config", "init", "--profile", profile]).out;
        let file = errand.file("errand.toml", &text);
        let checked = errand.run(&["config", "check", &file]);
        assert_eq!(checked.code, Some(0), "{profile}: {checked:?}");
        assert!(checked.out.contains(&file), "{profile}: {}", checked.out);
    }
    errand.refusal(2, &["config", "init", "--profile", "kubernetes"]);
}

#[test]
fn a_wrong_setting_ends_with_7_the_place_and_the_name_that_was_meant() {
    let errand = Errand::new();
    let text = "[http]\nlisten = \"localhost\"\nheader_timout = \"1s\"\n";
    let file = errand.file("errand.toml", text);
    let said = errand.refusal(7, &["config", "check", &file]);
    assert!(said.contains(&format!("{file}:2: http.listen must be")), "{said}");
    let meant = "http.header_timout is not a setting; did you mean http.header_timeout?";
    assert!(said.contains(&format!("{file}:3: {meant}")), "{said}");
    let file = errand.file("money.toml", "[agents]\nprice_seo_audit = 0.02\n");
    let said = errand.refusal(7, &["serve", "--config", &file]);
    assert!(said.contains("write \"0.02\"") && said.contains("binary fractions"), "{said}");
    let said = errand.refusal(7, &["config", "check", "absent.toml"]);
    assert!(said.contains("absent.toml: cannot be read"), "{said}");
    assert!(!errand.data().exists(), "a daemon with wrong settings made a directory");
}

#[test]
fn a_variable_that_sets_nothing_ends_with_7() {
    let errand = Errand::new().with("ERRAND_HTTP_LISTN", "127.0.0.1:0");
    for args in [&["config", "check"][..], &["serve"], &["dev"], &["account", "list"]] {
        let said = errand.refusal(7, args);
        assert!(said.contains("did you mean ERRAND_HTTP_LISTEN?"), "{args:?}: {said}");
    }
}

#[test]
fn files_that_settings_name_are_read_by_the_check() {
    let errand = Errand::new();
    let pem = errand.file("broken.pem", "not a certificate");
    let text = format!("[tls]\ncert = \"{pem}\"\nkey = \"{pem}\"\n");
    let file = errand.file("tls.toml", &text);
    assert!(errand.refusal(7, &["config", "check", &file]).contains("broken.pem"));
    let file = errand.file("roots.toml", &format!("[outbound]\nextra_roots = \"{pem}\"\n"));
    assert!(errand.refusal(7, &["config", "check", &file]).contains("broken.pem"));
    let file = errand.file("half.toml", &format!("[tls]\ncert = \"{pem}\"\n"));
    assert!(errand.refusal(7, &["config", "check", &file]).contains("tls.key"));
}

#[test]
fn a_file_is_found_where_the_user_keeps_settings() {
    let errand = Errand::new();
    std::fs::create_dir_all(errand.home().join(".config/errand")).unwrap();
    let file = errand.file(".config/errand/errand.toml", "[log]\nlevel = \"debug\"\n");
    assert_eq!(errand.json(&["config", "show"])["file"], file);
    assert_eq!(errand.json(&["config", "check"])["set"], serde_json::json!(["log.level"]));
}

#[test]
fn the_reference_is_printed_from_the_table() {
    let errand = Errand::new();
    assert_eq!(errand.run(&["config", "keys", "--markdown"]).out, reference());
    let listing = errand.run(&["config", "keys"]).out;
    for setting in Setting::all() {
        assert!(listing.contains(&format!("{} [{}]", setting.name, setting.variable())));
    }
}
