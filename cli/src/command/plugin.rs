//! `link plugin`: the plugins of this machine.

mod check;
mod contract;
mod install;
mod new;
mod publish;

pub(super) use self::{
    check::Checked,
    new::Made,
    publish::{MadeKey, Packed},
};

use link_installer::plugins::{ChangeError, Holder, Origin, Place, Plugin, Plugins};
use link_protocol::{
    exit_code::ExitCode,
    plugin::{Manifest, Setting, Unit},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::trust::{self, Purpose};
use crate::{
    args::PluginCommand,
    context::Context,
    document::Removed,
    error::{CliError, chain},
    error_code::ErrorCode,
};

/// A plugin of this machine.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Listed {
    plugin: String,
    version: String,
    /// `installed` by a person, `shipped` with the release, or `unusable`.
    place: &'static str,
    description: String,
    /// Why the plugin is not usable.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

/// What a plugin runs, serves, counts and offers.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Shown {
    plugin: String,
    version: String,
    description: String,
    licence: String,
    /// The folder of the plugin. Absent for a plugin of the release, and for a checked folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    /// The key that signed the archive from which the plugin was installed, or `release` for a release key. Absent for a
    /// plugin from a folder and for a plugin of the release.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed_by: Option<String>,
    engine: String,
    /// The builds of the engine that the plugin accepts, its default first.
    builds: Vec<String>,
    /// The format of its models.
    models: String,
    /// The paths that clients may reach.
    paths: Vec<String>,
    /// The unit in which inferences are counted: `tokens`, `seconds` or `images`.
    usage: &'static str,
    settings: Vec<Offered>,
}

/// A setting of a plugin.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Offered {
    name: String,
    description: String,
    /// The values that the setting takes, as text for a person.
    takes: String,
    /// The value that applies if nobody sets one.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<String>,
}

pub(super) async fn run(context: &Context, command: PluginCommand) -> Result<(), CliError> {
    match command {
        PluginCommand::List => list(context),
        PluginCommand::Show { id } => {
            let plugin = find(context, &id)?;
            show(context, &plugin.manifest, Some(&plugin.place))
        }
        PluginCommand::New { place, language } => new::run(context, &place, language),
        PluginCommand::Check { folder, timeout } => check::run(context, &folder, timeout).await,
        PluginCommand::Install { from, source } => {
            install::run(context, &from, source.as_deref()).await
        }
        PluginCommand::Trust(arguments) => trust::run(context, Purpose::PluginArchives, &arguments),
        PluginCommand::Key { file } => publish::key(context, &file),
        PluginCommand::Pack { folder, sign_with, out, serial } => {
            publish::pack(context, &folder, &out, &sign_with, serial)
        }
        PluginCommand::Remove { id } => {
            Plugins::remove(&context.roots, &id).map_err(explain)?;
            context.output.say(&format!("removed the plugin {id}"));
            context.output.data(&Removed { removed: id }, |_| String::new())
        }
    }
}

/// Finds a plugin of this machine.
///
/// # Errors
/// If no usable plugin has this id.
pub(super) fn find(context: &Context, id: &str) -> Result<Plugin, CliError> {
    let plugins = Plugins::find(&context.roots);
    plugins.by_id(id).cloned().ok_or_else(|| {
        let message = format!("this machine has no usable plugin `{id}`");
        CliError::new(ExitCode::Failed, ErrorCode::UnknownName, message)
            .hint("`link plugin list` shows the plugins and their faults")
    })
}

fn list(context: &Context) -> Result<(), CliError> {
    let plugins = Plugins::find(&context.roots);
    let usable = plugins.usable().map(|Plugin { manifest, place }| Listed {
        plugin: manifest.id.clone(),
        version: manifest.version.to_string(),
        place: match place {
            Place::Installed(_) => "installed",
            Place::Shipped => "shipped",
        },
        description: manifest.description.clone(),
        fault: None,
    });
    let unusable = plugins.unusable.iter().map(|unusable| Listed {
        plugin: unusable.folder.clone(),
        version: String::new(),
        place: "unusable",
        description: String::new(),
        fault: Some(unusable.why.clone()),
    });
    let listed: Vec<Listed> = usable.chain(unusable).collect();
    context.output.data(&listed, |_| {
        let row = |one: &Listed| {
            let what = one.fault.as_ref().unwrap_or(&one.description);
            [
                one.plugin.clone().into(),
                one.version.clone().into(),
                one.place.into(),
                what.clone().into(),
            ]
        };
        context.view().table(["PLUGIN", "VERSION", "PLACE", "WHAT"], listed.iter().map(row))
    })
}

