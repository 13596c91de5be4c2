//! Deployments. Each is created with the current allowlist of its account.

use link_protocol::{
    allowlist::Allowlist,
    backend_api::deployment::{CreateDeployment, Deployment, Serving},
    deployment::DeploymentState,
    id::{CommandId, DeploymentId, DeviceId, ModelId},
    report::{ModelReport, ModelState},
};

use crate::{
    app::{App, deploying},
    auth::access::Identity,
    database::Page,
    domain::{
        audit::Action,
        claim::{Claim, Once},
        deploy::Made,
        refusal::Refusal,
        scan::{Part, Round, Scan, WINDOW},
    },
    failure::AppError,
    host::{metrics, random},
    tables::{DeploymentFilter, DeploymentView, Look},
};

/// The filter for a list of deployments.
#[derive(Clone, Debug, Default)]
pub struct DeploymentQuery {
    pub device: Option<DeviceId>,
    pub model: Option<ModelId>,
    pub stale: Option<bool>,
    pub current: Option<bool>,
    /// A part of the name of the model, of the device or of the alias, or the beginning of the id.
    pub q: Option<String>,
}

impl App {
    /// Deploys or redeploys a model. The device may be offline for up to five minutes.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] and [`Refusal::NoLongerShared`] for a device or a model that the caller may not use,
    /// [`Refusal::ModelNotReady`], [`Refusal::AliasTaken`],
    /// [`Refusal::QueueFull`], [`Refusal::IdempotencyConflict`].
    pub async fn deploy(
        &self,
        caller: Identity,
        wish: CreateDeployment,
        idempotency_key: Option<String>,
    ) -> Result<Deployment, AppError> {
        let claim = idempotency_key
            .map(|key| Claim::new(caller.account, key, &format!("deploy {}", content(&wish))));
        let id = self.deploy_once(caller, wish, Once::of(claim.as_ref())).await?;
        self.deployment(caller, id).await
    }

    /// Deploys or redeploys a model unless the same request, identified by `once`, did so before.
    ///
    /// # Errors
    /// As for [`App::deploy`], and [`Refusal::ItemTaken`].
    pub(super) async fn deploy_once(
        &self,
        caller: Identity,
        wish: CreateDeployment,
        once: Once<'_>,
    ) -> Result<DeploymentId, AppError> {
        let pair = self.store.pair(caller.account, wish.device_id, wish.model_id).await?;
        let (device, model) = pair.deployable(caller.account, &self.publishers().await?)?;
        let file = model.file()?;
        let allowlist = self.current_allowlist(device.account).await?;
        let now = self.now();
        let made = Made { wish, model, file, allowlist, now };
        let cancel = CommandId::from_uuid(random::uuid());
        let ids = (DeploymentId::from_uuid(random::uuid()), CommandId::from_uuid(random::uuid()));
        let publisher = &made.model.publisher;
        let whose = if made.model.account == caller.account {
            String::new()
        } else {
            format!(", shared by {publisher}")
        };
        let what = format!("{} to {}{whose}", made.model.id, device.id);
        let entry = self.entry(&caller, Action::Deploy, ids.0).with(&what);
        let record =
            deploying::deploy(&self.store, device.account, &made, ids, once, cancel, &entry)
                .await?;
        if record.id == ids.0 {
            metrics::command_placed();
        }
        self.ring_device(device.id);
        Ok(record.id)
    }

    /// Describes a deployment.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn deployment(
        &self,
        caller: Identity,
        id: DeploymentId,
    ) -> Result<Deployment, AppError> {
        let view = self.store.deployment(caller.account, id).await?;
        let view = view.ok_or(Refusal::NotFound("deployment"))?;
        Ok(describe(&view, &self.current_allowlist(caller.account).await?))
    }

    /// Lists a page of the deployments on the caller's devices.
    ///
    /// # Errors
    /// [`AppError::Store`].
    pub async fn deployments(
        &self,
        caller: Identity,
        query: &DeploymentQuery,
        page: &Page,
    ) -> Result<Part<Deployment>, AppError> {
        let (account, store) = (caller.account, &self.store);
        let allowlist = self.current_allowlist(account).await?;
        let filter = DeploymentFilter {
            device: query.device,
            model: query.model,
            current: query.current == Some(true),
            stale_for: (query.stale == Some(true)).then(|| allowlist.clone()),
            q: query.q.clone(),
        };
        let is_filtered =
            query.stale.is_some() || query.current == Some(false) || query.q.is_some();
        let end = match is_filtered {
            true => store.deployments_end(account, &filter, page.after.as_ref(), WINDOW).await?,
            false => None,
        };
        let mut scan = Scan::new(page.limit as usize - 1, page.after.clone(), end);
        loop {
            let look = Look {
                after: scan.after().as_ref(),
                until: scan.end().as_ref(),
                limit: page.limit,
            };
            let views = store.deployments(account, &filter, look).await?;
            let last = views.last().map(|view| view.record.id.to_string());
            let is_last = views.len() < page.limit as usize;
            let described = views.iter().map(|view| describe(view, &allowlist));
            let found = described.filter(|deployment| {
                query.stale.is_none_or(|stale| stale == deployment.stale)
                    && query.current.is_none_or(|current| current == deployment.current)
            });
            let round = Round { found: found.collect(), last, is_last };
            if let Some(part) = scan.take(round, |item| item.deployment_id.to_string()) {
                return Ok(part);
            }
        }
    }

    /// Cancels a deployment. A failed or cancelled one is marked as removed, because a person has seen its end. An unfinished
    /// deployment is cancelled once its device reports so.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::AlreadyFinal`].
    pub async fn cancel_deployment(
        &self,
        caller: Identity,
        id: DeploymentId,
    ) -> Result<Deployment, AppError> {
        let view = self.store.deployment(caller.account, id).await?;
        let view = view.ok_or(Refusal::NotFound("deployment"))?;
        let cancel = CommandId::from_uuid(random::uuid());
        let at = (id, view.record.device);
        deploying::cancel_deployment(&self.store, at, cancel, self.now()).await?;
        self.ring_device(view.record.device);
        self.ring_command(view.record.command);
        self.note(&caller, Action::CancelDeployment, id, "").await;
        self.deployment(caller, id).await
    }
}

fn content(wish: &CreateDeployment) -> String {
    serde_json::to_string(wish).expect("a wish has only string keys")
}

pub(super) fn describe(view: &DeploymentView, current: &Allowlist) -> Deployment {
    let record = &view.record;
    // That the model was removed is about an earlier deployment, unless this one has put it on the device.
    let is_told = |report: &&ModelReport| {
        report.state != ModelState::Removed || record.state == DeploymentState::Completed
    };
    let reported = view.serving.as_ref().filter(|_| view.current).filter(is_told);
    let digest = reported.map(|report| report.allowlist_digest.as_str());
    let stale = record.is_stale(current, digest);
    let serving = reported.map(|report| Serving {
        state: report.state,
        is_serving: report.is_serving,
        port: report.port,
        detail: report.detail.clone(),
    });
    Deployment {
        deployment_id: record.id,
        model_id: record.model,
        model_name: view.model_name.clone(),
        task: view.task,
        publisher: Some(view.publisher.clone()),
        device_id: record.device,
        device_name: view.device_name.clone(),
        command_id: record.command,
        alias: record.alias.clone(),
        port: record.port,
        settings: record.settings.clone(),
        proxy: record.proxy,
        state: record.state,
        reason: record.reason.clone(),
        progress: record.progress,
        allowlist_digest: record.allowlist.digest().to_owned(),
        stale,
        current: view.current,
        removed: record.removed,
        serving,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}
