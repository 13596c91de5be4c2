//! `link plugin`: the plugins of this machine.

mod check;
mod contract;
mod new;
mod publish;

pub(super) use self::{
    check::Checked,
    new::Made,
    publish::{MadeKey, Packed},
};

use std::path::Path;

use link_installer::{
    owner_keys::OwnerKeys,
    plugins::{ArchiveError, ChangeError, Holder, Origin, Place, Plugin, Plugins, VerifiedArchive},
};
use link_protocol::{
    exit_code::ExitCode,
    plugin::{Manifest, Setting, Unit},
    signed_document::RefusedDocument,
    signing::Untrusted,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    release_check,
    trust::{self, Purpose},
};
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
        PluginCommand::Install { from } if from.is_file() => install_archive(context, &from),
        PluginCommand::Install { from } if !from.exists() => {
            let message = format!("`{}` does not exist", from.display());
            Err(CliError::new(ExitCode::Usage, ErrorCode::File, message)
                .hint("give the folder of a plugin, or an archive with its signature beside it"))
        }
        PluginCommand::Install { from } => install(context, &from),
        PluginCommand::Trust(arguments) => trust::run(context, Purpose::PluginArchives, &arguments),
        PluginCommand::Key { file } => publish::key(context, &file),
        PluginCommand::Pack { folder, sign_with, out, serial } => {
            publish::pack(context, (&folder, &out), &sign_with, serial)
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
        lines.extend(self.signed_by.iter().map(|key| format!("signed by    {}", signer(key))));
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

fn install(context: &Context, folder: &Path) -> Result<(), CliError> {
    let manifest = Plugins::install(&context.roots, folder).map_err(explain)?;
    let engine = &manifest.engine.name;
    context.output.say(&format!(
        "installed the plugin {}; models use it from their next start, with the engine `{engine}`",
        manifest.id
    ));
    show(context, &manifest, Some(&Place::Installed(context.roots.plugins().join(&manifest.id))))
}

fn install_archive(context: &Context, archive: &Path) -> Result<(), CliError> {
    let trust = release_check::trust(context)?;
    let owner_keys = OwnerKeys::of_plugins(&context.roots.config);
    let archive = VerifiedArchive::open(archive, &trust, &owner_keys).map_err(refuse)?;
    let manifest = Plugins::install_archive(&context.roots, &archive).map_err(explain)?;
    let (id, engine) = (&manifest.id, &manifest.engine.name);
    context.output.say(&format!(
        "installed the plugin {id}, signed by {}; models use it from their next start, with the engine `{engine}`",
        signer(&archive.signed_by)
    ));
    show(context, &manifest, Some(&Place::Installed(context.roots.plugins().join(id))))
}

/// Names a signer for a person.
fn signer(signed_by: &str) -> String {
    match signed_by {
        "release" => "a release key".to_owned(),
        kid => format!("the key {kid}"),
    }
}

/// Explains why an archive is not installed.
fn refuse(error: ArchiveError) -> CliError {
    let again = "nothing was installed; get the archive and its signature again from the publisher";
    let untrusted = (ExitCode::SignatureInvalid, ErrorCode::SignatureInvalid);
    let ((exit, code), hint) = match &error {
        ArchiveError::Unsigned { .. } => (
            untrusted,
            "nothing was installed; get the signature from the publisher and put it beside the archive",
        ),
        ArchiveError::Refused {
            source: RefusedDocument::Untrusted(Untrusted::UnknownKey), ..
        } => (
            untrusted,
            "nothing was installed; if you trust the publisher, get the key from them and run `link plugin trust KEY`",
        ),
        ArchiveError::Name { .. } => {
            (untrusted, "nothing was installed; rename it if that is the plugin you want")
        }
        ArchiveError::Chain(..) => {
            (untrusted, "nothing was installed; put the archive into a folder without this file")
        }
        ArchiveError::Refused { .. }
        | ArchiveError::Altered(_)
        | ArchiveError::OtherPlugin { .. } => (untrusted, again),
        ArchiveError::TooLong(_)
        | ArchiveError::Contents { .. }
        | ArchiveError::Plugin(_)
        | ArchiveError::Files(_) => (
            (ExitCode::Usage, ErrorCode::InvalidPlugin),
            "nothing was installed; tell the publisher, who makes the archive with `link plugin pack`",
        ),
        ArchiveError::Io { .. } | ArchiveError::File(_) | ArchiveError::Keys(_) => (
            (ExitCode::CannotWrite, ErrorCode::File),
            "nothing was installed; correct this and retry",
        ),
    };
    CliError::new(exit, code, chain(&error)).hint(hint)
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
            "a plugin's folder holds up to 64 plain files of 4 MiB together",
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
