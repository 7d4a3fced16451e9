//! Where the signing secret comes from: a flag, a file, or the `dev.json` of `errand dev`.

use crate::cli::command::Here;
use crate::cli::dev_file::{self, DevFile, Found};
use crate::cli::exit::{Exit, Failure};
use crate::cli::input;
use crate::cli::webhook::args::SecretArgs;
use crate::config::Mode;
use crate::domain::signature::SigningSecret;

/// The secret that the flags name.
///
/// # Errors
///
/// When there is none, or what there is has not the form of one. It is never repeated.
pub(super) fn secret(here: &Here, args: &SecretArgs) -> Result<SigningSecret, Failure> {
    if let Some(typed) = &args.secret {
        return parse(&typed.0, "--secret");
    }
    match &args.secret_file {
        Some(path) => {
            let bytes = input::read(path, SECRET_FILE_BYTES_MAX)?;
            parse(&String::from_utf8_lossy(&bytes), path)
        }
        None => parse(&dev_file(here)?.signing_secret, "the signing_secret of dev.json"),
    }
}

/// The file that `errand dev` keeps for programs.
///
/// # Errors
///
/// [`Exit::NotFound`] when there is none, with the flags that do without it.
pub(super) fn dev_file(here: &Here) -> Result<DevFile, Failure> {
    let dir = here.load_as(Mode::Dev, None, &[])?.config.data.dir;
    match dev_file::read(&dir) {
        Found::File(file) => Ok(file),
        Found::Nothing => {
            let what = format!("there is no dev.json in {}", dir.display());
            Err(Failure::new(Exit::NotFound, what).then(
                "name the signing secret with --secret-file FILE, \
                 or the directory of `errand dev` with --data-dir DIR",
            ))
        }
        Found::Damaged(why) => {
            let what = format!("dev.json in {} could not be read: {why}", dir.display());
            Err(Failure::new(Exit::Failed, what))
        }
    }
}

fn parse(text: &str, place: &str) -> Result<SigningSecret, Failure> {
    SigningSecret::parse(text.trim()).ok_or_else(|| {
        let what = format!("{place} is not a signing secret");
        Failure::new(Exit::Usage, what).then("one is `whsec_` and base64, as it was shown once")
    })
}

/// Bytes of a file with a secret.
const SECRET_FILE_BYTES_MAX: usize = 1024;
