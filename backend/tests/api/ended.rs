//! Deployments of which nothing is left, and what becomes of them when the model is deployed again.

use serde_json::{Value, json};

use crate::{
    harness::{Answer, World},
    scene::Scene,
};

impl Scene {
    /// Deploys the model, which the device refuses.
    async fn failing(&self) -> Answer {
        let deployment = self.world.deploy(&self.user, &self.device, &self.model).await;
        self.world.poll(&self.device, 0).await;
        self.world.result(&self.device, &deployment.text("command_id"), "failed").await;
        deployment
    }

    /// Reports the state of the model on its device.
    async fn report(&self, state: &str, generation: u64) {
        self.report_with("", state, generation).await;
    }

    /// Reports the state of the model, with the digest of its allowlist.
    async fn report_with(&self, digest: &str, state: &str, generation: u64) {
        let body = json!({
            "model_id": self.model, "pipeline_id": self.model.replace("mdl_", "pip_"), "state": state,
            "is_serving": state == "serving", "port": 8080, "allowlist_digest": digest,
            "generation": generation,
        });
        let path = self.device.path(&format!("/models/{}/status", self.model));
        assert_eq!(self.world.post(&path, &self.device.token, body).await.status, 204);
    }

    async fn dismiss(&self, deployment: &Answer) -> Answer {
        let path = format!("/api/v1/deployments/{}/cancel", deployment.text("deployment_id"));
        self.world.act(&path, &self.user).await
    }

    /// The current deployments as the pages read them.
    async fn current(&self) -> Vec<Value> {
        let list = self.world.get("/api/v1/deployments?current=true", &self.user).await;
        list.items().to_vec()
    }

    async fn counts(&self) -> Value {
        let summary = self.world.get("/api/v1/summary", &self.user).await;
        summary.body["deployments"].clone()
    }
}

#[tokio::test]
async fn a_model_that_is_deployed_again_after_its_removal_is_there_before_its_device_has_it() {
    let scene = Scene::deployed(World::set_up().await).await;
    scene.report("serving", 1).await;
    scene.report("removed", 2).await;
    let gone = scene.current().await;
    assert_eq!(
        (&gone[0]["removed"], &gone[0]["serving"]["state"]),
        (&json!(true), &json!("removed"))
    );
    assert_eq!(scene.counts().await["total"], 0);

    scene.world.deploy(&scene.user, &scene.device, &scene.model).await;
    let coming = scene.current().await;
    assert_eq!(
        (&coming[0]["removed"], &coming[0]["state"], &coming[0]["serving"]),
        (&json!(false), &json!("queued"), &Value::Null)
    );
    assert_eq!(scene.counts().await["in_progress"], 1);
}

#[tokio::test]
async fn a_removal_takes_a_failed_redeployment_along_and_none_that_fails_later() {
    let scene = Scene::deployed(World::set_up().await).await;
    scene.failing().await;
    assert_eq!(scene.counts().await["failed"], 1);
    scene.report("removed", 5).await;
    assert_eq!(scene.current().await[0]["removed"], true);
    assert_eq!(
        (&scene.counts().await["failed"], &scene.counts().await["total"]),
        (&json!(0), &json!(0))
    );

    scene.failing().await;
    scene.report("removed", 6).await;
    assert_eq!(scene.current().await[0]["removed"], false, "nothing was removed since");
    assert_eq!(scene.counts().await["failed"], 1);
}

