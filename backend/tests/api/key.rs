//! Registration and fleet keys of an account.

use serde_json::json;

use crate::harness::World;

#[tokio::test]
async fn a_key_is_shown_once_and_listed_without_its_secret() {
    let (world, user) = World::set_up().await;
    let body = json!({ "kind": "fleet", "name": "lab", "max_devices": 5, "tags": ["lab"] });
    let made = world.post("/api/v1/keys", &user, body).await;
    assert_eq!(made.status, 201);
    let key = made.text("key");
    assert!(key.starts_with("lfk_"));
    let list = world.get("/api/v1/keys", &user).await;
    assert_eq!(list.items(), [made.body["info"].clone()]);
    assert_eq!(list.items()[0]["max_devices"], 5);
    assert!(!String::from_utf8_lossy(&list.bytes).contains(&key[4..]));
}

#[tokio::test]
async fn a_wish_for_a_key_that_contradicts_itself_is_refused() {
    let (world, user) = World::set_up().await;
    for body in [
        json!({ "kind": "registration", "max_devices": 2 }),
        json!({ "kind": "fleet", "max_devices": 0 }),
        json!({ "kind": "fleet", "expires_at": "2020-01-01T00:00:00Z" }),
        json!({ "kind": "fleet", "name": "x".repeat(101) }),
        json!({ "kind": "fleet", "tags": [""] }),
        json!({ "kind": "master" }),
    ] {
        world.post("/api/v1/keys", &user, body).await.is(422, "invalid-request");
    }
    assert!(world.get("/api/v1/keys", &user).await.items().is_empty());
}

#[tokio::test]
async fn lists_come_in_pages() {
    let (world, user) = World::set_up().await;
    for number in 0..5 {
        let body = json!({ "kind": "fleet", "name": number.to_string() });
        world.post("/api/v1/keys", &user, body).await;
    }
    let mut names = Vec::new();
    let mut path = "/api/v1/keys?limit=2".to_owned();
    loop {
        let page = world.get(&path, &user).await;
        names.extend(page.items().iter().map(|key| key["name"].as_str().unwrap().to_owned()));
        match page.body["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/v1/keys?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(names, ["4", "3", "2", "1", "0"]);
    for bad in ["limit=0", "limit=201", "limit=x", "cursor=%21"] {
        let answer = world.get(&format!("/api/v1/keys?{bad}"), &user).await;
        answer.is(422, "invalid-request");
    }
}
