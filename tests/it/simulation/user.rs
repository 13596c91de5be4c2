//! A user who sends random requests at any time.

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

use super::{backend::Backend, network::Ms, random::Random};

/// The plugin of the device.
pub(super) const PLUGIN: &str = "language_model";

const MODELS: u64 = 3;
const FIRST_PORT: u64 = 8080;
const PORTS: u64 = 4;

/// The requests of the user so far.
#[derive(Debug, Default)]
pub(super) struct User {
    wishes: u64,
}

/// One of the models.
pub(super) const fn model(number: u128) -> ModelId {
    ModelId::from_uuid(Uuid::from_u128(0x0de1_0000 + number))
}

/// Returns a random port for serving.
pub(super) fn any_port(random: &mut Random) -> Port {
    let number = random.between(FIRST_PORT, FIRST_PORT + PORTS);
    u16::try_from(number).ok().and_then(|number| Port::try_from(number).ok()).expect("a port")
}

/// Returns a request of a person at the device, for a random model, deployed or not.
pub(super) fn wish_at_the_machine(random: &mut Random) -> Wish {
    let pipeline = PipelineId::of(model(u128::from(random.between(0, MODELS))));
    match random.between(0, 10) {
        0..4 => Wish::Serve(pipeline),
        4..7 => Wish::Stop(pipeline),
        7 => Wish::CancelDeploy(pipeline),
        _ => Wish::Remove(pipeline),
    }
}

impl User {
    /// Sends a random request, which usually makes sense.
    pub(super) fn wish(&mut self, backend: &mut Backend, random: &mut Random, now: Ms) {
        self.wishes += 1;
        let deployed: Vec<ModelId> = backend
            .deployments
            .iter()
            .filter(|one| one.is_deployed())
            .map(|one| one.model)
            .collect();
        let model_id = if deployed.is_empty() || random.happens(300) {
            model(u128::from(random.between(0, MODELS)))
        } else {
            *random.pick(&deployed)
        };
        let pipeline_id = PipelineId::of(model_id);
        let roll = if self.wishes == 1 { 0 } else { random.between(0, 100) };
        let (wish, key) = match roll {
            0..26 => {
                let deploy = self.deploy(model_id, backend, random);
                backend.deploy(deploy, now);
                return;
            }
            26..34 => {
                let open = backend.deployments.iter().filter(|one| !one.state.is_final());
                let open: Vec<DeploymentId> = open.map(|one| one.id).collect();
                if !open.is_empty() {
                    backend.cancel(*random.pick(&open), now);
                }
                return;
            }
            34..50 => {
                let port = random.happens(250).then(|| any_port(random));
                let wish = StartServing { pipeline_id, model_id, port };
                (Command::StartServing(wish), format!("serve:{port:?}"))
            }
            50..62 => {
                let wish = StopServing { pipeline_id, model_id };
                (Command::StopServing(wish), "stop".to_owned())
            }
            62..86 => {
                let port = random.happens(300).then(|| any_port(random));
                let allowlist = self.allowlist();
                let key = format!("repair:{port:?}:{}", allowlist.digest());
                let wish = RepairServing { pipeline_id, model_id, allowlist, port };
                (Command::RepairServing(wish), key)
            }
            86..93 => {
                let mut config = self.config(model_id, random);
                if random.happens(150) {
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

    fn deploy(&self, model_id: ModelId, backend: &mut Backend, random: &mut Random) -> DeployModel {
        let mut config = self.config(model_id, random);
        if random.happens(60) {
            config.pipeline_id = PipelineId::of(model(78));
        }
        let content = if random.happens(250) { "b" } else { "a" };
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
            serve: random.happens(700),
        }
    }

    fn config(&self, model_id: ModelId, random: &mut Random) -> ServingConfig {
        let plugin = if random.happens(50) { "audio_transcriber" } else { PLUGIN };
        let alias = if random.happens(100) { "other" } else { "tiny" };
        ServingConfig {
            pipeline_id: PipelineId::of(model_id),
            model_id,
            alias: alias.parse().expect("an alias"),
            plugin: plugin.to_owned(),
            port: any_port(random),
            allowlist: self.allowlist(),
            proxy: ProxyFeatures::default(),
            settings: link_protocol::plugin::Settings::default(),
        }
    }

    /// Returns the current allowlist. It changes from time to time.
    fn allowlist(&self) -> Allowlist {
        let origin = format!("https://work-{}.example", self.wishes / 2);
        Allowlist::new([origin.parse::<Origin>().expect("an origin")])
    }
}
