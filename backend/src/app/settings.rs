//! The allowlist setting: data, not a flag.

use link_protocol::{allowlist::Allowlist, backend_api::account::AllowlistSetting};

use crate::{
    access::Identity,
    app::App,
    domain::{audit::Action, refusal::Refusal},
    failure::Failure,
};

const MOST_ORIGINS: usize = 100;

impl App {
    /// Returns the allowlist that deployments carry.
    ///
    /// # Errors
    /// [`Failure::Store`].
    pub async fn allowlist(&self) -> Result<AllowlistSetting, Failure> {
        let allowlist = self.store.allowlist().await?;
        Ok(AllowlistSetting { origins: allowlist.origins().to_vec() })
    }

    /// Replaces it. What is deployed keeps its list until it is repaired or redeployed.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] when there are too many origins.
    pub async fn set_allowlist(
        &self,
        caller: Identity,
        setting: AllowlistSetting,
    ) -> Result<AllowlistSetting, Failure> {
        if setting.origins.len() > MOST_ORIGINS {
            return Err(Refusal::invalid(format!("origins: are at most {MOST_ORIGINS}")).into());
        }
        let allowlist = Allowlist::new(setting.origins);
        self.store.set_allowlist(&allowlist).await?;
        let what = format!("{} origins", allowlist.origins().len());
        self.note(&caller, Action::SetAllowlist, "allowlist", &what).await;
        Ok(AllowlistSetting { origins: allowlist.origins().to_vec() })
    }
}
