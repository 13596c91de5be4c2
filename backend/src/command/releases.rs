//! `releases`: what this backend hands on to devices.

use link_backend::{
    args::{Pull, Releases as Action},
    config::load::Loaded,
    releases::{FetchError, Keys, Place, PullError, Pulled, Releases, pull},
};
use link_platform::fs;
use link_protocol::exit_code::ExitCode;
use serde_json::json;

use crate::command::{
    must_exist,
    outcome::{Ended, Refused, print},
};

/// The longest file with a public key that is read, in bytes.
const KEY_LIMIT: u64 = 64 * 1024;

pub(crate) async fn run(action: &Action, loaded: &Loaded, json: bool) -> Ended {
    match action {
        Action::Pull(options) => fill(options, loaded, json).await,
    }
}

async fn fill(options: &Pull, loaded: &Loaded, json: bool) -> Ended {
    let config = loaded.config()?;
    must_exist(&config.data)?;
    let mut named = Vec::new();
    for file in &options.trust {
        named.push(fs::read_limited(file, KEY_LIMIT)?);
    }
    let development = options.development_release_keys.as_deref();
    let keys = Keys::new(development, &named).map_err(|error| refused(error.into()))?;
    let place = Place::parse(&options.from).map_err(|error| refused(error.into()))?;
    let releases = Releases::in_folder(&config.data);
    let pulled = pull(&releases, &place, &keys, options.allow_older).await.map_err(refused)?;
    let Pulled { version, archives, engines, bytes } = pulled;
    print(&match json {
        true => json!({
            "version": version, "archives": archives, "engines": engines, "bytes": bytes,
        })
        .to_string(),
        false => {
            let engines = match engines {
                Some(engines) => format!("an index of engines with {engines} of them"),
                None => "no index of engines".to_owned(),
            };
            let release = match archives {
                0 => "no release".to_owned(),
                _ => format!("release {version} with {archives} archives"),
            };
            format!("served from here on: {release}, {engines}, {bytes} bytes")
        }
    })?;
    Ok(ExitCode::Success)
}

fn refused(error: PullError) -> Refused {
    let code = match &error {
        PullError::Busy => ExitCode::Busy,
        PullError::Nobody | PullError::Keys(_) | PullError::Fetch(FetchError::Address(_)) => {
            ExitCode::Usage
        }
        PullError::Fetch(FetchError::Altered(_) | FetchError::TooLong(_)) => {
            ExitCode::ChecksumMismatch
        }
        PullError::Fetch(FetchError::File { .. }) | PullError::File(_) => ExitCode::CannotWrite,
        PullError::Fetch(_) | PullError::Missing(_) | PullError::Malformed(_) => {
            ExitCode::DownloadFailed
        }
        PullError::Release(_) | PullError::Index(_) | PullError::Bounds(_) => {
            ExitCode::SignatureInvalid
        }
        PullError::Older { .. } => ExitCode::Downgrade,
    };
    Refused::new(code, error)
}
