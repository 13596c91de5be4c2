//! `cargo xtask install`: installs this checkout's build for this user.
//!
//! The build is packed, signed with the key that `scripts/prepare` keeps for this machine, and
//! installed by `install.sh` like a release. The command neither adds nor removes a service. It
//! starts the agent only if the agent ran before, or if the service manager is to run it.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use link_installer::{layout::Layout, service};
use link_platform::fs;

use super::{
    BuildOption,
    checkout::{Checkout, done, installation, is_set, say},
    plugin, stop,
    trouble::Trouble,
};

/// The folder of the packed build, beside the signing key.
const RELEASE: &str = "checkout-release";
/// The environment variable that chooses what starts the agent.
const SERVICE: &str = "LINK_SERVICE";

/// How to install.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    build: BuildOption,
}

/// What starts the agent after the installation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Service {
    /// The same as before the installation.
    AsBefore,
    /// The service manager, which also starts it at once.
    Manager,
}

/// Installs the build.
///
/// # Errors
/// The reason why nothing was installed.
pub(super) fn run(checkout: &Checkout, options: &Options) -> anyhow::Result<()> {
    place(checkout, &options.build, Service::AsBefore)?;
    let link = Layout::new(installation()?).command();
    say(&format!("installed: `{} start` starts the agent", link.display()));
    Ok(())
}

/// Builds, packs and installs the programs.
///
/// # Errors
/// The reason why nothing was installed.
pub(super) fn place(
    checkout: &Checkout,
    build: &BuildOption,
    service: Service,
) -> anyhow::Result<()> {
    let layout = Layout::new(installation()?);
    let was_running = stop::runs(&layout)?;
    checkout.build(build)?;
    say("packing and signing the build");
    let (release, trusted) = pack(checkout)?;
    say("installing it");
    let mut script = checkout.command("sh");
    script
        .arg(checkout.root().join("scripts/install.sh"))
        .env("LINK_INSTALL_URL", format!("file://{}", release.display()))
        .env("LINK_DEV_RELEASE_KEYS", trusted);
    if !is_set(SERVICE) {
        match service {
            Service::Manager => {
                script.env(SERVICE, service::manager().word());
            }
            Service::AsBefore if service::manager().made(&layout).is_none() => {
                script.env(SERVICE, "none");
            }
            Service::AsBefore => {}
        }
    }
    for secret in super::secrets::SECRETS {
        script.env_remove(secret);
    }
    done(&mut script, "the build was not installed", "do what the script says above")?;
    let plugin = plugin::find(checkout.root(), plugin::FIRST)?;
    plugin.install_engine(checkout, &layout.roots().engines())?;
    if service == Service::AsBefore && !was_running {
        stop::stop(checkout, None)?;
    }
    Ok(())
}

/// Checks that the service manager runs the installed agent, unless `LINK_SERVICE` says otherwise.
///
/// # Errors
/// If the service manager does not run it.
pub(super) fn check_service() -> anyhow::Result<()> {
    if is_set(SERVICE) || service::manager().has_unit(&Layout::new(installation()?)) {
        return Ok(());
    }
    let what = "the agent runs, but no service will restart it";
    let next = "run this where `systemctl --user status` works, or omit --prod";
    Err(Trouble::new(what, next).into())
}

/// Packs and signs the build; returns the folder and the public key.
fn pack(checkout: &Checkout) -> anyhow::Result<(PathBuf, String)> {
    let engines = checkout.prepare(&["release-key"])?;
    let key = engines.parent().context("the cache has no folder")?.join("release-key");
    let public = fs::read_to_string(&key.with_extension("pub"))?;
    let release = key.with_file_name(RELEASE);
    let mut dist = checkout.command(checkout.program("xtask")?);
    dist.args(["dist", "--profile", "dev", "--executables"]).arg(checkout.programs());
    dist.arg("--sign-with").arg(key).arg("--out").arg(&release);
    let packed = dist.output().context("failed to start `xtask dist`")?;
    anyhow::ensure!(
        packed.status.success(),
        "the build was not packed: {}",
        String::from_utf8_lossy(&packed.stderr).trim()
    );
    Ok((release, public.trim().to_owned()))
}
