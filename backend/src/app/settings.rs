//! The allowlist: the backend's defaults and each account's own origins. Data, not a flag.

use link_protocol::{
    allowlist::Allowlist,
    backend_api::account::{AllowlistSetting, SetAllowlist},
    id::AccountId,
};

use crate::{
    app::App,
    auth::access::Identity,
    domain::{
        allowlist::{self, Addresses},
        audit::Action,
        refusal::Refusal,
    },
    failure::Failure,
};

const MOST_ORIGINS: usize = 100;

impl App {
    /// Returns the origins of the caller's account, and the defaults.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn allowlist(&self, caller: Identity) -> Result<AllowlistSetting, Failure> {
        let own = self.store.allowlist(caller.account).await?;
        Ok(self.describe_allowlist(&own))
    }

    /// Replaces the origins of the caller's account. What is deployed keeps its list until it is
    /// repaired or redeployed.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] when there are too many origins.
    pub async fn set_allowlist(
        &self,
        caller: Identity,
        setting: SetAllowlist,
    ) -> Result<AllowlistSetting, Failure> {
        if setting.origins.len() > MOST_ORIGINS {
            return Err(Refusal::invalid(format!("origins: are at most {MOST_ORIGINS}")).into());
        }
        let own = Allowlist::new(setting.origins);
        self.store.set_allowlist(caller.account, &own).await?;
        let what = format!("{} origins", own.origins().len());
        self.note(&caller, Action::SetAllowlist, "allowlist", &what).await;
        Ok(self.describe_allowlist(&own))
    }

    /// Returns what a deployment of `account` carries at this moment.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub(super) async fn current_allowlist(&self, account: AccountId) -> Result<Allowlist, Failure> {
        let own = self.store.allowlist(account).await?;
        let defaults = self.default_allowlist();
        Ok(Allowlist::new(own.origins().iter().chain(defaults.origins()).cloned()))
    }

    fn describe_allowlist(&self, own: &Allowlist) -> AllowlistSetting {
        let defaults = self.default_allowlist();
        AllowlistSetting { origins: own.origins().to_vec(), defaults: defaults.origins().to_vec() }
    }

    fn default_allowlist(&self) -> Allowlist {
        let addresses = Addresses {
            workspace_url: self.config.workspace_url.as_deref(),
            public_url: self.config.public_url.as_deref(),
            listener: self.listener.get().copied(),
        };
        allowlist::defaults(&self.config.allowed_origins, addresses)
    }
}
