//! `link login`, `link logout`, `link whoami`, `link account`.

use link_client::{
    backend::{self, BackendClient, Tokens},
    http::{Failure, Http},
};
use link_protocol::{
    account_name::AccountName,
    backend_api::{
        account::{LoginRequest, Me, SetupRequest},
        local_owner::OwnerPassword,
        member::{Membership, Role},
    },
    id::{AccountId, UserId},
    personal_token::{self, PersonalToken},
    problem::Code,
    secret::Secret,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    args::{AccountCommand, Backend, CreateAccount, Login, Password},
    backend_login,
    command::device_login,
    context::Context,
    credentials::{Credentials, CredentialsFile},
    document::Component,
    error::CliError,
    local_backend::LocalBackend,
    output::{Cell, View},
    owner_login, prompt, secret_input,
};

/// The user, the account and the backend of a login.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct CurrentUser<'a> {
    #[schemars(with = "Component<UserId>")]
    user_id: UserId,
    #[schemars(with = "Component<AccountId>")]
    account_id: AccountId,
    /// The name by which other accounts know the account.
    #[schemars(with = "Option<Component<AccountName>>")]
    account_name: Option<&'a AccountName>,
    email: &'a str,
    /// The role of the user in the account.
    #[schemars(with = "Component<Role>")]
    role: Role,
    backend_url: &'a str,
}

/// The end of a login.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct LoggedOut {
    /// Whether there was a login.
    logged_out: bool,
    /// Whether the backend has revoked the login. Absent if there was no login.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked: Option<bool>,
}

/// The user whose password was set.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct PasswordSet {
    email: String,
}

pub(super) async fn run(context: &Context, command: AccountCommand) -> Result<(), CliError> {
    match command {
        AccountCommand::Create(arguments) => create(context, arguments).await,
        AccountCommand::Password(arguments) => set_password(context, arguments).await,
        AccountCommand::List => {
            let accounts = backend_login::logged_in(context)?.accounts().await?;
            let view = context.view();
            context.output.data(&accounts, |accounts| table(accounts, &view))
        }
        AccountCommand::Use { account } => {
            let backend = backend_login::logged_in(context)?;
            let tokens = backend.enter_account(account).await?;
            // The login of the previous account is not needed any more.
            let left = backend.log_out().await;
            let me =
                keep(context, backend.http(), tokens, &format!("switched to {account}")).await?;
            if let Err(failure) = left {
                let error = CliError::from(failure);
                context
                    .output
                    .say(&format!("the former login could not be revoked: {}", error.message));
            }
            if context.output.is_json() {
                show(context, &me, backend.http().base())
            } else {
                Ok(())
            }
        }
    }
}

pub(super) async fn login(context: &Context, arguments: Login) -> Result<(), CliError> {
    let http = http(context, &arguments.backend)?;
    if let Some(file) = &arguments.token_file {
        let token = secret_input::line_of(file, "token")?;
        let access = Secret::new(
            PersonalToken::parse(token.expose())
                .map_err(|why| {
                    CliError::usage(why.to_string()).hint(
                        "the token is truncated or mistyped; copy it again (nothing was sent)",
                    )
                })?
                .expose(),
        );
        let me = keep(context, &http, Tokens { access, refresh: None }, "logged in").await?;
        return if context.output.is_json() { show(context, &me, http.base()) } else { Ok(()) };
    }
    if arguments.device {
        let browser = !arguments.no_browser;
        let tokens = device_login::run(context, &http, browser, arguments.timeout).await?;
        let me = keep(context, &http, tokens, "logged in").await?;
        return if context.output.is_json() { show(context, &me, http.base()) } else { Ok(()) };
    }
    let email = email(arguments.email)?;
    let (me, _) = sign_in(context, &http, email, arguments.password_stdin).await?;
    if context.output.is_json() { show(context, &me, http.base()) } else { Ok(()) }
}

/// Logs in, and stores the login.
///
/// # Errors
/// If the backend refuses, or there is no password.
pub(super) async fn sign_in(
    context: &Context,
    http: &Http,
    email: String,
    password_stdin: bool,
) -> Result<(Me, Tokens), CliError> {
    let password = if password_stdin {
        secret_input::stdin_line("password")?
    } else {
        prompt::ask_secret("Password", "--password-stdin")?
    };
    let answer = backend::login(http, &LoginRequest { email, password }).await;
    let tokens = answer.map_err(|failure| refused(context, http, failure))?;
    let me = keep(context, http, tokens.clone(), "logged in").await?;
    Ok((me, tokens))
}

/// Explains why a login was refused. The owner of a backend of `link up` may never have had a password.
fn refused(context: &Context, http: &Http, failure: Failure) -> CliError {
    let is_own = LocalBackend::look(context).is_at(http.base());
    let is_wrong = failure.code() == Some(Code::InvalidCredentials);
    let error = CliError::from(failure);
    if is_own && is_wrong {
        error.hint(
            "this backend is your own: `link up` logs you in without a password, `link open` opens its pages, and \
             `link account password` sets a password",
        )
    } else {
        error
    }
}

