//! A user who wishes anything at any time.

use link_agent_core::event::Wish;
use link_protocol::{
    allowlist::{Allowlist, Origin},
    command::{
        Command, DeployModel, ModelFile, ProxyFeatures, RepairServing, ServingConfig, Sha256Hex,
        StartServing, StopServing, UninstallModel, UpdateAgent, UpdatePipeline,
    },
    id::{DeploymentId, ModelId, PipelineId},
    port::Port,
};
use uuid::Uuid;

use super::{backend::Backend, chance::Chance, network::Ms};

/// The plugin that the device has.
pub(super) const PLUGIN: &str = "language_model";

const MODELS: u64 = 3;
const FIRST_PORT: u64 = 8080;
const PORTS: u64 = 4;

/// What the user has wished so far.
#[derive(Debug, Default)]
pub(super) struct User {
    wishes: u64,
}

/// One of the models.
pub(super) const fn model(number: u128) -> ModelId {
    ModelId::from_uuid(Uuid::from_u128(0x0de1_0000 + number))
}

/// Any port that models are served on.
pub(super) fn any_port(chance: &mut Chance) -> Port {
    let number = chance.between(FIRST_PORT, FIRST_PORT + PORTS);
    u16::try_from(number).ok().and_then(|number| Port::try_from(number).ok()).expect("a port")
}

/// What a person at the device wants, of any model, deployed or not.
pub(super) fn wish_at_the_machine(chance: &mut Chance) -> Wish {
    let pipeline = PipelineId::of(model(u128::from(chance.between(0, MODELS))));
    match chance.between(0, 10) {
        0..4 => Wish::Serve(pipeline),
        4..7 => Wish::Stop(pipeline),
        7 => Wish::CancelDeploy(pipeline),
        _ => Wish::Remove(pipeline),
    }
}

impl User {
    /// Wishes something, mostly something sensible.
    pub(super) fn wish(&mut self, backend: &mut Backend, chance: &mut Chance, now: Ms) {
        self.wishes += 1;
        let deployed: Vec<ModelId> = backend
            .deployments
            .iter()
            .filter(|one| one.is_deployed())
            .map(|one| one.model)
            .collect();
        let model_id = if deployed.is_empty() || chance.happens(300) {
            model(u128::from(chance.between(0, MODELS)))
        } else {
            *chance.pick(&deployed)
        };
        let pipeline_id = PipelineId::of(model_id);
        let roll = if self.wishes == 1 { 0 } else { chance.between(0, 100) };
        let (wish, key) = match roll {
            0..26 => {
                let deploy = self.deploy(model_id, backend, chance);
                backend.deploy(deploy, now);
                return;
            }
            26..34 => {
                let open = backend.deployments.iter().filter(|one| !one.state.is_final());
                let open: Vec<DeploymentId> = open.map(|one| one.id).collect();
                if !open.is_empty() {
                    backend.cancel(*chance.pick(&open), now);
                }
                return;
            }
            34..50 => {
                let port = chance.happens(250).then(|| any_port(chance));
                let wish = StartServing { pipeline_id, model_id, port };
                (Command::StartServing(wish), format!("serve:{port:?}"))
            }
            50..62 => {
                let wish = StopServing { pipeline_id, model_id };
                (Command::StopServing(wish), "stop".to_owned())
            }
            62..86 => {
                let port = chance.happens(300).then(|| any_port(chance));
                let allowlist = self.allowlist();
                let key = format!("repair:{port:?}:{}", allowlist.digest());
                let wish = RepairServing { pipeline_id, model_id, allowlist, port };
                (Command::RepairServing(wish), key)
            }
            86..93 => {
                let mut config = self.config(model_id, chance);
                if chance.happens(150) {
                    config.model_id = model(77);
                }
                let wish = UpdatePipeline { pipeline_id, config };
                (Command::UpdatePipeline(wish), format!("update:{}", self.wishes))
            }
            93..98 => {
                let wish = UninstallModel { pipeline_id, model_id };
                (Command::UninstallModel(wish), "uninstall".to_owned())
            }
            _ => {
                let version = "1.4.0".parse().expect("a version");
                (Command::UpdateAgent(UpdateAgent { version }), "agent".to_owned())
            }
        };
        backend.place(wish, format!("{model_id}:{key}"), now);
    }

    fn deploy(&self, model_id: ModelId, backend: &mut Backend, chance: &mut Chance) -> DeployModel {
        let mut config = self.config(model_id, chance);
        if chance.happens(60) {
            config.pipeline_id = PipelineId::of(model(78));
        }
        let content = if chance.happens(250) { "b" } else { "a" };
        DeployModel {
            deployment_id: DeploymentId::from_uuid(backend.new_id()),
            pipeline_id: PipelineId::of(model_id),
            model: ModelFile {
                model_id,
                file_name: "model.gguf".parse().expect("a file name"),
                url: None,
                sha256: content.repeat(64).parse::<Sha256Hex>().expect("64 digits"),
                size_bytes: 1000,
            },
            config,
            serve: chance.happens(700),
        }
    }

    fn config(&self, model_id: ModelId, chance: &mut Chance) -> ServingConfig {
        let plugin = if chance.happens(50) { "audio_transcriber" } else { PLUGIN };
        let alias = if chance.happens(100) { "other" } else { "tiny" };
        ServingConfig {
            pipeline_id: PipelineId::of(model_id),
            model_id,
            alias: alias.parse().expect("an alias"),
            plugin: plugin.to_owned(),
            port: any_port(chance),
            allowlist: self.allowlist(),
            proxy: ProxyFeatures::default(),
        }
    }

    /// The current allowlist: another one from time to time.
    fn allowlist(&self) -> Allowlist {
        let origin = format!("https://work-{}.example", self.wishes / 2);
        Allowlist::new([origin.parse::<Origin>().expect("an origin")])
    }
}
