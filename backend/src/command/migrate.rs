//! `migrate`: runs pending migrations, or lists them.

use link_backend::{
    args::Migrate,
    config::load::Loaded,
    database::{Store, StoreError},
    tables::upkeep,
};
use link_protocol::exit_code::ExitCode;
use serde_json::json;

use crate::command::{
    lock, must_not_be_root_for_another,
    outcome::{Ended, Refused, print},
};

/// Runs pending migrations while the data folder is locked.
pub(crate) async fn run(loaded: &Loaded, options: Migrate, json: bool) -> Ended {
    let config = loaded.config()?;
    must_not_be_root_for_another(&config.data)?;
    let file = upkeep::file(&config.data);
    let found = match &config.database_url {
        Some(url) => Some(upkeep::inspect_server(url).await.map_err(unreachable)?),
        None if file.exists() => Some(upkeep::inspect(&file).await.map_err(Refused::failed)?),
        None => None,
    };
    let pending = if let Some(found) = found {
        if let Some(version) = found.unknown() {
            let said = format!(
                "the database has seen change {version}, which this program does not know: use the \
                 version of link-backend that made it, or a newer one"
            );
            return Err(Refused::failed(anyhow::Error::msg(said)));
        }
        found.pending()
    } else {
        upkeep::migrations()
    };
    if !options.dry_run && !pending.is_empty() {
        let _lock = lock(&config.data)?;
        let store = Store::open(&config.data, config.database_url.as_ref())
            .await
            .map_err(Refused::failed)?;
        store.close().await;
    }
    let lines =
        pending.iter().map(|change| format!("{:04} {}", change.version, change.description));
    let lines: Vec<_> = lines.collect();
    print(&match (json, options.dry_run, lines.is_empty()) {
        (true, dry_run, _) => json!({ "changes": lines, "done": !dry_run }).to_string(),
        (false, _, true) => "the tables are up to date".to_owned(),
        (false, true, false) => format!("to do:\n  {}", lines.join("\n  ")),
        (false, false, false) => format!("done:\n  {}", lines.join("\n  ")),
    })?;
    Ok(ExitCode::Success)
}

fn unreachable(error: StoreError) -> Refused {
    let cause = anyhow::Error::new(error).context("cannot look at the database server");
    Refused::new(ExitCode::Unreachable, cause)
}
