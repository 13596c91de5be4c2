//! Fleets: tags, and the selection of devices.

use serde_json::{Value, json};

use crate::harness::{Device, World, registration};

#[tokio::test]
async fn devices_are_selected_by_tag_version_and_state() {
    let (world, user) = World::set_up().await;
    let lab = fleet_device(&world, &user, "lab", 1).await;
    let home = fleet_device(&world, &user, "home", 2).await;
    world.hello(&lab, 0, &[]).await;
    let select = |selector: &str| {
        let path = format!("/api/v1/devices?select={}", selector.replace('<', "%3C"));
        let (world, user) = (&world, user.clone());
        async move {
            let answer = world.get(&path, &user).await;
            let id = |device: &Value| device["device_id"].as_str().unwrap().to_owned();
            answer.items().iter().map(id).collect::<Vec<_>>()
        }
    };
    assert_eq!(select("tag=lab").await, std::slice::from_ref(&lab.id));
    assert_eq!(select("state=offline").await, std::slice::from_ref(&home.id));
    assert_eq!(select("version=1.3.0").await.len(), 2);
    assert_eq!(select("tag=lab,version<1.3.0").await.len(), 0);
    assert_eq!(select("tag!=lab,state=offline").await, std::slice::from_ref(&home.id));
    let wrong = world.get("/api/v1/devices?select=tag=lab,colour=red", &user).await;
    wrong.is(422, "invalid-request");
    assert!(wrong.text("detail").starts_with("select: term 2 of the selection, `colour=red`"));
    let bob = world.another_account("bob@example.org").await;
    assert!(world.get("/api/v1/devices?select=tag=lab", &bob).await.items().is_empty());
}

#[tokio::test]
async fn a_selection_comes_in_pages() {
    let (world, user) = World::set_up().await;
    for number in 0..5 {
        let tag = if number % 2 == 0 { "even" } else { "odd" };
        fleet_device(&world, &user, tag, number + 1).await;
    }
    let first = world.get("/api/v1/devices?select=tag=even&limit=2", &user).await;
    assert_eq!(first.items().len(), 2);
    let cursor = first.text("next_cursor");
    let path = format!("/api/v1/devices?select=tag=even&limit=2&cursor={cursor}");
    let second = world.get(&path, &user).await;
    assert_eq!((second.items().len(), &second.body["next_cursor"]), (1, &Value::Null));
}

#[tokio::test]
async fn tags_of_a_device_are_edited_and_stay_in_bounds() {
    let (world, user) = World::set_up().await;
    let device = fleet_device(&world, &user, "lab", 1).await;
    let path = format!("/api/v1/devices/{}", device.id);
    let change = |body: Value| world.call("PATCH", &path, &user, Some(body));
    let changed = change(json!({ "add_tags": ["desk", "lab"], "remove_tags": ["none"] })).await;
    assert_eq!(changed.body["tags"], json!(["lab", "desk"]));
    let changed = change(json!({ "remove_tags": ["lab"] })).await;
    assert_eq!(changed.body["tags"], json!(["desk"]));
    change(json!({ "add_tags": ["a,b"] })).await.is(422, "invalid-request");
    let many: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    change(json!({ "add_tags": many })).await.is(422, "invalid-request");
    assert_eq!(world.get(&path, &user).await.body["tags"], json!(["desk"]));
    let log = world.get("/api/v1/audit?action=device.tag", &user).await;
    assert_eq!(log.items()[0]["detail"], "-lab");
}

#[tokio::test]
async fn a_device_is_renamed_and_the_log_says_from_what() {
    let (world, user) = World::set_up().await;
    let device = fleet_device(&world, &user, "lab", 1).await;
    let path = format!("/api/v1/devices/{}", device.id);
    let before = world.get(&path, &user).await.text("name");
    let renamed = world.call("PATCH", &path, &user, Some(json!({ "name": " desk " }))).await;
    assert_eq!((renamed.text("name").as_str(), &renamed.body["tags"]), ("desk", &json!(["lab"])));
    world.call("PATCH", &path, &user, Some(json!({ "name": "" }))).await.is(422, "invalid-request");
    let log = world.get("/api/v1/audit?action=device", &user).await;
    assert_eq!(log.items()[0]["action"], "device.rename");
    assert_eq!(log.items()[0]["detail"], format!("{before} to desk"));
}

async fn fleet_device(world: &World, user: &str, tag: &str, seed: u8) -> Device {
    let body = json!({ "kind": "fleet", "tags": [tag] });
    let key = world.post("/api/v1/keys", user, body).await.text("key");
    let mut body = registration("fleet_key", &key);
    body["public_key"] = json!(crate::harness::pair(seed).verifying());
    let answer = world.post("/api/v1/devices/register-with-key", "", body).await;
    Device::from_answer(&answer)
}