async fn create(context: &Context, arguments: CreateAccount) -> Result<(), CliError> {
    let http = http(context, &arguments.backend)?;
    let setup_token = match &arguments.setup_token_file {
        Some(file) => match secret_input::line_of(file, "setup token") {
            Ok(token) => token,
            Err(error) => {
                ensure_not_set_up(&http).await?;
                return Err(error);
            }
        },
        None => {
            ensure_not_set_up(&http).await?;
            prompt::ask_secret("Setup token", "--setup-token-file")?
        }
    };
    let email = email(arguments.email)?;
    let password = if arguments.password_stdin {
        secret_input::stdin_line("password")?
    } else {
        prompt::ask_new_password()?
    };
    let request = SetupRequest { setup_token, email, password };
    let tokens = backend::set_up(&http, &request).await?;
    let me = keep(context, &http, tokens, "created the first account and logged in").await?;
    if context.output.is_json() { show(context, &me, http.base()) } else { Ok(()) }
}

/// Checks that the backend still waits for its first account, by a setup request with an empty token.
///
/// # Errors
/// If the backend already has an account. Then it has no setup token either, so asking for one is pointless.
async fn ensure_not_set_up(http: &Http) -> Result<(), CliError> {
    let empty = || Secret::new(String::new());
    let request = SetupRequest { setup_token: empty(), email: String::new(), password: empty() };
    match backend::set_up(http, &request).await {
        Err(failure) if failure.code() == Some(Code::AlreadySetUp) => Err(failure.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

pub(super) async fn logout(context: &Context) -> Result<(), CliError> {
    let file = CredentialsFile::of(&context.roots);
    let Some(login) = file.read()? else {
        context.output.say("nobody was logged in");
        let document = LoggedOut { logged_out: false, revoked: None };
        return context.output.data(&document, |_| String::new());
    };
    let is_personal = login.access_token.expose().starts_with(personal_token::PREFIX);
    let tokens = Tokens { access: login.access_token, refresh: login.refresh_token };
    let revoked = match Http::new(&login.backend_url) {
        Ok(http) => BackendClient::new(http, tokens, None).log_out().await.map_err(CliError::from),
        Err(error) => Err(error.into()),
    };
    file.remove()?;
    context.output.say(&format!("logged out of {}", login.backend_url));
    if is_personal {
        context.output.say("the token stays valid; revoke it with `link token revoke`");
    }
    if let Err(error) = &revoked {
        let end = "its refresh token stays valid until it expires";
        context
            .output
            .say(&format!("the backend could not revoke the login ({}): {end}", error.message));
    }
    let document = LoggedOut { logged_out: true, revoked: Some(revoked.is_ok()) };
    context.output.data(&document, |_| String::new())
}

pub(super) async fn whoami(context: &Context) -> Result<(), CliError> {
    let backend = backend_login::logged_in(context)?;
    let me = backend.me().await?;
    show(context, &me, backend.http().base())
}

/// Stores a login for later commands, and reports it.
///
/// # Errors
/// If the backend does not accept the tokens, or the file cannot be written.
pub(super) async fn keep(
    context: &Context,
    http: &Http,
    tokens: Tokens,
    done: &str,
) -> Result<Me, CliError> {
    let base = http.base().to_owned();
    let me = BackendClient::new(http.clone(), tokens.clone(), None).me().await?;
    let login = Credentials {
        backend_url: base.clone(),
        email: me.email.clone(),
        access_token: tokens.access,
        refresh_token: tokens.refresh,
    };
    CredentialsFile::of(&context.roots).write(&login)?;
    context.output.say(&format!("{done}: {} at {base}", me.email));
    Ok(me)
}

/// Sets the password of this user's own backend, and logs in again, because the change ends all logins.
async fn set_password(context: &Context, arguments: Password) -> Result<(), CliError> {
    let owner = LocalBackend::look(context).running()?;
    let password = if arguments.password_stdin {
        secret_input::stdin_line("password")?
    } else {
        prompt::ask_new_password()?
    };
    let request = OwnerPassword { proof: owner.proof.clone(), password };
    backend::set_owner_password(&Http::new(&owner.url)?, &request).await?;
    let email = owner_login::log_in(context, &owner).await?;
    context.output.say(&format!("{email} can log in at {} with this password", owner.url));
    context.output.data(&PasswordSet { email }, |_| String::new())
}

/// Prints the logged-in user.
///
/// # Errors
/// If stdout cannot be written.
pub(super) fn show(context: &Context, me: &Me, base: &str) -> Result<(), CliError> {
    let document = CurrentUser {
        user_id: me.user_id,
        account_id: me.account_id,
        account_name: me.account_name.as_ref(),
        email: &me.email,
        role: me.role,
        backend_url: base,
    };
    let of = me.account_name.as_ref().map(|name| format!(" of {name}")).unwrap_or_default();
    context.output.data(&document, |_| format!("{} at {base}, {}{of}", me.email, me.role.as_str()))
}

fn table(accounts: &[Membership], view: &View) -> String {
    let rows = accounts.iter().map(|account| {
        let Membership { account_id, account_name, role, joined_at, current } = account;
        let here = if *current { "*" } else { "" };
        let name = account_name.as_ref().map(ToString::to_string).unwrap_or_default();
        // `link account use` accepts only a complete id.
        let id = account_id.to_string().into();
        [here.into(), name.into(), id, role.as_str().into(), Cell::Time(*joined_at)]
    });
    view.table(["", "NAME", "ID", "ROLE", "SINCE"], rows)
}

fn http(context: &Context, backend: &Backend) -> Result<Http, CliError> {
    Ok(Http::new(&backend_login::backend_url(context, backend.url.as_deref())?)?)
}

fn email(given: Option<String>) -> Result<String, CliError> {
    given.map_or_else(|| prompt::ask_text("E-mail", "--email", prompt::check_email), Ok)
}
