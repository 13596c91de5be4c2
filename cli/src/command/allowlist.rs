//! `link allowlist`: the web origins that deployments carry from now on.

use link_protocol::backend_api::account::AllowlistSetting;

use crate::{args::AllowlistCommand, context::Context, error::CliError, session};

pub(super) async fn run(context: &Context, command: AllowlistCommand) -> Result<(), CliError> {
    let backend = session::logged_in(context)?;
    let mut origins = backend.allowlist().await?.origins;
    let (changed, done) = match command {
        AllowlistCommand::List => (false, String::new()),
        AllowlistCommand::Add { origin } if origins.contains(&origin) => {
            (false, format!("{origin} is on the allowlist already"))
        }
        AllowlistCommand::Add { origin } => {
            let done = format!(
                "added {origin}; models that are deployed get it with `link repair-serving MODEL` or a redeployment"
            );
            origins.push(origin);
            (true, done)
        }
        AllowlistCommand::Remove { origin } if !origins.contains(&origin) => {
            (false, format!("{origin} is not on the allowlist"))
        }
        AllowlistCommand::Remove { origin } => {
            origins.retain(|kept| *kept != origin);
            (true, format!("removed {origin}"))
        }
    };
    let setting =
        if changed { backend.set_allowlist(origins).await? } else { AllowlistSetting { origins } };
    if !done.is_empty() {
        context.output.say(&done);
    }
    context.output.data(&setting, |setting| {
        let lines: Vec<_> = setting.origins.iter().map(ToString::to_string).collect();
        lines.join("\n")
    })
}
