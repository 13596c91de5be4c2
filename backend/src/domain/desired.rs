//! Finds the models that a device has lost, so that their deployments are repeated (decision 0018).

use link_protocol::{command::Lane, id::ModelId, report::ModelReport};

use crate::domain::{command::CommandRecord, deployment::DeploymentRecord};

/// A deployed model that the device does not list any more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lost {
    pub deployment: DeploymentRecord,
    /// Whether the device served the model at its last report.
    pub served: bool,
}

/// Returns the deployments in `current` whose models the device does not list. `current` holds the newest deployment of
/// each model and the last report about the model. Models with an `unfinished` command are left out, because the
/// outcome of the command is not known yet.
#[must_use]
pub fn lost(
    current: Vec<(DeploymentRecord, Option<ModelReport>)>,
    listed: &[ModelReport],
    unfinished: &[CommandRecord],
) -> Vec<Lost> {
    let is_listed = |model: ModelId| listed.iter().any(|report| report.model_id == model);
    let is_busy = |model: ModelId| {
        unfinished.iter().any(|record| record.command.lane() == Lane::Model(model))
    };
    let is_lost = |deployment: &DeploymentRecord| {
        let model = deployment.model;
        deployment.is_deployed() && !is_listed(model) && !is_busy(model)
    };
    let lost = current.into_iter().filter(|(deployment, _)| is_lost(deployment));
    lost.map(|(deployment, last)| Lost {
        served: last.is_some_and(|report| report.is_serving),
        deployment,
    })
    .collect()
}

#[cfg(test)]
mod tests;
