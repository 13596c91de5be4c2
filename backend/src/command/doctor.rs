//! `doctor`: lists current and expected problems, each with its remedy.

mod models;

use std::{
    io,
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use link_backend::{
    config::load::Loaded,
    content::Home,
    database::Fault,
    host::clock::{Clock as _, SystemClock},
    tables::upkeep::{self, Inspection},
};
use link_platform::{disk, fs};
use link_protocol::{error_chain::chain, exit_code::ExitCode, secret::Secret};
use serde::Serialize;

use crate::command::{
    LOCK,
    outcome::{Ended, print},
};

/// Free disk space below which `doctor` warns, in bytes.
const SPACE_WANTED: u64 = 2 * 1024 * 1024 * 1024;
/// Free disk space below which `doctor` reports an error, in bytes.
const SPACE_NEEDED: u64 = 200 * 1024 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The tolerated difference between two clocks.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_mins(5);
/// The text for a database that may be intact.
const UNCHECKED: &str = "it could not be checked";
/// A time before the build of this program. A clock that shows an earlier time is wrong.
const BUILT_AFTER: Timestamp = Timestamp::constant(1_767_225_600, 0);

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Good,
    Warning,
    Bad,
}

/// The result of one check.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    level: Level,
    found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
}

fn good(check: &'static str, found: impl Into<String>) -> Finding {
    Finding { check, level: Level::Good, found: found.into(), next_step: None }
}

fn warning(check: &'static str, found: impl Into<String>, next: impl Into<String>) -> Finding {
    Finding { check, level: Level::Warning, found: found.into(), next_step: Some(next.into()) }
}

fn bad(check: &'static str, found: impl Into<String>, next: impl Into<String>) -> Finding {
    Finding { check, level: Level::Bad, found: found.into(), next_step: Some(next.into()) }
}

/// Runs all checks and prints their results.
pub(crate) async fn run(loaded: &Loaded, json: bool) -> Ended {
    let data = loaded.data()?.to_owned();
    let mut findings = Vec::new();
    let is_running = match folder(&data, &mut findings) {
        true => is_locked(&data),
        false => false,
    };
    if data.is_dir() {
        space(loaded, &data, &mut findings);
        models::bucket(loaded, &data, &mut findings).await;
        match &loaded.database_url {
            Some(url) => server(loaded, url, &mut findings).await,
            None => database(loaded, &mut findings).await,
        }
    }
    listen(loaded, is_running, &mut findings);
    public_url(loaded, &mut findings).await;
    let worst = findings.iter().map(|finding| finding.level).max();
    print(&if json {
        serde_json::to_string_pretty(&findings).unwrap_or_default()
    } else {
        findings.iter().map(line).collect::<Vec<_>>().join("\n")
    })?;
    Ok(if worst == Some(Level::Bad) { ExitCode::Failed } else { ExitCode::Success })
}

fn line(finding: &Finding) -> String {
    let mark = match finding.level {
        Level::Good => "ok     ",
        Level::Warning => "warning",
        Level::Bad => "BAD    ",
    };
    let next = finding.next_step.as_ref().map(|next| format!("\n          -> {next}"));
    format!("{mark}  {}: {}{}", finding.check, finding.found, next.unwrap_or_default())
}

/// Checks that the data folder exists.
fn folder(data: &Path, findings: &mut Vec<Finding>) -> bool {
    let shown = data.display();
    let Ok(found) = std::fs::metadata(data) else {
        let next = "`link-backend serve` makes it, or give the right one with --data DIR";
        findings.push(bad("folder", format!("`{shown}` is not there"), next));
        return false;
    };
    let mode = found.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let said = format!("other users may look into `{shown}` (mode {mode:o})");
        findings.push(bad("folder", said, format!("run `chmod 700 {shown}`")));
    } else {
        findings.push(match tempfile::tempfile_in(data) {
            Ok(_) => good("folder", format!("`{shown}` is private and can be written")),
            Err(error) => unwritable(data, &error),
        });
    }
    true
}

/// Distinguishes a disk that does not accept writes from a user who may not write.
fn unwritable(data: &Path, error: &io::Error) -> Finding {
    let shown = data.display();
    let kind = error.kind();
    if kind == io::ErrorKind::ReadOnlyFilesystem {
        return bad(
            "folder",
            format!("the disk of `{shown}` is read-only"),
            "read `dmesg` for the reason: after an error of the disk, check the disk; then mount it \
             for writing and restart the backend",
        );
    }
    if matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        return bad("folder", format!("the disk of `{shown}` is full"), "make room on the disk");
    }
    if kind == io::ErrorKind::PermissionDenied {
        return bad(
            "folder",
            format!("this user cannot write to `{shown}`"),
            "run this as the user that the backend runs as",
        );
    }
    bad(
        "folder",
        format!("`{shown}` cannot be written: {error}"),
        "read `dmesg` for the reason, and check the disk",
    )
}

