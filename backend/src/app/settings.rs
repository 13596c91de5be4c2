//! The allowlist of an account: the backend's defaults and the account's own origins.

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
    failure::AppError,
};

const MOST_ORIGINS: usize = 100;

impl App {
    /// Returns the origins of the caller's account and the default origins.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn allowlist(&self, caller: Identity) -> Result<AllowlistSetting, AppError> {
        let own = self.store.allowlist(caller.account).await?;
        Ok(self.describe_allowlist(&own))
    }

    /// Replaces the origins of the caller's account. Existing deployments keep their allowlist
    /// until they are repaired or redeployed. With `is_expected`, replaces only a setting for which it holds.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if there are too many origins, [`Refusal::Changed`] if the setting is not the expected one.
    pub async fn set_allowlist(
        &self,
        caller: Identity,
        setting: SetAllowlist,
        is_expected: Option<impl Fn(&AllowlistSetting) -> bool + Send>,
    ) -> Result<AllowlistSetting, AppError> {
        if setting.origins.len() > MOST_ORIGINS {
            return Err(Refusal::invalid(format!("origins: are at most {MOST_ORIGINS}")).into());
        }
        let own = Allowlist::new(setting.origins);
        let changed = Refusal::Changed("the allowlist");
        let before = match is_expected {
            None => None,
            Some(is_expected) => {
                let before = self.store.allowlist(caller.account).await?;
                if !is_expected(&self.describe_allowlist(&before)) {
                    return Err(changed.into());
                }
                Some(before)
            }
        };
        if !self.store.set_allowlist(caller.account, &own, before.as_ref()).await? {
            return Err(changed.into());
        }
        let number = own.origins().len();
        let what = format!("{number} {}", if number == 1 { "origin" } else { "origins" });
        self.note(&caller, Action::SetAllowlist, "allowlist", &what).await;
        Ok(self.describe_allowlist(&own))
    }

    /// Returns the allowlist for a new deployment of `account`.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub(super) async fn current_allowlist(
        &self,
        account: AccountId,
    ) -> Result<Allowlist, AppError> {
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
