//! Looks at the installation, the service, the plugins and the engines.

use link_installer::{
    engines::Engines,
    intact,
    layout::Layout,
    path_files::{self, Resolved},
    plugins::Plugins,
    receipt,
    service::{Tier, linger_by_owner},
    versions,
};
use link_platform::{fs, user_manager};
use link_protocol::{backend_api::model::LANGUAGE_MODEL, report::ModelState};

use super::Seen;
use crate::{
    agent_config,
    context::Context,
    doctor::{
        installation::{Command, Installation, Receipt},
        models::{Build, Engine, Models},
        service::Service,
    },
    error::chain,
    local_backend, path_setup, service,
};

/// The name of the file by which a folder is tried.
const TRIED: &str = ".link-doctor";

pub(super) fn installation(context: &Context, layout: &Layout) -> Installation {
    let roots = &context.roots;
    let folders = [&roots.state, &roots.config, &roots.run()].map(Clone::clone);
    let open_to_others = folders.iter().filter(|folder| fs::is_open_to_others(folder)).cloned();
    let written = [&roots.data, &roots.state, &roots.config];
    let unwritable = written.into_iter().filter(|folder| folder.is_dir()).filter_map(|folder| {
        let file = folder.join(TRIED);
        let tried = fs::write_private(&file, b"").and_then(|()| fs::remove_file(&file));
        tried.err().map(|error| (folder.clone(), chain(&error)))
    });
    Installation {
        receipt: receipt(layout),
        command: command(context, layout),
        path_can_be_edited: !path_setup::look(context, layout).0.edits.is_empty(),
        open_to_others: open_to_others.collect(),
        unwritable: unwritable.collect(),
        configuration: agent_config::faults(context),
    }
}

fn receipt(layout: &Layout) -> Receipt {
    let path = layout.receipt();
    let receipt = match receipt::Receipt::load(&path) {
        Ok(Some(receipt)) => receipt,
        Ok(None) => return Receipt::Absent(path),
        Err(error) => return Receipt::Unreadable(chain(&error)),
    };
    let Some(version) = versions::current(layout) else {
        let why = format!("`{}` leads to no version", layout.current().display());
        return Receipt::Unreadable(why);
    };
    let version = version.to_string();
    if receipt.version(&version).is_none() {
        return Receipt::Unreadable(format!("it does not list version {version}, which is in use"));
    }
    let mut damaged = intact::damaged(layout);
    damaged.extend((!intact::has_guard(layout)).then(|| layout.guard()));
    damaged.extend(layout.commands().into_iter().filter(|command| !command.exists()));
    Receipt::Version { version, damaged }
}

fn command(context: &Context, layout: &Layout) -> Command {
    let ours = layout.command();
    if context.environment.has_own_home {
        return Command::NotAsked(
            "LINK_HOME is set, so its commands need not be on PATH".to_owned(),
        );
    }
    if !ours.exists() {
        let why = format!("`{}` is not installed, so no shell was asked", ours.display());
        return Command::NotAsked(why);
    }
    let Some(shells) = path_setup::shells(context) else {
        return Command::NotAsked("this user has no home folder".to_owned());
    };
    let user = user_manager::user_name().unwrap_or_default();
    match path_files::resolve_in_login_shell(&shells, &user, "link") {
        Resolved::Found(found) if found == ours => Command::Ours,
        Resolved::Found(found) => Command::Other { found, ours },
        Resolved::Nothing => Command::Nothing { ours },
        Resolved::NotAsked(shell) => {
            Command::NotAsked(format!("the shell {} cannot be asked", shell.display()))
        }
    }
}

pub(super) fn service(context: &Context, layout: &Layout, running: bool) -> Service {
    let start = local_backend::start_command(context);
    let availability = service::availability(context, start);
    let runs_beside_its_unit = running && service::uses_unit(layout) && !service::is_active(layout);
    let can_linger = availability.tier == Tier::SystemdUser
        && user_manager::systemd_is_init()
        && !availability.survives_logout;
    let user = user_manager::user_name().filter(|_| can_linger);
    Service {
        availability,
        runs_beside_its_unit,
        command: user.map(|user| linger_by_owner(&user)),
        start,
    }
}

pub(super) fn models(context: &Context, seen: &Seen) -> Models {
    let plugins = Plugins::find(&context.roots);
    let models = seen.health.as_ref().map(|health| health.models.clone()).unwrap_or_default();
    // An older agent does not name the plugin of a model, so the default one stands for it.
    let needed: Vec<_> = models
        .iter()
        .filter(|model| model.state != ModelState::Removed)
        .map(|model| model.plugin.clone().unwrap_or_else(|| LANGUAGE_MODEL.to_owned()))
        .collect();
    let engines = plugins.usable().map(|plugin| {
        let engine = &plugin.manifest.engine;
        let builds = Engines::of(&context.roots.engines(), &engine.name, &engine.executable);
        let current = builds.list().unwrap_or_default().into_iter().find(|build| build.current);
        let build = current.map(|build| Build {
            fault: builds.start(&build.name).err().map(|error| chain(&error)),
            name: build.name,
        });
        let is_needed = needed.contains(&plugin.manifest.id);
        Engine { plugin: plugin.manifest.id.clone(), build, is_needed }
    });
    let unusable = plugins.unusable.iter();
    Models {
        unusable_plugins: unusable.map(|one| (one.folder.clone(), one.why.clone())).collect(),
        engines: engines.collect(),
        models,
        containment: seen.health.as_ref().and_then(|health| health.containment),
    }
}
