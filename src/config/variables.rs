//! Settings in variables: `ERRAND_SECTION_KEY`, or `…_FILE` for a value that is in a file.

use std::path::Path;

use crate::config::environment::{Environment, PREFIX};
use crate::config::error::{Fault, Place};
use crate::config::load::{Given, read_limited, unknown};
use crate::config::raw::Raw;
use crate::config::table::Setting;

/// The value of a setting's variable, or of the file that `…_FILE` names.
pub(super) fn value(
    here: &Environment,
    setting: &Setting,
    faults: &mut Vec<Fault>,
) -> Option<Given> {
    let name = setting.variable();
    let file_name = format!("{name}{FILE_SUFFIX}");
    match (here.var(&name), here.var(&file_name)) {
        (None, None) => None,
        (Some(_), Some(_)) => {
            let what = format!("{name} is set as well; unset one of the two");
            faults.push(Fault::new(Place::Variable(file_name), what));
            None
        }
        (Some(words), None) => {
            Some(Given { place: Place::Variable(name), value: Raw::Words(words.to_owned()) })
        }
        (None, Some(path)) => {
            let place = Place::Variable(file_name);
            match read_limited(&here.absolute(Path::new(path)), VALUE_BYTES_MAX) {
                Ok(text) => Some(Given { place, value: Raw::Words(text.trim_end().to_owned()) }),
                Err(error) => {
                    faults.push(Fault::new(place, format!("{path} cannot be read: {error}")));
                    None
                }
            }
        }
    }
}

/// Refuses variables of ours that set nothing.
pub(super) fn check(here: &Environment, faults: &mut Vec<Fault>) {
    let (ours, unreadable) = here.ours();
    for name in unreadable {
        faults.push(Fault::new(Place::Variable(name.to_owned()), "its value is not UTF-8"));
    }
    for (name, _) in ours {
        let bare = name.strip_suffix(FILE_SUFFIX).unwrap_or(name);
        let is_known = |it: &str| Setting::all().any(|setting| setting.variable() == it);
        if OF_COMMANDS.contains(&name) || is_known(bare) || is_known(name) {
            continue;
        }
        // Sections are single words, so the first mark ends the section.
        let rest = bare.strip_prefix(PREFIX).unwrap_or(bare).to_lowercase();
        let meant = Setting::meant(&rest.replacen('_', ".", 1)).map(Setting::variable);
        let place = Place::Variable(name.to_owned());
        faults.push(Fault::new(place, unknown("no setting has this name", meant.as_deref())));
    }
}

/// The variable that names the settings file.
pub(super) const CONFIG_VARIABLE: &str = "ERRAND_CONFIG";
/// Variables that commands read: the settings file, and whom a client asks with which key.
const OF_COMMANDS: [&str; 3] = [CONFIG_VARIABLE, BASE_URL_VARIABLE, API_KEY_VARIABLE];
/// The variable with the base URL that commands of clients ask.
pub const BASE_URL_VARIABLE: &str = "ERRAND_BASE_URL";
/// The variable with the key that they show.
pub const API_KEY_VARIABLE: &str = "ERRAND_API_KEY";
/// What follows a variable's name when its value is in a file.
const FILE_SUFFIX: &str = "_FILE";
/// Bytes of a file that has one value.
const VALUE_BYTES_MAX: u64 = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(variables: &[(&str, &str)]) -> Vec<String> {
        let here = Environment::of(Path::new("/place"), variables);
        let mut faults = Vec::new();
        check(&here, &mut faults);
        for setting in Setting::all() {
            value(&here, setting, &mut faults);
        }
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_variable_that_sets_nothing_is_led_back_to_one_that_does() {
        assert_eq!(
            faults(&[("ERRAND_HTTP_LISTN", "x")]),
            ["ERRAND_HTTP_LISTN: no setting has this name; did you mean ERRAND_HTTP_LISTEN?"]
        );
        assert_eq!(
            faults(&[("ERRAND_LISTEN", "x")]),
            ["ERRAND_LISTEN: no setting has this name; did you mean ERRAND_HTTP_LISTEN?"]
        );
        assert_eq!(
            faults(&[("ERRAND_SMTP_PASSWORD", "x")]),
            ["ERRAND_SMTP_PASSWORD: no setting has this name; `errand config keys` lists all"]
        );
        let good = [("ERRAND_CONFIG", "x"), ("ERRAND_DATA_DIR", "x"), ("ERRAND_PORT", "x")];
        assert!(faults(&good).is_empty());
        assert!(faults(&[("ERRAND_BASE_URL", "x"), ("ERRAND_API_KEY", "x")]).is_empty());
    }

    #[test]
    fn a_value_may_be_in_a_file_but_not_in_both_places() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("level");
        std::fs::write(&path, "debug\n").unwrap();
        let path = path.display().to_string();
        let here = Environment::of(Path::new("/place"), &[("ERRAND_LOG_LEVEL_FILE", &path)]);
        let setting = Setting::find("log.level").unwrap();
        let given = value(&here, setting, &mut Vec::new()).unwrap();
        assert_eq!(given.value, Raw::Words("debug".to_owned()));
        let both = [("ERRAND_LOG_LEVEL_FILE", path.as_str()), ("ERRAND_LOG_LEVEL", "info")];
        assert_eq!(
            faults(&both),
            ["ERRAND_LOG_LEVEL_FILE: ERRAND_LOG_LEVEL is set as well; unset one of the two"]
        );
        let gone = faults(&[("ERRAND_LOG_LEVEL_FILE", "/no/file")]);
        assert!(gone[0].contains("/no/file cannot be read"), "{gone:?}");
    }

    #[test]
    fn an_empty_variable_is_none() {
        assert!(faults(&[("ERRAND_LOG_LEVEL", ""), ("ERRAND_LOG_LEVEL_FILE", "")]).is_empty());
    }
}
