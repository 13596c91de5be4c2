//! A model whose file is in a bucket, from the upload to an answer.

use link_protocol::deployment::DeploymentState;
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend},
    chat,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY},
};

use crate::object_store::{ACCESS_KEY, BUCKET, ObjectStore, SECRET_KEY};

#[tokio::test]
async fn a_device_fetches_a_model_from_a_bucket_and_serves_it() {
    let Some(store) = ObjectStore::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (config, secret) = (folder.path().join("backend.toml"), folder.path().join("secret"));
    link_platform::fs::write_private(&secret, SECRET_KEY.as_bytes()).unwrap();
    let text = format!(
        "[content]\nstore = \"s3\"\nendpoint = \"{}\"\nbucket = \"{BUCKET}\"\n\
         access_key = \"{ACCESS_KEY}\"\nsecret_key_file = \"secret\"\n",
        store.endpoint()
    );
    std::fs::write(&config, text).unwrap();
    let backend = TestBackend::start_with(&["--config", config.to_str().unwrap()]).await;
    let device = TestDevice::start(&backend).await;
    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    assert_eq!(store.objects().len(), 1);
    assert!(!backend.data().join("models").exists(), "no file is kept on this machine");

    let port = free_port();
    let deployment = backend.deploy(model.model_id, device.id, port, true).await;
    assert_eq!(backend.ended(deployment.deployment_id).await.state, DeploymentState::Completed);
    backend.serving(deployment.deployment_id, true).await;
    let (text, _usage) = chat::whole(chat::ask(port, Some(OLD_ORIGIN), false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);
}
