//! The audit log: makes entries with their actors, and lists them.

use link_protocol::{
    backend_api::audit::{Actor, ActorKind, AuditEntry, AuditOutcome},
    id::{AccountId, AuditId, UserId},
};

use crate::{
    app::App,
    auth::access::{Identity, Means},
    database::Page,
    domain::{
        attempts::Peer,
        audit::{Action, AuditFilter, AuditRecord},
    },
    failure::AppError,
    host::random,
};

impl App {
    /// Lists the actions in the caller's account, newest first.
    ///
    /// # Errors
    /// [`crate::domain::refusal::Refusal::Invalid`].
    pub async fn audit(
        &self,
        caller: Identity,
        filter: AuditFilter,
        page: &Page,
    ) -> Result<Vec<AuditEntry>, AppError> {
        let entries = self.store.audit(caller.account, &filter.checked()?, page).await?;
        Ok(entries.into_iter().map(AuditRecord::info).collect())
    }

    /// Makes an entry for an action of `caller`. The transaction of the action stores it.
    pub(super) fn entry(
        &self,
        caller: &Identity,
        action: Action,
        subject: impl ToString,
    ) -> AuditRecord {
        let actor = match caller.means {
            Means::Login(_) | Means::Cookie(_) | Means::Operation(_) => {
                actor(ActorKind::User, caller.user)
            }
            Means::Token(token) => actor(ActorKind::Token, token),
        };
        self.entry_of(caller.account, actor, caller.peer, action, subject)
    }

    /// Makes an entry for an action of `actor`.
    pub(super) fn entry_of(
        &self,
        account: AccountId,
        actor: Actor,
        peer: Peer,
        action: Action,
        subject: impl ToString,
    ) -> AuditRecord {
        let id = AuditId::from_uuid(random::uuid());
        let subject = subject.to_string();
        let entry = AuditRecord::done(id, account, actor, action, subject, self.now());
        AuditRecord { address: peer.0.map(|_| peer.to_string()), ..entry }
    }

    /// Makes an entry for an action of a user who has no identity yet, such as a login.
    pub(super) fn entry_of_user(
        &self,
        account: AccountId,
        user: UserId,
        peer: Peer,
        action: Action,
    ) -> AuditRecord {
        self.entry_of(account, actor(ActorKind::User, user), peer, action, user)
    }

    /// Records an action of `caller` that was completed in an earlier transaction. If the entry cannot be stored, the
    /// action stays valid and the backend's own log reports the failure.
    pub(super) async fn note(
        &self,
        caller: &Identity,
        action: Action,
        subject: impl ToString,
        detail: &str,
    ) {
        let entry = self.entry(caller, action, subject).with(detail);
        self.keep_entry(&entry).await;
    }

    /// Records a refused action.
    pub(super) async fn note_refused(&self, entry: AuditRecord) {
        self.keep_entry(&AuditRecord { outcome: AuditOutcome::Refused, ..entry }).await;
    }

    pub(super) async fn keep_entry(&self, entry: &AuditRecord) {
        if let Err(error) = self.store.record(entry).await {
            tracing::error!(%error, action = entry.action, "an audit entry was lost");
        }
    }
}

/// Makes an actor.
pub(super) fn actor(kind: ActorKind, id: impl ToString) -> Actor {
    Actor { kind, id: Some(id.to_string()) }
}
