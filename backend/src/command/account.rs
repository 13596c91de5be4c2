//! `create-account` and `reset-password`. Everyone who may run the program on the data folder may
//! use them.

use std::io::{self, BufRead as _, IsTerminal as _};

use anyhow::Context as _;
use link_backend::{
    app::App,
    args::{NewAccount, Person},
    auth::setup_token::SetupToken,
    config::load::Loaded,
};
use link_platform::fs;
use link_protocol::{backend_api::account::Me, exit_code::ExitCode, secret::Secret};

use crate::command::{
    must_not_be_root_for_another,
    outcome::{Ended, Refused, print},
};

/// Creates an account and prints its id.
pub(crate) async fn create(loaded: &Loaded, wish: &NewAccount, json: bool) -> Ended {
    let config = loaded.config()?;
    let data = config.data.clone();
    fs::create_private_dir(&data)?;
    must_not_be_root_for_another(&data)?;
    let password = password()?;
    let app = App::open(config).await?;
    let me = app.add_account(&wish.email, wish.name.clone(), password).await?;
    // The setup token is useless once there is an account.
    SetupToken::remove(&data).context("failed to delete the setup token")?;
    tell(&me, me.account_id.to_string(), json)?;
    app.store().close().await;
    Ok(ExitCode::Success)
}

/// Sets the password of a user.
pub(crate) async fn reset_password(loaded: &Loaded, person: &Person, json: bool) -> Ended {
    let config = loaded.config()?;
    must_not_be_root_for_another(&config.data)?;
    let password = password()?;
    let app = App::open(config).await?;
    let user = app.reset_password(&person.email, password).await?;
    let email = user.email.as_str();
    let told = serde_json::json!({
        "user_id": user.id, "account_id": user.account, "email": email,
    });
    let text = format!("{email} has another password and must log in again");
    print(&if json { told.to_string() } else { text })?;
    app.store().close().await;
    Ok(ExitCode::Success)
}

fn tell(me: &Me, text: String, json: bool) -> Result<(), Refused> {
    print(&if json { serde_json::to_string(me).unwrap_or_default() } else { text })
}

/// On a terminal, prompts twice without echo. Otherwise reads the first line of standard input.
fn password() -> Result<Secret, Refused> {
    let ended = |error: io::Error| Refused::usage(format!("cannot read the password: {error}"));
    if io::stdin().is_terminal() {
        // Echo is turned off before the prompt appears, so that a password that is pasted at once
        // stays hidden.
        let _hidden = link_platform::terminal::hide_input();
        let first = rpassword::prompt_password("Password: ").map_err(ended)?;
        let again = rpassword::prompt_password("Once more: ").map_err(ended)?;
        if first != again {
            return Err(Refused::usage("the two passwords differ; nothing was changed"));
        }
        return Ok(Secret::new(first));
    }
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(ended)?;
    let line = line.trim_end_matches(['\n', '\r']);
    if line.is_empty() {
        return Err(Refused::usage("the standard input holds no password"));
    }
    Ok(Secret::new(line))
}
