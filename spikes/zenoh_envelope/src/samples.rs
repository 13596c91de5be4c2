//! Commands as the product sends them.

use link_protocol::{
    allowlist::{Allowlist, Origin},
    command::{Command, DeployModel, ModelFile, ServingConfig, RepairServing, Sha256Hex},
    id::{DeploymentId, DeviceId, ModelId, PipelineId},
    port::Port,
};
use uuid::Uuid;

/// Returns a new device id.
pub(crate) fn device() -> DeviceId {
    DeviceId::from_uuid(Uuid::now_v7())
}

/// Returns a repair with an allowlist of `origins` origins.
pub(crate) fn repair(origins: usize) -> Command {
    let model_id = ModelId::from_uuid(Uuid::now_v7());
    Command::RepairServing(RepairServing {
        pipeline_id: PipelineId::of(model_id),
        model_id,
        allowlist: allowlist(origins),
        port: Some(port()),
    })
}

/// Returns a deployment with an allowlist of `origins` origins.
pub(crate) fn deployment(origins: usize) -> Command {
    let model_id = ModelId::from_uuid(Uuid::now_v7());
    let pipeline_id = PipelineId::of(model_id);
    Command::DeployModel(DeployModel {
        deployment_id: DeploymentId::from_uuid(Uuid::now_v7()),
        pipeline_id,
        model: ModelFile {
            model_id,
            file_name: "modell-größe-7b.gguf".parse().expect("a plain file name"),
            url: Some("https://models.example/a \"quoted\" \\ path?x=1&y=ü".to_owned()),
            sha256: Sha256Hex::from_digest(&[0xab; 32]),
            size_bytes: 4_368_439_584,
        },
        config: ServingConfig {
            pipeline_id,
            model_id,
            alias: "chat-7b".parse().expect("a plain alias"),
            plugin: "language_model".to_owned(),
            port: port(),
            allowlist: allowlist(origins),
            proxy: link_protocol::command::ProxyFeatures::default(),
        },
        serve: true,
    })
}

fn port() -> Port {
    Port::try_from(8080).expect("not zero")
}

fn allowlist(origins: usize) -> Allowlist {
    let origin = |index| format!("https://workspace-{index:04}.customer.example:8443");
    Allowlist::new((0..origins).map(|index| origin(index).parse::<Origin>().expect("an origin")))
}
