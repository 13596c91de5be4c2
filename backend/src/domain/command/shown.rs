//! A command in the form that the API shows: the states of the specification, and the outcome.

use link_protocol::backend_api::command as outside;

use super::{CommandOutcome, CommandRecord, State, Withdrawal};

impl CommandRecord {
    /// Returns the command in the form that the API shows.
    #[must_use]
    pub fn info(&self) -> outside::CommandInfo {
        outside::CommandInfo {
            command_id: self.id,
            r#type: self.command.kind(),
            state: self.outside_state(),
            model_id: self.command.model(),
            model_name: None,
            device_id: self.device,
            device_name: None,
            port: self.command.port(),
            created_at: self.issued_at,
            expires_at: self.expires_at,
            result: self.outside_result(),
            superseded_by: self.withdrawn.and_then(|withdrawal| withdrawal.by),
            note: None,
        }
    }

    fn outside_result(&self) -> Option<outside::CommandOutcome> {
        if let Some(CommandOutcome { report, reported_at }) = &self.result {
            let (status, output) = (report.status.into(), report.output.clone());
            return Some(outside::CommandOutcome { status, output, reported_at: *reported_at });
        }
        self.withdrawn.map(|Withdrawal { by, at }| match by {
            Some(by) => outside::CommandOutcome {
                status: outside::OutcomeStatus::Superseded,
                output: format!("superseded by {by}"),
                reported_at: at,
            },
            None => outside::CommandOutcome {
                status: outside::OutcomeStatus::Cancelled,
                output: "cancelled before it was delivered".to_owned(),
                reported_at: at,
            },
        })
    }

    /// Returns the state under its name in the specification (section 3.3).
    #[must_use]
    pub const fn outside_state(&self) -> outside::CommandState {
        match self.state {
            State::Queued | State::Delivered | State::Superseded => outside::CommandState::Sent,
            State::Acknowledged => outside::CommandState::Processed,
            State::Expired => outside::CommandState::Expired,
        }
    }
}
