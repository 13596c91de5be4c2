//! The document that each command prints with `--json`: the list from which the schemas are
//! generated.
//!
//! A command that takes `--select` prints a plan, the started operation or its results instead of
//! its own document. A command that asks prints nothing if the person says no.

use link_protocol::{
    backend_api::{
        account::AllowlistSetting,
        audit::AuditEntry,
        command::{CommandExplanation, CommandInfo},
        deployment::Deployment,
        device::Device,
        device_log::DeviceLog,
        key::{KeyCreated, KeyInfo},
        member::{InvitationCreated, Member, Membership},
        model::Model,
        operation::{Operation, OperationPlan},
        token::{TokenCreated, TokenInfo},
        usage::UsageGroups,
    },
    catalogue::NamedModel,
    id::{DeviceId, KeyId, TokenId},
};

use super::{
    account::{CurrentUser, LoggedOut, PasswordSet},
    agent, backend, bulk,
    chat::Answer,
    device::{Retired, Transferred},
    down::Down,
    engine,
    fleet::Fleet,
    install_files,
    member::{Members, RemovedMember, Withdrawn},
    model,
    open_browser::Address,
    other_use::OtherUse,
    plugin,
    register::Registration,
    status::Status,
    support::Archive,
    trust::TrustedKey,
    uninstall::Uninstalled,
    up::Ready,
    update::{Available, Updated},
};
use crate::{
    doctor::Diagnosis,
    document::{Component, Document, Removed, Revoked},
    local_logs::LocalRecord,
};

/// Returns the documents of all commands.
pub(crate) fn all() -> Vec<Document> {
    [of_this_machine(), of_the_account(), of_devices(), of_models(), of_the_installer()].concat()
}

fn of_this_machine() -> Vec<Document> {
    vec![
        Document::of::<Ready<'_>>("up"),
        Document::of::<Address<'_>>("open"),
        Document::of::<Down>("down"),
        Document::of::<Registration<'_>>("register"),
        Document::of::<Status>("status"),
        Document::of::<Diagnosis>("doctor"),
        Document::of::<Archive>("support"),
        Document::of::<agent::Running>("start"),
        Document::of::<agent::Stopped>("stop"),
        Document::of::<agent::Running>("restart"),
        Document::of::<Updated<'_>>("update").or::<Available<'_>>(),
        Document::of::<Uninstalled<'_>>("uninstall"),
        Document::of::<Vec<engine::Build<'_>>>("engine list"),
        Document::of::<engine::Installed<'_>>("engine install"),
        Document::of::<engine::Installed<'_>>("engine use"),
        Document::of::<Removed<String>>("engine remove"),
        Document::of::<Vec<TrustedKey<'_>>>("engine trust").or::<Removed<String>>(),
        Document::of::<Vec<plugin::Listed>>("plugin list"),
        Document::of::<plugin::Shown>("plugin show"),
        Document::of::<plugin::Made>("plugin new"),
        Document::of::<plugin::Checked>("plugin check"),
        Document::of::<plugin::Shown>("plugin install"),
        Document::of::<Vec<TrustedKey<'_>>>("plugin trust").or::<Removed<String>>(),
        Document::of::<plugin::MadeKey>("plugin key"),
        Document::of::<plugin::Packed>("plugin pack"),
        Document::of::<Removed<String>>("plugin remove"),
        Document::of::<Answer<'_>>("run").or::<OtherUse>(),
        Document::of::<Answer<'_>>("chat"),
    ]
}