/// Tells whether a backend runs, by its lock. A missing lock file is not created.
fn is_locked(data: &Path) -> bool {
    let path = data.join(LOCK);
    path.exists() && matches!(fs::try_lock(&path), Ok(None))
}

fn space(loaded: &Loaded, data: &Path, findings: &mut Vec<Finding>) {
    let Ok(Some(free)) = disk::free_bytes(data) else { return };
    let reserve = match &loaded.content {
        Home::Folder => loaded.values.content.reserve_bytes(),
        Home::Bucket(_) => 0,
    };
    let said = format!("{} MiB are free", free / (1024 * 1024));
    let next = "make room, or move the data folder to a larger disk";
    findings.push(match free {
        _ if free < reserve => {
            let reserve = loaded.values.content.reserve_mib;
            let said = format!("{said}, and uploads are refused below {reserve} MiB");
            bad("disk", said, "make room, or set `content.reserve_mib` lower")
        }
        0..SPACE_NEEDED => bad("disk", said, next),
        SPACE_NEEDED..SPACE_WANTED => warning("disk", said, next),
        SPACE_WANTED.. => good("disk", said),
    });
}

async fn database(loaded: &Loaded, findings: &mut Vec<Finding>) {
    let Ok(data) = loaded.data() else { return };
    let file = upkeep::file(data);
    if !file.exists() {
        findings.push(warning("database", "there is none yet", "`link-backend serve` makes it"));
        return;
    }
    let mode = std::fs::metadata(&file).map_or(0, |found| found.permissions().mode() & 0o777);
    if mode & 0o077 != 0 {
        let said = format!("other users may read it (mode {mode:o})");
        findings.push(bad("database", said, format!("run `chmod 600 {}`", file.display())));
    }
    let restore = "stop the backend, keep a copy of the folder, and restore the latest backup with \
                   `link-backend restore FILE --force`";
    match upkeep::inspect(&file).await {
        Err(error) => {
            let (found, next) = match error.fault() {
                Some(Fault::Damaged) => ("it is damaged", restore),
                Some(Fault::Full) => (UNCHECKED, "make room on the disk, and run this again"),
                Some(Fault::Unwritable) | None => (
                    UNCHECKED,
                    "run this again as the user that the backend runs as, on a disk that can be \
                     written",
                ),
            };
            let said = format!("{found}: {}", chain(&error));
            findings.push(bad("database", said, next));
        }
        Ok(found) => {
            match found.damages.first() {
                Some(damage) => {
                    let more = found.damages.len() - 1;
                    let said = format!("it is damaged: {damage} (and {more} more)");
                    findings.push(bad("database", said, restore));
                }
                None => findings.push(good("database", "it is whole")),
            }
            schema(&found, findings);
            clock(&found, findings);
            models::contents(loaded, data, &found, findings).await;
        }
    }
}

/// Checks that a database server answers, and inspects its database. The server checks its own files.
async fn server(loaded: &Loaded, url: &Secret, findings: &mut Vec<Finding>) {
    let Ok(data) = loaded.data() else { return };
    let asked = tokio::time::timeout(ANSWER_TIMEOUT, upkeep::inspect_server(url)).await;
    let next = "does PostgreSQL run, is the address in `database.url_file` right, and does \
                pg_hba.conf admit this machine?";
    match asked {
        Ok(Ok(found)) => {
            findings.push(good("database", "PostgreSQL answers"));
            schema(&found, findings);
            clock(&found, findings);
            models::contents(loaded, data, &found, findings).await;
        }
        Ok(Err(error)) => {
            findings.push(bad("database", chain(&error), next));
        }
        Err(_elapsed) => findings.push(bad("database", "PostgreSQL does not answer", next)),
    }
}

fn schema(found: &Inspection, findings: &mut Vec<Finding>) {
    let at = found.applied.last().copied().unwrap_or(0);
    findings.push(match (found.unknown(), found.pending().len()) {
        (Some(version), _) => bad(
            "schema",
            format!("change {version} of the tables is of a newer link-backend"),
            "use that version or a newer one",
        ),
        (None, 0) => good("schema", format!("the tables are at change {at}, the newest")),
        (None, pending) => warning(
            "schema",
            format!("the tables are at change {at}, and {pending} more are to do"),
            "`link-backend migrate`, or start the backend: it does them",
        ),
    });
}

