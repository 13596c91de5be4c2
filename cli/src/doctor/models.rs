//! The plugins, their engines, and the models of this machine.

use link_client::containment;
use link_protocol::{
    local_api::{Containment, EngineHealth, ModelHealth},
    report::ModelState,
};

use super::{Area, Finding};

/// What was seen of the models and of what serves them.
#[derive(Clone, Debug)]
pub(crate) struct Models {
    /// Folders that are no usable plugin, each with the reason.
    pub(crate) unusable_plugins: Vec<(String, String)>,
    pub(crate) engines: Vec<Engine>,
    /// What the agent says. Empty if it does not answer.
    pub(crate) models: Vec<ModelHealth>,
    /// What the agent refuses to engines, if it answers.
    pub(crate) containment: Option<Containment>,
}

/// The engine of one plugin.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    pub(crate) plugin: String,
    /// The build that models run on. None if there is none.
    pub(crate) build: Option<Build>,
    /// Whether a model of this machine needs it.
    pub(crate) is_needed: bool,
}

/// The build of an engine.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    pub(crate) name: String,
    /// Why it did not print its version. None if it did.
    pub(crate) fault: Option<String>,
}

pub(crate) fn findings(facts: &Models) -> Vec<Finding> {
    let mut findings: Vec<_> = facts
        .unusable_plugins
        .iter()
        .map(|(folder, why)| {
            let cure = "correct it and run `link plugin check FOLDER`, or remove the folder";
            Finding::warning(
                Area::Plugins,
                format!("`{folder}` is not a usable plugin: {why}"),
                cure,
            )
        })
        .collect();
    if findings.is_empty() {
        findings.push(Finding::ok(Area::Plugins, "every plugin is usable"));
    }
    findings.extend(facts.containment.map(contained));
    findings.extend(facts.engines.iter().filter_map(engine));
    findings.extend(facts.models.iter().filter_map(model));
    let broken = findings.iter().any(|finding| finding.area == Area::Models);
    if !broken && !facts.models.is_empty() {
        let serving =
            facts.models.iter().filter(|model| model.state == ModelState::Serving).count();
        let found = format!("{serving} of {} served; no engine is unhealthy", facts.models.len());
        findings.push(Finding::ok(Area::Models, found));
    }
    findings
}

fn contained(containment: Containment) -> Finding {
    match containment::missing(containment) {
        None => {
            Finding::ok(Area::Plugins, "this system can keep engines from what they do not need")
        }
        Some(missing) => Finding::warning(
            Area::Plugins,
            format!("this system does not keep engines from {missing}"),
            "install plugins only if you trust their authors",
        ),
    }
}

fn engine(engine: &Engine) -> Option<Finding> {
    let Engine { plugin, build, is_needed } = engine;
    let Some(Build { name, fault }) = build else {
        let found = format!("the plugin {plugin} has no engine yet");
        return is_needed
            .then(|| Finding::warning(Area::Engine, found, "run `link engine install`"));
    };
    let finding = match fault {
        None => Finding::ok(Area::Engine, format!("{name} of {plugin} starts")),
        Some(why) => Finding::error(
            Area::Engine,
            format!("{name} of {plugin}: {why}"),
            "install another build: `link engine install`",
        ),
    };
    Some(finding)
}

fn model(model: &ModelHealth) -> Option<Finding> {
    let alias = &model.alias;
    let why = model.detail.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let log = format!("`link logs --local --model {alias}` says more");
    match (model.state, model.health) {
        (ModelState::Serving, EngineHealth::Unhealthy) => {
            let found = format!("the engine of `{alias}` does not answer{why}");
            Some(Finding::error(Area::Models, found, log))
        }
        (ModelState::Starting | ModelState::Serving, EngineHealth::Starting) => {
            let found = format!("`{alias}` is being loaded");
            Some(Finding::warning(Area::Models, found, "wait, and look with `link status --watch`"))
        }
        (ModelState::NotServing, _) if model.detail.is_some() => {
            let cure = format!("{log}; then run `link model serve {}`", model.model_id);
            Some(Finding::error(Area::Models, format!("`{alias}` is not served{why}"), cure))
        }
        _ => None,
    }
}