fn of_the_account() -> Vec<Document> {
    vec![
        Document::of::<CurrentUser<'_>>("login"),
        Document::of::<LoggedOut>("logout"),
        Document::of::<CurrentUser<'_>>("whoami"),
        Document::of::<CurrentUser<'_>>("account create"),
        Document::of::<Vec<Component<Membership>>>("account list"),
        Document::of::<PasswordSet>("account password"),
        Document::of::<CurrentUser<'_>>("account use"),
        Document::of::<Members<'_>>("member list"),
        Document::of::<Component<InvitationCreated>>("member invite"),
        Document::of::<CurrentUser<'_>>("member accept"),
        Document::of::<Component<Member>>("member role"),
        Document::of::<RemovedMember>("member remove").or::<Withdrawn>(),
        Document::of::<Component<TokenCreated>>("token create"),
        Document::of::<Vec<Component<TokenInfo>>>("token list"),
        Document::of::<Revoked<Component<TokenId>>>("token revoke"),
        Document::of::<Vec<Component<AuditEntry>>>("audit"),
        Document::of::<Component<UsageGroups>>("usage"),
        Document::of::<Component<KeyCreated>>("key create"),
        Document::of::<Vec<Component<KeyInfo>>>("key list"),
        Document::of::<Revoked<Component<KeyId>>>("key revoke"),
        Document::of::<Component<AllowlistSetting>>("allowlist list"),
        Document::of::<Component<AllowlistSetting>>("allowlist add"),
        Document::of::<Component<AllowlistSetting>>("allowlist remove"),
    ]
}

fn of_devices() -> Vec<Document> {
    vec![
        Document::of::<Vec<Component<Device>>>("device list"),
        on_many(Document::of::<Component<Device>>("device rename")),
        on_many(Document::of::<Component<Device>>("device tag")),
        on_many(Document::of::<Component<Device>>("device untag")),
        Document::of::<Component<Device>>("device show"),
        on_many(Document::of::<Component<CommandInfo>>("device update")),
        Document::of::<Removed<Component<DeviceId>>>("device remove"),
        Document::of::<Transferred>("device transfer"),
        Document::of::<Retired>("device retire"),
        // With `--follow`, each line is one record.
        Document::of::<Vec<Component<DeviceLog>>>("logs")
            .or::<Component<DeviceLog>>()
            .or::<Vec<LocalRecord>>()
            .or::<LocalRecord>(),
        Document::of::<Vec<Fleet>>("fleet list"),
        Document::of::<Vec<Component<Device>>>("fleet show"),
        Document::of::<Vec<Component<CommandInfo>>>("commands list"),
        Document::of::<Component<CommandInfo>>("commands show"),
        Document::of::<Component<CommandExplanation>>("commands explain"),
        Document::of::<Vec<Component<Operation>>>("operation list"),
        Document::of::<bulk::Results<'_>>("operation show"),
        Document::of::<Component<Operation>>("operation cancel"),
        Document::of::<Component<Operation>>("operation retry").or::<bulk::Results<'_>>(),
        Document::of::<bulk::Results<'_>>("operation wait"),
    ]
}

fn of_models() -> Vec<Document> {
    vec![
        Document::of::<Vec<Component<Model>>>("model list"),
        Document::of::<Vec<Component<NamedModel>>>("model search"),
        Document::of::<Component<Model>>("model add"),
        Document::of::<model::Details<'_>>("model show").or::<Component<NamedModel>>(),
        on_many(Document::of::<Component<Deployment>>("model deploy")),
        on_many(Document::of::<Component<CommandInfo>>("model serve")),
        on_many(Document::of::<Component<CommandInfo>>("model stop")),
        on_many(Document::of::<Component<CommandInfo>>("model remove")),
        Document::of::<Component<Deployment>>("model cancel"),
        Document::of::<model::Deleted>("model delete"),
        on_many(Document::of::<Component<CommandInfo>>("repair-serving")),
    ]
}

/// Commands that `install.sh` calls.
fn of_the_installer() -> Vec<Document> {
    vec![
        Document::of::<install_files::Installed<'_>>("install-files")
            .or::<install_files::Plan<'_>>(),
        Document::of::<backend::Installed<'_>>("install-backend").or::<install_files::Plan<'_>>(),
        Document::of::<backend::Uninstalled>("uninstall-backend"),
    ]
}

/// Adds the forms of a command that takes `--select`.
fn on_many(document: Document) -> Document {
    document.or::<Component<OperationPlan>>().or::<Component<Operation>>().or::<bulk::Results<'_>>()
}
