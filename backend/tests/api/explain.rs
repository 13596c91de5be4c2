//! The list of commands, and the explanation of a command's state in plain words.

use serde_json::json;

use crate::harness::{MINUTE, PASSWORD, SECOND, World};

#[tokio::test]
async fn a_command_is_explained_at_each_of_its_stages() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    world.deployed(&user, &device, &model).await;
    let path = format!("/api/v1/models/{model}/stop/{}", device.id);
    let command = world.act(&path, &user).await.text("command_id");
    let explain = || async {
        let path = format!("/api/v1/commands/{command}/explanation");
        let answer = world.get(&path, &user).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        (answer.text("stage"), answer.text("happened"), answer.text("why"), answer.text("next"))
    };
    let (stage, happened, why, next) = explain().await;
    assert_eq!(
        (stage.as_str(), why.as_str()),
        ("queued", "The device is online and has not asked for it yet.")
    );
    assert!(
        happened.ends_with("was not delivered yet.") && next.contains("expires at"),
        "{happened} {next}"
    );

    world.poll(&device, 1).await;
    let (stage, happened, ..) = explain().await;
    assert_eq!(
        (stage.as_str(), happened.as_str()),
        ("delivered", "It was delivered once and not acknowledged.")
    );
    world.advance(2 * MINUTE);
    let (_, _, why, next) = explain().await;
    assert!(why.starts_with("The device is offline; it was last seen at"), "{why}");
    assert!(next.starts_with("It is delivered again after"), "{next}");

    assert_eq!(world.receipt(&device, &command, "stored").await.status, 204);
    let (stage, _, _, next) = explain().await;
    assert_eq!((stage.as_str(), next.contains("does not expire")), ("acknowledged", true));
    assert_eq!(world.result(&device, &command, "failed").await.status, 204);
    let (stage, happened, why, _) = explain().await;
    assert_eq!((stage.as_str(), why.as_str()), ("ended", "The device says: as it went"));
    assert!(happened.starts_with("The device failed at"), "{happened}");
}

#[tokio::test]
async fn a_command_that_expired_or_made_way_says_why() {
    let (world, user) = World::set_up().await;
    let device = world.register(&user).await;
    let update = |version: &str| {
        let path = format!("/api/v1/devices/{}/update", device.id);
        let (world, user, body) = (&world, user.clone(), json!({ "version": version }));
        async move { world.post(&path, &user, body).await.text("command_id") }
    };
    let explain = |command: String| {
        let (world, user) = (&world, user.clone());
        async move { world.get(&format!("/api/v1/commands/{command}/explanation"), &user).await }
    };
    let older = update("1.4.0").await;
    world.advance(SECOND);
    let newer = update("1.5.0").await;
    assert_eq!(explain(older.clone()).await.text("stage"), "superseded");
    assert_eq!(
        explain(newer.clone()).await.text("why"),
        "The device is offline and has never connected."
    );
    let open = world.get("/api/v1/commands?open=true", &user).await;
    let ids = |answer: &crate::harness::Answer| {
        let id = |command: &serde_json::Value| command["command_id"].as_str().unwrap().to_owned();
        answer.items().iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids(&open), std::slice::from_ref(&newer));
    let all = world.get(&format!("/api/v1/commands?device_id={}", device.id), &user).await;
    assert_eq!(ids(&all), [newer.clone(), older.clone()]);
    let of_type =
        async |query: String| world.get(&format!("/api/v1/commands?{query}"), &user).await;
    let updates = [newer.clone(), older];
    for filter in
        ["type=UPDATE_AGENT".to_owned(), format!("type=UPDATE_AGENT&device_id={}", device.id)]
    {
        assert_eq!(ids(&of_type(filter.clone()).await), updates);
        assert_eq!(ids(&of_type(format!("{filter}&open=true")).await), updates[..1]);
        let other = filter.replace("UPDATE_AGENT", "REPAIR_SERVING");
        assert!(of_type(other).await.items().is_empty());
    }
    of_type("type=update_agent".to_owned()).await.is(422, "invalid-request");

    world.advance(24 * 60 * MINUTE);
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let user = world.post("/api/v1/auth/login", "", login).await.text("access_token");
    let path = format!("/api/v1/commands/{newer}/explanation");
    let expired = world.get(&path, &user).await;
    assert_eq!(expired.text("stage"), "expired");
    assert_eq!(expired.text("why"), "The device did not ask for it in time.");
    assert!(world.get("/api/v1/commands?open=true", &user).await.items().is_empty());
    let bob = world.another_account("bob@example.org").await;
    assert!(world.get("/api/v1/commands", &bob).await.items().is_empty());
    world.get("/api/v1/commands?device_id=nonsense", &user).await.is(422, "invalid-request");
}