fn show(context: &Context, manifest: &Manifest, place: Option<&Place>) -> Result<(), CliError> {
    context.output.data(&shown(manifest, place), Shown::in_words)
}

/// Returns what a plugin runs, serves, counts and offers.
fn shown(manifest: &Manifest, place: Option<&Place>) -> Shown {
    let Manifest { id, version, description, licence, engine, adapter } = manifest;
    let offered = |(name, setting): (&String, &Setting)| Offered {
        name: name.clone(),
        description: setting.description().to_owned(),
        takes: setting.expected(),
        default: setting.default_value().map(|value| value.to_string()),
    };
    let folder = place.and_then(|place| match place {
        Place::Installed(folder) => Some(&**folder),
        Place::Shipped => None,
    });
    Shown {
        plugin: id.clone(),
        version: version.to_string(),
        description: description.clone(),
        licence: licence.clone(),
        folder: folder.map(|folder| folder.display().to_string()),
        signed_by: folder.and_then(Origin::of).map(|origin| origin.signed_by),
        engine: engine.name.clone(),
        builds: engine.accepted_builds.clone(),
        models: adapter.model.format.clone(),
        paths: adapter.paths().map(str::to_owned).collect(),
        usage: match adapter.usage.unit {
            Unit::Tokens => "tokens",
            Unit::Seconds => "seconds",
            Unit::Images => "images",
        },
        settings: adapter.settings.iter().map(offered).collect(),
    }
}

impl Shown {
    fn in_words(&self) -> String {
        let mut lines = vec![
            format!("plugin       {} {}", self.plugin, self.version),
            format!("description  {}", self.description),
            format!("licence      {}", self.licence),
        ];
        lines.extend(self.folder.iter().map(|folder| format!("folder       {folder}")));
        lines.extend(
            self.signed_by.iter().map(|key| format!("signed by    {}", install::signer(key))),
        );
        lines.push(format!("engine       {} ({})", self.engine, self.builds.join(", ")));
        lines.push(format!("models       {}", self.models));
        lines.push(format!("serves       {}", self.paths.join(", ")));
        lines.push(format!("counts       {}", self.usage));
        for Offered { name, description, takes, default } in &self.settings {
            let default = default.as_ref().map(|value| format!(", default {value}"));
            let default = default.unwrap_or_default();
            lines.push(format!("setting      {name}: {description}; {takes}{default}"));
        }
        if !self.settings.is_empty() {
            lines.push("set with     link model deploy MODEL --set NAME=VALUE".to_owned());
        }
        lines.join("\n")
    }
}

fn invalid(error: &(dyn std::error::Error + 'static)) -> CliError {
    CliError::new(ExitCode::Usage, ErrorCode::InvalidPlugin, chain(error))
        .hint("correct the plugin's files and check them again with `link plugin check FOLDER`")
}

fn explain(error: ChangeError) -> CliError {
    let (exit, code, hint) = match &error {
        ChangeError::Busy => (ExitCode::Busy, ErrorCode::Busy, "retry in a moment"),
        ChangeError::Plugin(error) => return invalid(error),
        ChangeError::Taken { by: Holder::Release, .. } => (
            ExitCode::Failed,
            ErrorCode::Declined,
            "nothing was changed; ask the publisher for a plugin with an id of its own",
        ),
        ChangeError::Taken { .. } => (
            ExitCode::Failed,
            ErrorCode::Declined,
            "nothing was changed; remove that plugin first with `link plugin remove` if this one may replace it",
        ),
        ChangeError::Older { .. } => (
            ExitCode::Downgrade,
            ErrorCode::Downgrade,
            "nothing was changed; remove the plugin first with `link plugin remove` if you want the older one",
        ),
        ChangeError::Files(_) => (
            ExitCode::Usage,
            ErrorCode::InvalidPlugin,
            "a plugin's folder holds up to 64 regular files of 4 MiB together",
        ),
        ChangeError::Unknown(_) => {
            (ExitCode::Failed, ErrorCode::UnknownName, "`link plugin list` shows what is installed")
        }
        ChangeError::Shipped(_) => {
            (ExitCode::Failed, ErrorCode::Declined, "install another plugin of this id instead")
        }
        ChangeError::Io { .. } | ChangeError::File(_) if error.is_disk_full() => {
            (ExitCode::NoSpace, ErrorCode::NoSpace, "free some disk space and retry")
        }
        ChangeError::Io { .. } | ChangeError::File(_) => {
            (ExitCode::CannotWrite, ErrorCode::File, "nothing was changed; correct this and retry")
        }
    };
    CliError::new(exit, code, chain(&error)).hint(hint)
}