fn clock(found: &Inspection, findings: &mut Vec<Finding>) {
    let now = SystemClock.now();
    let ahead = found.newest.map(|newest| newest.duration_since(now));
    let next = "set the clock, and let it be kept by NTP (`timedatectl set-ntp true`)";
    findings.push(if now < BUILT_AFTER {
        bad("clock", format!("it says {now}, which is before this program was made"), next)
    } else if ahead.is_some_and(|ahead| ahead > CLOCK_TOLERANCE) {
        bad("clock", format!("it says {now}, and a command was placed later than that"), next)
    } else {
        good("clock", format!("it says {now}"))
    });
}

fn listen(loaded: &Loaded, is_running: bool, findings: &mut Vec<Finding>) {
    let address = loaded.values.listen;
    if is_running && address.port() != 0 {
        findings.push(match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(_) => good("listen", format!("the backend runs and {address} takes connections")),
            Err(error) => warning(
                "listen",
                format!("a backend runs in this folder and {address} does not answer: {error}"),
                "was it started with another configuration or other flags?",
            ),
        });
    } else if is_running {
        findings.push(good("listen", "the backend runs"));
    } else {
        findings.push(match TcpListener::bind(address) {
            Ok(_) => good("listen", format!("no backend runs here, and {address} is free")),
            Err(error) => bad(
                "listen",
                format!("cannot listen on {address}: {error}"),
                "set `listen` to another address, or end what uses this one",
            ),
        });
    }
    if !address.ip().is_loopback() {
        let next = "let it be a loopback address with a TLS proxy in front (docs/operations.md)";
        let said = format!("{address} is reached from other machines without TLS");
        findings.push(warning("listen", said, next));
    }
}

async fn public_url(loaded: &Loaded, findings: &mut Vec<Finding>) {
    let Some(url) = &loaded.values.public_url else {
        let next = "set `public_url` to the address that people and devices use";
        findings.push(warning("public url", "it is not set", next));
        return;
    };
    // Another test in this process may have installed the provider already.
    let _installed = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().timeout(ANSWER_TIMEOUT).build();
    let asked = match client {
        Ok(client) => client.get(format!("{url}/healthz")).send().await,
        Err(error) => Err(error),
    };
    findings.push(match asked {
        Ok(answer) if answer.status().is_success() => {
            let certificate = if url.starts_with("https") {
                "answers with a certificate that this machine trusts"
            } else {
                "answers"
            };
            good("public url", format!("{url} {certificate}"))
        }
        Ok(answer) => bad(
            "public url",
            format!("{url}/healthz answers {}", answer.status()),
            "does the proxy in front lead to this backend?",
        ),
        Err(error) => {
            let said = format!("{url} cannot be reached: {}", chain(&error));
            let next = "look at the name, the firewall, the proxy, and the certificate: is it \
                        expired, or of an authority that this machine does not trust?";
            bad("public url", said, next)
        }
    });
    if url.starts_with("http://") && !is_local(url) {
        let next = "put a TLS proxy in front (docs/operations.md)";
        findings.push(warning("public url", format!("{url} is not encrypted"), next));
    }
}

fn is_local(url: &str) -> bool {
    ["http://127.", "http://localhost", "http://[::1]"].iter().any(|start| url.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_written_is_told_apart_by_its_cause() {
        for (kind, found, next) in [
            (io::ErrorKind::ReadOnlyFilesystem, "the disk of `/data` is read-only", "`dmesg`"),
            (io::ErrorKind::StorageFull, "the disk of `/data` is full", "make room on the disk"),
            (io::ErrorKind::QuotaExceeded, "the disk of `/data` is full", "make room on the disk"),
            (
                io::ErrorKind::PermissionDenied,
                "this user cannot write to `/data`",
                "run this as the user that the backend runs as",
            ),
            (
                io::ErrorKind::TimedOut,
                "`/data` cannot be written: timed out",
                "read `dmesg` for the reason, and check the disk",
            ),
        ] {
            let finding = unwritable(Path::new("/data"), &io::Error::from(kind));
            assert!(finding.level == Level::Bad && finding.check == "folder", "{kind}");
            assert_eq!(finding.found, found);
            let step = finding.next_step.unwrap_or_default();
            assert!(step.contains(next), "{kind}: {step}");
        }
    }
}
