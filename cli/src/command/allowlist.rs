//! `link allowlist`: the web origins that new deployments of the account allow.

use link_protocol::{allowlist::Origin, backend_api::account::AllowlistSetting};

use crate::{
    args::AllowlistCommand,
    backend_login,
    context::Context,
    error::CliError,
    output::{Cell, View},
};

/// The result of a command for the account's origins.
#[derive(Debug, Eq, PartialEq)]
struct Change {
    /// The new origins. None if they do not change.
    origins: Option<Vec<Origin>>,
    said: String,
}

pub(super) async fn run(context: &Context, command: AllowlistCommand) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let setting = match command {
        AllowlistCommand::List => backend.allowlist().await?,
        AllowlistCommand::Add { origin } => {
            carry_out(context, &backend, |setting| add(setting, &origin)).await?
        }
        AllowlistCommand::Remove { origin } => {
            carry_out(context, &backend, |setting| remove(setting, &origin)).await?
        }
    };
    context.output.data(&setting, |setting| table(setting, &context.view()))
}

async fn carry_out(
    context: &Context,
    backend: &link_client::backend::BackendClient,
    change: impl Fn(&AllowlistSetting) -> Change,
) -> Result<AllowlistSetting, CliError> {
    let mut said = String::new();
    let setting = backend
        .change_allowlist(|setting| {
            let change = change(setting);
            said = change.said;
            change.origins
        })
        .await?;
    context.output.say(&said);
    Ok(setting)
}

fn add(setting: &AllowlistSetting, origin: &Origin) -> Change {
    if setting.origins.contains(origin) {
        return Change { origins: None, said: format!("{origin} is already on the allowlist") };
    }
    if setting.defaults.contains(origin) {
        let said = format!("{origin} is already on every account's allowlist");
        return Change { origins: None, said };
    }
    let said = format!(
        "added {origin}; deployed models get it with `link repair-serving MODEL` or a redeployment"
    );
    let origins = setting.origins.iter().chain([origin]).cloned().collect();
    Change { origins: Some(origins), said }
}

fn remove(setting: &AllowlistSetting, origin: &Origin) -> Change {
    let is_default = setting.defaults.contains(origin);
    if !setting.origins.contains(origin) {
        let said = if is_default {
            format!(
                "{origin} is a default of the backend, so nothing was changed; its administrator \
                 changes the defaults with `--allowed-origin`"
            )
        } else {
            format!("{origin} is not on the allowlist")
        };
        return Change { origins: None, said };
    }
    let kept = setting.origins.iter().filter(|kept| *kept != origin).cloned().collect();
    let said = if is_default {
        format!("removed {origin}; it stays allowed as a default of the backend")
    } else {
        format!("removed {origin}; deployed models keep it until they are repaired")
    };
    Change { origins: Some(kept), said }
}

fn table(setting: &AllowlistSetting, view: &View) -> String {
    let own = setting.origins.iter().map(|origin| [Cell::Text(origin.to_string()), "".into()]);
    let defaults = setting
        .defaults
        .iter()
        .map(|origin| [Cell::Text(origin.to_string()), "default of the backend".into()]);
    view.table(["ORIGIN", "FROM"], own.chain(defaults))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn a_default_is_neither_added_nor_removed_by_an_account() {
        let setting = setting(&["https://own.example"], &["https://work.example"]);
        let stays = |change: Change| (change.origins, change.said);
        let (origins, said) = stays(add(&setting, &origin("https://work.example")));
        assert_eq!(origins, None);
        assert!(said.contains("every account"), "{said}");
        let (origins, said) = stays(remove(&setting, &origin("https://work.example")));
        assert_eq!(origins, None);
        assert!(said.contains("--allowed-origin"), "{said}");
    }

    #[test]
    fn the_accounts_own_origins_are_sent_without_the_defaults() {
        let setting = setting(&["https://own.example"], &["https://work.example"]);
        let added = add(&setting, &origin("https://new.example"));
        let both = [origin("https://own.example"), origin("https://new.example")];
        assert_eq!(added.origins, Some(both.to_vec()));
        let removed = remove(&setting, &origin("https://own.example"));
        assert_eq!(removed.origins, Some(vec![]));
        assert_eq!(remove(&setting, &origin("https://no.example")).origins, None);
    }

    #[test]
    fn a_list_tells_the_accounts_origins_from_the_defaults() {
        let setting = setting(&["https://own.example"], &["https://work.example"]);
        assert_eq!(
            table(&setting, &View::exact(Timestamp::UNIX_EPOCH)),
            "ORIGIN                FROM\n\
             https://own.example\n\
             https://work.example  default of the backend"
        );
    }

    fn setting(origins: &[&str], defaults: &[&str]) -> AllowlistSetting {
        let read = |texts: &[&str]| texts.iter().map(|text| origin(text)).collect();
        AllowlistSetting { origins: read(origins), defaults: read(defaults) }
    }

    fn origin(text: &str) -> Origin {
        text.parse().unwrap()
    }
}
