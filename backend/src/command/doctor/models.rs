//! Checks that model files can be written, and that the files of the database's models exist.

use std::{collections::BTreeSet, path::Path, time::Duration};

use link_backend::{
    config::load::Loaded,
    content::{self, BucketConfig, BucketFault, ContentError, Contents, Home},
    tables::upkeep::Inspection,
};
use link_protocol::error_chain::chain;

use crate::command::doctor::{Finding, bad, good, is_local, warning};

/// The deadline for all checks of a bucket. Each request has a shorter deadline.
const LOOK_TIMEOUT: Duration = Duration::from_secs(60);

/// Writes, reads and deletes a test object, if model files are stored in a bucket.
pub(super) async fn bucket(loaded: &Loaded, data: &Path, findings: &mut Vec<Finding>) {
    let Home::Bucket(config) = &loaded.content else { return };
    let shown = shown(config);
    let probed = match Contents::open(data, &loaded.content) {
        Ok(contents) => tokio::time::timeout(LOOK_TIMEOUT, contents.probe()).await,
        Err(error) => {
            let next = "look at the keys below `content`";
            findings.push(bad("bucket", chain(error.as_ref()), next));
            return;
        }
    };
    findings.push(match probed {
        Ok(Ok(())) => good("bucket", format!("{shown} can be written, read and deleted from")),
        Ok(Err(error)) => bad("bucket", format!("{shown}: {}", said(&error)), next_step(&error)),
        Err(_elapsed) => bad("bucket", format!("{shown} takes too long"), UNREACHABLE),
    });
    if config.endpoint.starts_with("http://") && !is_local(&config.endpoint) {
        let said = format!("{} is not encrypted", config.endpoint);
        findings.push(warning("bucket", said, "let the store speak TLS, or be on this machine"));
    }
}

/// Compares the models in the database with the existing files.
pub(super) async fn contents(
    loaded: &Loaded,
    data: &Path,
    found: &Inspection,
    findings: &mut Vec<Finding>,
) {
    let (place, present) = match &loaded.content {
        Home::Folder => {
            let folder = data.join(content::FOLDER);
            // A check must not create the folder.
            let present = if folder.is_dir() { names(loaded, data).await } else { Ok(None) };
            (format!("`{}`", folder.display()), present)
        }
        Home::Bucket(config) => (shown(config), names(loaded, data).await),
    };
    let present = match present {
        Ok(present) => present.unwrap_or_default(),
        Err(error) => {
            findings.push(bad("models", said(&error), next_step(&error)));
            return;
        }
    };
    let wanted: BTreeSet<String> = found.contents.iter().cloned().collect();
    let missing: Vec<_> = wanted.difference(&present).cloned().collect();
    let orphans: Vec<_> = present.difference(&wanted).cloned().collect();
    if !missing.is_empty() {
        let said = format!("{} model files are missing: {}", missing.len(), missing.join(", "));
        let next = match &loaded.content {
            Home::Folder => {
                "restore them from a backup, or delete these models and upload them again"
            }
            Home::Bucket(_) => {
                "copy them there from where they are (docs/operations.md), or delete these models \
                 and upload them again"
            }
        };
        findings.push(bad("models", said, next));
    }
    if !orphans.is_empty() {
        let said = format!("{} files belong to no model: {}", orphans.len(), orphans.join(", "));
        let next =
            format!("they only take space; if no upload is running, delete them from {place}");
        findings.push(warning("models", said, next));
    }
    if missing.is_empty() && orphans.is_empty() {
        findings.push(good("models", format!("all {} files are there", wanted.len())));
    }
}

async fn names(loaded: &Loaded, data: &Path) -> Result<Option<BTreeSet<String>>, ContentError> {
    let unreachable = || ContentError::Bucket(BucketFault::Unreachable(None));
    let contents = Contents::open(data, &loaded.content).map_err(|_error| unreachable())?;
    let names = tokio::time::timeout(LOOK_TIMEOUT, contents.names()).await;
    names.unwrap_or_else(|_elapsed| Err(unreachable())).map(Some)
}

const UNREACHABLE: &str = "does the store run, is `content.endpoint` right, and do the firewall \
                           and the certificate let this machine in?";

fn next_step(error: &ContentError) -> &'static str {
    let ContentError::Bucket(BucketFault::Refused { status, code, .. }) = error else {
        return UNREACHABLE;
    };
    match (code.as_str(), status) {
        ("NoSuchBucket", _) => "make the bucket, or set `content.bucket` to the right one",
        ("RequestTimeTooSkewed", _) => "set the clock of this machine (`timedatectl set-ntp true`)",
        ("InvalidAccessKeyId" | "SignatureDoesNotMatch", _) => {
            "are `content.access_key`, its secret and `content.region` right?"
        }
        (_, 301 | 307) => "set `content.region` and `content.endpoint` to those of the bucket",
        (_, 401 | 403) => {
            "may this access key list, read, write and delete in the bucket, is its secret right, \
             and the clock of this machine?"
        }
        (_, 404) => "set `content.bucket` and `content.addressing` to the right ones",
        (_, _) => UNREACHABLE,
    }
}

fn said(error: &ContentError) -> String {
    match error {
        ContentError::Bucket(fault) => fault.said(),
        ContentError::Folder(cause) => format!("{error}: {cause}"),
        ContentError::Missing => error.to_string(),
    }
}

fn shown(config: &BucketConfig) -> String {
    format!("`{}/{}` of {}", config.bucket, config.prefix, config.endpoint)
}
