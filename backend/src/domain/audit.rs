//! The audit log: which actions are recorded, and with which actor.

use jiff::Timestamp;
use link_protocol::{
    backend_api::audit::{Actor, ActorKind, AuditEntry, AuditOutcome},
    id::{AccountId, AuditId},
};

use crate::domain::refusal::Refusal;

/// The longest detail, in characters.
const LONGEST_DETAIL: usize = 200;
/// The longest value of a filter, in characters.
const LONGEST_FILTER: usize = 100;

macro_rules! actions {
    ($($name:ident = $text:literal;)+) => {
        /// The recorded actions.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Action { $(#[doc = $text] $name,)+ }

        impl Action {
            const ALL: &[Self] = &[$(Self::$name,)+];

            /// Returns the name that the log contains.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

actions! {
    LogIn = "login.password";
    LogInByDevice = "login.device";
    LogInAsOwner = "login.owner";
    LogInByCode = "login.code";
    SetPassword = "account.password";
    LogInElsewhere = "login.account";
    ReuseRefreshToken = "login.reuse";
    EndSession = "login.end";
    Invite = "member.invite";
    WithdrawInvitation = "member.withdraw";
    Join = "member.join";
    ChangeRole = "member.role";
    RemoveMember = "member.remove";
    CreateToken = "token.create";
    RevokeToken = "token.revoke";
    CreateKey = "key.create";
    RevokeKey = "key.revoke";
    TakeOverKey = "key.takeover";
    RegisterDevice = "device.register";
    UpdateDevice = "device.update";
    TagDevice = "device.tag";
    RenameDevice = "device.rename";
    RemoveDevice = "device.remove";
    TransferDevice = "device.transfer";
    ReceiveDevice = "device.receive";
    CreateModel = "model.create";
    ChangeModel = "model.change";
    RemoveModel = "model.remove";
    Deploy = "deployment.create";
    CancelDeployment = "deployment.cancel";
    PurgeDeployments = "deployment.purge";
    Repair = "serving.repair";
    Serve = "serving.start";
    Stop = "serving.stop";
    Uninstall = "serving.uninstall";
    CreateOperation = "operation.create";
    CancelOperation = "operation.cancel";
    RetryOperation = "operation.retry";
    SetAllowlist = "setting.allowlist";
}

/// A stored entry of the audit log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AuditRecord {
    pub id: AuditId,
    pub account: AccountId,
    pub at: Timestamp,
    pub actor: Actor,
    pub action: String,
    pub subject: String,
    pub address: Option<String>,
    pub outcome: AuditOutcome,
    pub detail: String,
}

/// A filter for entries.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AuditFilter {
    pub action: Option<String>,
    pub actor: Option<String>,
    pub subject: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

impl AuditRecord {
    /// Makes an entry for an action that succeeded.
    #[must_use]
    pub fn done(
        id: AuditId,
        account: AccountId,
        actor: Actor,
        action: Action,
        subject: String,
        at: Timestamp,
    ) -> Self {
        Self {
            id,
            account,
            at,
            actor,
            action: action.as_str().to_owned(),
            subject,
            address: None,
            outcome: AuditOutcome::Done,
            detail: String::new(),
        }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, detail: &str) -> Self {
        let clean = |c: char| if c.is_control() { ' ' } else { c };
        self.detail = detail.chars().map(clean).take(LONGEST_DETAIL).collect();
        self
    }

    /// Returns the entry in the form that members see.
    #[must_use]
    pub fn info(self) -> AuditEntry {
        AuditEntry {
            entry_id: self.id,
            at: self.at,
            actor: self.actor,
            action: self.action,
            subject: self.subject,
            address: self.address,
            outcome: self.outcome,
            detail: self.detail,
        }
    }
}

impl AuditFilter {
    /// Checks that the values of the filter can match an entry.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if no action has the name, a value is no id, or the period is empty.
    pub fn checked(self) -> Result<Self, Refusal> {
        if self.action.as_deref().is_some_and(|action| !is_known(action)) {
            let groups = groups().join("`, `");
            return Err(Refusal::invalid(format!(
                "action: must be an action, such as `member.remove`, or a group of them: `{groups}`"
            )));
        }
        for (name, value) in [("actor", &self.actor), ("subject", &self.subject)] {
            if value.as_ref().is_some_and(|value| value.is_empty() || value.len() > LONGEST_FILTER)
            {
                return Err(Refusal::invalid(format!("{name}: is an id")));
            }
        }
        if let (Some(since), Some(until)) = (self.since, self.until)
            && since >= until
        {
            return Err(Refusal::invalid("until: is after `since`"));
        }
        Ok(self)
    }
}

/// Tells whether `text` is the name of an action or of a group of actions.
fn is_known(text: &str) -> bool {
    let mut names = Action::ALL.iter().map(|action| action.as_str());
    names.any(|name| name == text) || groups().contains(&text)
}

/// Returns the names of the groups of actions.
fn groups() -> Vec<&'static str> {
    let names = Action::ALL.iter().filter_map(|action| action.as_str().split_once('.'));
    let mut groups: Vec<_> = names.map(|(group, _)| group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// Returns the actor of the backend's own actions.
#[must_use]
pub const fn system() -> Actor {
    Actor { kind: ActorKind::System, id: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_fits_nothing_is_refused() {
        let action =
            |text: &str| AuditFilter { action: Some(text.into()), ..AuditFilter::default() };
        assert!(action("member").checked().is_ok());
        assert!(action("member.remove").checked().is_ok());
        for bad in ["", "Member", "%", "member_", "members", "remove", "member.", "member.removed"]
        {
            assert!(action(bad).checked().is_err(), "{bad}");
        }
        let Err(Refusal::Invalid(told)) = action("login.pasword").checked() else { unreachable!() };
        assert!(told.contains("`account`, `deployment`, `device`, `key`, `login`, "), "{told}");
        let now = Timestamp::UNIX_EPOCH;
        let never = AuditFilter { since: Some(now), until: Some(now), ..AuditFilter::default() };
        assert!(never.checked().is_err());
    }
}
