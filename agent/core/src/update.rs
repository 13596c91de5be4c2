//! Updates of the agent itself: one at a time, requested by a command or by a person at this
//! machine.

use link_protocol::{id::CommandId, report::CommandResult, update::UpdateRequest};
use semver::Version;

use crate::{
    effect::{Effect, Turn},
    event::Staged,
};

/// How far the update of this agent is.
#[derive(Debug, Default)]
pub(crate) enum Update {
    #[default]
    Idle,
    /// The next version is being downloaded and checked.
    Staging(Asker),
    /// A staged version is about to replace this process.
    TakingOver,
}

/// The state of the agent that an update depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around<'a> {
    pub(crate) own_version: &'a Version,
    pub(crate) connected: bool,
}

/// The requester of an update.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asker {
    Command(CommandId),
    Person,
}

impl Update {
    pub(crate) const fn is_running(&self) -> bool {
        !matches!(self, Self::Idle)
    }

    /// Starts staging the next version, unless an update is already in progress. A redelivered
    /// command does not retry a version that was rolled back, but a person can.
    pub(crate) fn begin(
        &mut self,
        command: Option<CommandId>,
        request: UpdateRequest,
        around: Around<'_>,
        turn: &mut Turn,
    ) {
        if self.is_running() {
            if let Some(id) = command {
                turn.report_command(id, CommandResult::Rejected, "an update is under way");
            }
            return;
        }
        *self = Self::Staging(command.map_or(Asker::Person, Asker::Command));
        // This is also the case when a command runs again after it has replaced this process. A person follows the
        // phases of an update, so the staging has to end it.
        if command.is_some() && request.version.as_ref() == Some(around.own_version) {
            return self.ended(Staged::UpToDate(around.own_version.clone()), turn);
        }
        turn.effects.push(Effect::StageUpdate { request, connected: around.connected });
    }

    /// Ends the update; a staged version then replaces this process.
    pub(crate) fn ended(&mut self, staged: Staged, turn: &mut Turn) {
        let Self::Staging(asker) = std::mem::take(self) else { return };
        let (status, output) = match &staged {
            Staged::Ready(version) => (
                CommandResult::Succeeded,
                format!("version {version} is verified and checked, and takes over now"),
            ),
            Staged::UpToDate(version) => {
                (CommandResult::Succeeded, format!("version {version} is installed"))
            }
            Staged::Declined(reason) => (CommandResult::Rejected, format!("declined: {reason}")),
            Staged::Failed(reason) => (CommandResult::Failed, reason.clone()),
        };
        if let Asker::Command(id) = asker {
            turn.report_command(id, status, output);
        }
        if let Staged::Ready(version) = staged {
            *self = Self::TakingOver;
            turn.effects.push(Effect::ReplaceAgent { version });
        }
    }
}
