//! `cargo xtask run`: registers the device if requested, then replaces itself with the agent.
//!
//! Secrets reach `link` through the environment or standard input, never as arguments, and the
//! agent receives none of them.

use std::{ffi::OsString, path::Path};

use anyhow::Context as _;
use clap::Args;
use link_installer::layout::Layout;
use link_platform::{paths::Roots, process};

use super::{
    BuildOption, HomeOption,
    checkout::{Checkout, done, installation, say},
    install::{self, Service},
    secrets::{KEY, SECRETS, TOKEN},
    stop,
    trouble::Trouble,
};

/// How to run.
#[derive(Args)]
pub(crate) struct Options {
    /// Install this checkout's build for this user, and let the service manager run it
    #[arg(long, conflicts_with = "agent_args")]
    prod: bool,
    #[command(flatten)]
    build: BuildOption,
    #[command(flatten)]
    pub(super) home: HomeOption,
    #[command(flatten)]
    registration: Registration,
    /// Arguments for the agent
    #[arg(last = true, value_name = "AGENT ARGS")]
    agent_args: Vec<OsString>,
}

/// The arguments for `link register`, which runs unless the device is registered.
#[derive(Args)]
struct Registration {
    /// Address of the backend
    #[arg(long, value_name = "URL")]
    backend: Option<String>,
    /// Log in with this e-mail address; prompts for the password
    #[arg(long, value_name = "EMAIL")]
    email: Option<String>,
    /// Read the password from stdin
    #[arg(long, requires = "email")]
    password_stdin: bool,
    /// Access token, instead of a login; `-` reads it from stdin
    #[arg(long, env = TOKEN, hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,
    /// Re-activate this device
    #[arg(long, value_name = "ID")]
    device_id: Option<String>,
    /// Key for one device; `-` reads it from stdin
    #[arg(long, env = KEY, hide_env_values = true, value_name = "KEY")]
    registration_key: Option<String>,
}

/// Runs the agent. Returns only on failure, or if the service manager runs the agent.
///
/// # Errors
/// The reason why the agent does not run.
pub(super) fn run(checkout: &Checkout, options: Options) -> anyhow::Result<()> {
    let Options { prod, build, registration, agent_args, .. } = options;
    if prod {
        install::place(checkout, &build, Service::Manager)?;
        register(checkout, None, &registration)?;
        return install::check_service();
    }
    checkout.home.prepare()?;
    if stop::runs(&Layout::new(checkout.home.roots()))? {
        let what = format!("the agent of {} runs already", checkout.home.path().display());
        return Err(Trouble::new(what, "stop it with `cargo xtask stop`").into());
    }
    checkout.build(&build)?;
    register(checkout, Some(checkout.home.path()), &registration)?;
    let agent = checkout.program("link-agent")?;
    say(&format!("the agent runs in {}; Ctrl-C stops it", checkout.home.path().display()));
    become_agent(&agent, checkout.home.path(), agent_args)
}

/// Registers the device of the home `home`, or that of the installation, unless it is registered.
fn register(
    checkout: &Checkout,
    home: Option<&Path>,
    registration: &Registration,
) -> anyhow::Result<()> {
    let roots = home.map_or_else(installation, |home| Ok(Roots::below(home)))?;
    let Registration { email, token, device_id, registration_key, .. } = registration;
    if roots.identity().exists() {
        say("the device is registered");
        return Ok(());
    }
    if email.is_none() && token.is_none() && registration_key.is_none() && device_id.is_none() {
        println!("the device is not registered: use --registration-key, --email or --token");
        return Ok(());
    }
    say("registering the device");
    let mut link = checkout.link()?;
    link.arg("register");
    if let Some(home) = home {
        link.env("LINK_HOME", home);
    }
    let shown =
        [("--backend", &registration.backend), ("--email", email), ("--device-id", device_id)];
    for (flag, value) in shown {
        if let Some(value) = value {
            link.args([flag, value]);
        }
    }
    if registration.password_stdin {
        link.arg("--password-stdin");
    }
    let secret = [("--token", TOKEN, token), ("--registration-key", KEY, registration_key)];
    for (flag, variable, value) in secret {
        match value.as_deref() {
            Some("-") => {
                link.args([flag, "-"]);
            }
            Some(value) => {
                link.env(variable, value);
            }
            None => {}
        }
    }
    let next = "fix this; without these arguments the agent runs unregistered";
    done(&mut link, "the device was not registered", next)
}

/// Replaces this process with the agent, which keeps the process id, terminal and signals.
fn become_agent(agent: &Path, home: &Path, arguments: Vec<OsString>) -> anyhow::Result<()> {
    let mut home_variable = OsString::from("LINK_HOME=");
    home_variable.push(home);
    let mut words: Vec<OsString> =
        SECRETS.iter().flat_map(|secret| ["-u".into(), OsString::from(secret)]).collect();
    words.extend([home_variable, agent.into()]);
    words.extend(arguments);
    let error = process::replace_image(Path::new("env"), &words);
    Err(error).with_context(|| format!("failed to start `{}`", agent.display()))
}
