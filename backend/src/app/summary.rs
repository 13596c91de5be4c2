//! The summary of an account.

use link_protocol::{backend_api::summary::Summary, id::AccountId};

use crate::{
    app::{App, deployments},
    auth::access::Identity,
    database::Page,
    domain::summary::Spans,
    failure::AppError,
    tables::{DeploymentFilter, Look},
};

/// The possibly stale deployments that are read at once.
const AT_ONCE: u32 = 500;

impl App {
    /// Returns the counts of the caller's account.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn summary(&self, caller: Identity) -> Result<Summary, AppError> {
        self.summary_of(caller.account).await
    }

    pub(super) async fn summary_of(&self, account: AccountId) -> Result<Summary, AppError> {
        let now = self.now();
        let mut summary = self.store.summary(account, &Spans::at(now), now).await?;
        summary.deployments.stale = self.stale_deployments(account).await?;
        Ok(summary)
    }

    /// Counts the stale deployments. The statement finds candidates, of which few are left when an account is well, and
    /// the domain decides.
    async fn stale_deployments(&self, account: AccountId) -> Result<u64, AppError> {
        let allowlist = self.current_allowlist(account).await?;
        let filter = DeploymentFilter {
            current: true,
            stale_for: Some(allowlist.clone()),
            ..DeploymentFilter::default()
        };
        let mut page = Page { after: None, limit: AT_ONCE };
        let mut stale = 0;
        loop {
            let views = self.store.deployments(account, &filter, Look::of(&page)).await?;
            let described = views.iter().map(|view| deployments::describe(view, &allowlist));
            stale += described.filter(|deployment| deployment.stale).count() as u64;
            if views.len() < AT_ONCE as usize {
                return Ok(stale);
            }
            page.after = views.last().map(|view| view.record.id.to_string());
        }
    }
}
