//! `releases`: the files that this backend publishes for devices.

use link_backend::{
    args::{Pull, Releases as Action},
    config::load::Loaded,
    releases::{FetchError, Keys, Place, PullError, Pulled, Releases, pull},
};
use link_platform::fs;
use link_protocol::exit_code::ExitCode;
use serde_json::json;

use crate::command::{
    must_not_be_root_for_another,
    outcome::{Ended, Refused, print},
};

/// The size limit of a file with a public key, in bytes.
const KEY_LIMIT: u64 = 64 * 1024;

pub(crate) async fn run(action: &Action, loaded: &Loaded, json: bool) -> Ended {
    match action {
        Action::Pull(options) => fill(options, loaded, json).await,
    }
}

async fn fill(options: &Pull, loaded: &Loaded, json: bool) -> Ended {
    let config = loaded.config()?;
    must_not_be_root_for_another(&config.data)?;
    let mut named = Vec::new();
    for file in &options.trust {
        named.push(fs::read_limited(file, KEY_LIMIT)?);
    }
    let development = options.development_release_keys.as_deref();
    let keys = Keys::new(development, &named).map_err(|error| refused(error.into()))?;
    let place = Place::parse(&options.from).map_err(|error| refused(error.into()))?;
    let releases = Releases::in_folder(&config.data);
    let pulled = pull(&releases, &place, &keys, options.allow_older).await.map_err(refused)?;
    print(&match json {
        true => {
            let Pulled { version, archives, engines, models, bytes } = pulled;
            json!({
                "version": version, "archives": archives, "engines": engines, "models": models,
                "bytes": bytes,
            })
            .to_string()
        }
        false => told(&pulled),
    })?;
    Ok(ExitCode::Success)
}

/// Describes what the backend now serves.
fn told(pulled: &Pulled) -> String {
    let Pulled { version, archives, engines, models, bytes } = pulled;
    let count = |number: usize, noun: &str| match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    };
    let release = version.as_ref().map_or("no release".to_owned(), |version| {
        format!("release {version} ({})", count(*archives, "archive"))
    });
    let engines = engines.map_or("no engine index".to_owned(), |engines| {
        format!("an engine index ({})", count(engines, "engine"))
    });
    let models = models.map_or("no model catalogue".to_owned(), |models| {
        format!("a model catalogue ({})", count(models, "model"))
    });
    format!("now serving {release}, {engines}, {models}: {bytes} bytes")
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
        PullError::Release(_)
        | PullError::Index(_)
        | PullError::Catalogue(_)
        | PullError::Bounds(_) => ExitCode::SignatureInvalid,
        PullError::Older { .. } | PullError::OlderDocument { .. } => ExitCode::Downgrade,
    };
    Refused::new(code, error)
}