#[tokio::test]
async fn a_first_deployment_that_failed_is_gone_once_somebody_has_seen_it() {
    let scene = Scene::empty(World::set_up().await).await;
    let failed = scene.failing().await;
    assert_eq!(scene.counts().await["failed"], 1);
    let seen = scene.dismiss(&failed).await;
    assert_eq!(
        (seen.status, seen.text("state").as_str(), &seen.body["removed"]),
        (202, "failed", &json!(true))
    );
    assert_eq!(
        (&scene.counts().await["failed"], &scene.counts().await["total"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(scene.dismiss(&failed).await.status, 202, "twice is once");
    let path = format!("/api/v1/models/{}", scene.model);
    assert_eq!(scene.world.delete(&path, &scene.user).await.status, 204);
}

#[tokio::test]
async fn a_redeployment_that_failed_gives_way_to_the_one_by_which_the_model_is_there() {
    let scene = Scene::deployed(World::set_up().await).await;
    scene.report("serving", 1).await;
    let served = scene.current().await[0]["deployment_id"].clone();
    let failed = scene.failing().await;
    assert_eq!(scene.current().await[0]["deployment_id"], failed.body["deployment_id"]);
    let seen = scene.dismiss(&failed).await;
    assert_eq!((&seen.body["current"], &seen.body["removed"]), (&json!(false), &json!(true)));
    let current = scene.current().await;
    assert_eq!(current.len(), 1);
    assert_eq!((&current[0]["deployment_id"], &current[0]["removed"]), (&served, &json!(false)));
    assert_eq!(current[0]["serving"]["is_serving"], true);
    let counts = scene.counts().await;
    assert_eq!((&counts["failed"], &counts["serving"]), (&json!(0), &json!(1)));
    // Somebody has seen an older failure too: what is current stays so.
    assert_eq!(scene.dismiss(&failed).await.status, 202);
    assert_eq!(scene.current().await[0]["deployment_id"], served);
}

// Holds: S1-3b
#[tokio::test]
async fn a_redeployment_that_failed_shows_what_is_in_force_and_stays_stale() {
    let scene = Scene::deployed(World::set_up().await).await;
    let served = scene.current().await[0].clone();
    scene.report_with(served["allowlist_digest"].as_str().unwrap(), "serving", 1).await;
    scene.world.set_allowlist(&scene.user, &["https://new.example"]).await;
    let fails = async |wish: Value| {
        let mut body = json!({ "device_id": scene.device.id, "model_id": scene.model });
        body.as_object_mut().unwrap().extend(wish.as_object().unwrap().clone());
        let asked = scene.world.post("/api/v1/deployments", &scene.user, body).await;
        assert_eq!(asked.status, 202, "{asked:?}");
        scene.world.poll(&scene.device, 0).await;
        scene.world.result(&scene.device, &asked.text("command_id"), "failed").await;
        asked
    };
    let other = json!({
        "port": 9090, "alias": "renamed", "settings": {"nope": 1}, "proxy": {"cors": false},
    });
    assert_eq!(fails(other).await.body["port"], 9090, "while it is under way");
    let in_force = |shown: &Value| {
        for member in ["port", "alias", "settings", "proxy", "allowlist_digest"] {
            assert_eq!(shown[member], served[member], "{member} of {shown}");
        }
    };
    let failed = scene.current().await[0].clone();
    in_force(&failed);
    assert_eq!((&failed["state"], &failed["stale"]), (&json!("failed"), &json!(true)));
    let list = scene.world.get("/api/v1/deployments?stale=true&current=true", &scene.user).await;
    assert_eq!(list.items().len(), 1);
    assert_eq!(scene.counts().await["stale"], 1);

    // The next one keeps what is in force, and none of what failed.
    let again = fails(json!({})).await;
    assert_eq!((&again.body["port"], &again.body["alias"]), (&served["port"], &served["alias"]));
    assert_eq!(again.body["settings"], served["settings"]);

    let path = format!("/api/v1/models/{}/repair-serving/{}", scene.model, scene.device.id);
    let repair = scene.world.act(&path, &scene.user).await;
    scene.world.poll(&scene.device, 0).await;
    scene.world.result(&scene.device, &repair.text("command_id"), "succeeded").await;
    let repaired = scene.current().await[0].clone();
    assert_ne!(repaired["allowlist_digest"], served["allowlist_digest"]);
    scene.report_with(repaired["allowlist_digest"].as_str().unwrap(), "serving", 2).await;
    let repaired = scene.current().await[0].clone();
    assert_eq!((&repaired["state"], &repaired["stale"]), (&json!("failed"), &json!(false)));
}
