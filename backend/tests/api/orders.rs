//! Lists that are searched, and lists in several orders.

use std::{collections::BTreeSet, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::json;

use crate::{
    harness::World,
    lists::{rename, text, two_pages_of_devices},
};

/// Returns the ids of every page of a list.
async fn all(world: &World, user: &str, list: &str, query: &str) -> Vec<String> {
    let id = format!("{}_id", list.trim_end_matches('s'));
    let mut ids = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = world.get(&format!("/api/v1/{list}?{query}{cursor}"), user).await;
        assert_eq!(page.status, 200, "{page:?}");
        ids.extend(page.items().iter().map(|item| item[&id].as_str().unwrap().to_owned()));
        let Some(next) = page.body["next_cursor"].as_str() else { return ids };
        let next = format!("&cursor={next}");
        assert_ne!(next, cursor, "a list goes on");
        cursor = next;
    }
}

/// A list as an account sees it. A place is a place in `ids`.
struct List<'a> {
    world: &'a World,
    user: &'a str,
    name: &'a str,
    ids: Vec<String>,
}

impl List<'_> {
    /// Asserts that the search for `q` finds what is at these places, the newest first.
    async fn finds(&self, q: &str, places: &[usize]) {
        assert_eq!(self.places(&format!("limit=1&q={q}")).await, places, "{q}");
    }

    /// Asserts that the list has this order, in pages of several lengths.
    async fn is_ordered(&self, sort: &str, places: [usize; 4]) {
        for limit in [1, 3, 200] {
            let found = self.places(&format!("limit={limit}{sort}")).await;
            assert_eq!(found, places, "{sort} by {limit}");
        }
    }

    async fn places(&self, query: &str) -> Vec<usize> {
        let found = all(self.world, self.user, self.name, query).await;
        let place = |id: &String| self.ids.iter().position(|one| one == id).unwrap();
        found.iter().map(place).collect()
    }
}

/// Adds a model of this size, or one whose file is still to be uploaded, and returns its id.
async fn model(world: &World, user: &str, name: &str, size_bytes: Option<u64>) -> String {
    let mut body = json!({ "name": name, "file_name": "tiny.gguf" });
    if let Some(size_bytes) = size_bytes {
        body["url"] = json!("https://models.example/tiny.gguf");
        body["sha256"] = json!("0".repeat(64));
        body["size_bytes"] = json!(size_bytes);
    }
    let answer = world.post("/api/v1/models", user, body).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.text("model_id")
}

#[tokio::test]
async fn devices_are_found_by_a_part_of_the_name_by_the_beginning_of_the_id_and_by_tag() {
    let (world, user) = World::set_up().await;
    let (one, other) = (world.online_device(&user).await, world.online_device(&user).await);
    rename(&world, &user, &one.id, "North Window").await;
    rename(&world, &user, &other.id, "cellar 100%_").await;
    let tags = json!({ "add_tags": ["lab"] });
    world.call("PATCH", &format!("/api/v1/devices/{}", other.id), &user, Some(tags)).await;
    let ids = vec![one.id.clone(), other.id.clone()];
    let list = List { world: &world, user: &user, name: "devices", ids };
    for (q, found) in [
        ("north", vec![0]),
        ("WINDOW", vec![0]),
        ("100%25_", vec![1]),
        ("%25", vec![1]),
        ("lab", vec![1]),
        ("ab", vec![]),
        (&one.id, vec![0]),
        (one.id.strip_prefix("dev_").unwrap(), vec![0]),
        ("dev_", vec![1, 0]),
        ("nothing", vec![]),
    ] {
        list.finds(q, &found).await;
    }
    let both = world.get("/api/v1/devices?q=cellar&select=tag=lab", &user).await;
    assert_eq!(both.items().len(), 1);
    let none = world.get("/api/v1/devices?q=north&select=tag=lab", &user).await;
    assert!(none.items().is_empty());
    let long = "x".repeat(201);
    world.get(&format!("/api/v1/devices?q={long}"), &user).await.is(422, "invalid-request");
}

#[tokio::test]
async fn devices_are_listed_in_the_order_that_is_asked_for() {
    let (world, user) = World::set_up().await;
    let mut ids = Vec::new();
    // Two have one name, the last one has never been there, and the second was there last.
    for name in ["beta", "Alpha", "beta", "gamma"] {
        let device = world.register(&user).await;
        rename(&world, &user, &device.id, name).await;
        ids.push(device);
    }
    for device in [&ids[0], &ids[2], &ids[1]] {
        world.hello(device, 0, &[]).await;
        world.advance(Duration::from_secs(20));
    }
    let ids = ids.into_iter().map(|device| device.id).collect();
    let list = List { world: &world, user: &user, name: "devices", ids };
    for (sort, expected) in [
        ("", [3, 2, 1, 0]),
        ("&sort=-registered", [3, 2, 1, 0]),
        ("&sort=registered", [0, 1, 2, 3]),
        ("&sort=name", [1, 0, 2, 3]),
        ("&sort=-name", [3, 2, 0, 1]),
        ("&sort=last_seen", [3, 0, 2, 1]),
        ("&sort=-last_seen", [1, 2, 0, 3]),
    ] {
        list.is_ordered(sort, expected).await;
    }
    let beta = world.get("/api/v1/devices?sort=-name&q=BETA", &user).await;
    assert_eq!(beta.items().len(), 2, "{beta:?}");
    let export = text(&world.get("/api/v1/devices/export?sort=name", &user).await);
    let lines: Vec<&str> = export.lines().skip(1).collect();
    assert!(lines[0].contains("Alpha") && lines[3].contains("gamma"), "{export}");
    let moving = world.get("/api/v1/devices/export?sort=-last_seen", &user).await;
    moving.is(422, "invalid-request");
}

#[tokio::test]
async fn devices_with_any_name_are_paged_by_it() {
    let (world, user) = World::set_up().await;
    let long = "x".repeat(60);
    let mut expected = Vec::new();
    for name in ["name:x:y", "Ä", "ä", "a b", "a-b", "🦀", &long, "'; --"] {
        let device = world.register(&user).await;
        rename(&world, &user, &device.id, name).await;
        expected.push(device.id);
    }
    for sort in ["name", "-name"] {
        let mut found = all(&world, &user, "devices", &format!("limit=1&sort={sort}")).await;
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{sort}");
    }
}

#[tokio::test]
async fn a_selection_in_an_order_has_every_device_that_matches() {
    let world = World::with(|config| config.device_limit = 1_000).await;
    let user = world.create_first_account().await;
    let (count, last) = two_pages_of_devices(&world, &user).await;
    let tags = json!({ "add_tags": ["lab"] });
    world.call("PATCH", &format!("/api/v1/devices/{last}"), &user, Some(tags)).await;
    let offline =
        all(&world, &user, "devices", "select=state=offline,tag!=lab&sort=name&limit=50").await;
    assert_eq!(offline.len(), count as usize - 1);
    let distinct: BTreeSet<&String> = offline.iter().collect();
    assert_eq!(distinct.len(), offline.len(), "none is repeated");
    assert_eq!(
        all(&world, &user, "devices", "select=tag=lab&sort=registered&limit=1").await,
        [last]
    );
}

#[tokio::test]
async fn a_cursor_of_another_order_and_an_unknown_order_are_refused() {
    let (world, user) = World::set_up().await;
    world.register(&user).await;
    world.register(&user).await;
    let cursor = async |sort: &str| {
        let page = world.get(&format!("/api/v1/devices?limit=1&sort={sort}"), &user).await;
        page.text("next_cursor")
    };
    for (from, to) in [("name", "-name"), ("name", "-registered"), ("-registered", "last_seen")] {
        let path = format!("/api/v1/devices?sort={to}&cursor={}", cursor(from).await);
        let refused = world.get(&path, &user).await;
        refused.is(422, "invalid-request");
        assert!(refused.text("detail").contains(&format!("sort={to}")), "{refused:?}");
    }
    for list in
        ["devices", "models", "deployments", "commands", "keys", "tokens", "members", "audit"]
    {
        let path = format!("/api/v1/{list}?cursor=");
        world.get(&path, &user).await.is(422, "invalid-request");
    }
    let nul = URL_SAFE_NO_PAD.encode(format!("name:{}:\0", "dev_".to_owned() + &"0".repeat(32)));
    for query in ["sort=size", "q=%00", "q=a%0Ab", &format!("sort=name&cursor={nul}")] {
        let path = format!("/api/v1/devices?{query}");
        world.get(&path, &user).await.is(422, "invalid-request");
    }
}

#[tokio::test]
async fn models_are_found_by_a_part_of_the_name_and_by_the_beginning_of_the_id() {
    let (world, user) = World::set_up().await;
    let phi = model(&world, &user, "Phi 4 mini", Some(2_000)).await;
    let smol = model(&world, &user, "smol_100%", None).await;
    let stranger = world.another_account("bob@example.org").await;
    model(&world, &stranger, "Phi of somebody else", Some(1)).await;
    let list =
        List { world: &world, user: &user, name: "models", ids: vec![phi.clone(), smol.clone()] };
    for (q, found) in [
        ("phi", vec![0]),
        ("4%20MINI", vec![0]),
        ("_100%25", vec![1]),
        (&phi, vec![0]),
        (phi.strip_prefix("mdl_").unwrap(), vec![0]),
        ("mdl_", vec![1, 0]),
        ("nothing", vec![]),
    ] {
        list.finds(q, &found).await;
    }
}

#[tokio::test]
async fn models_are_listed_in_the_order_that_is_asked_for() {
    let (world, user) = World::set_up().await;
    let mut ids = Vec::new();
    // Two have one name, and two have one size, of which one is unknown.
    for (name, size) in
        [("beta", Some(5)), ("Alpha", Some(900)), ("beta", None), ("g: amma", Some(5))]
    {
        ids.push(model(&world, &user, name, size).await);
    }
    let list = List { world: &world, user: &user, name: "models", ids };
    for (sort, expected) in [
        ("", [3, 2, 1, 0]),
        ("&sort=-created", [3, 2, 1, 0]),
        ("&sort=created", [0, 1, 2, 3]),
        ("&sort=name", [1, 0, 2, 3]),
        ("&sort=-name", [3, 2, 0, 1]),
        ("&sort=size", [2, 0, 3, 1]),
        ("&sort=-size", [1, 3, 0, 2]),
    ] {
        list.is_ordered(sort, expected).await;
    }
    assert_eq!(all(&world, &user, "models", "sort=-name&q=BETA&limit=1").await.len(), 2);
    let next = world.get("/api/v1/models?sort=name&limit=1", &user).await.text("next_cursor");
    for query in [&format!("sort=size&cursor={next}"), &format!("cursor={next}"), "sort=registered"]
    {
        world.get(&format!("/api/v1/models?{query}"), &user).await.is(422, "invalid-request");
    }
}

#[tokio::test]
async fn deployments_are_found_by_the_names_in_them_and_by_the_beginning_of_the_id() {
    let (world, user) = World::set_up().await;
    let (ward, cellar) = (world.online_device(&user).await, world.online_device(&user).await);
    rename(&world, &user, &ward.id, "Ward 7").await;
    rename(&world, &user, &cellar.id, "cellar").await;
    let phi = model(&world, &user, "Phi 4", Some(2_000)).await;
    let smol = model(&world, &user, "smol", Some(2_000)).await;
    let mut ids = Vec::new();
    for (device, model, alias) in
        [(&ward, &phi, "phi"), (&cellar, &phi, "helper"), (&cellar, &smol, "smol")]
    {
        let body = json!({ "device_id": device.id, "model_id": model, "alias": alias });
        let answer = world.post("/api/v1/deployments", &user, body).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        ids.push(answer.text("deployment_id"));
    }
    let first = ids[0].clone();
    let list = List { world: &world, user: &user, name: "deployments", ids };
    for (q, expected) in [
        ("phi%204", vec![1, 0]),
        ("WARD", vec![0]),
        ("cellar", vec![2, 1]),
        ("Help", vec![1]),
        (first.as_str(), vec![0]),
        (first.strip_prefix("dep_").unwrap(), vec![0]),
        ("nothing", vec![]),
    ] {
        list.finds(q, &expected).await;
    }
    let path = format!("/api/v1/deployments?q=phi&device_id={}&current=true", cellar.id);
    assert_eq!(world.get(&path, &user).await.items().len(), 1);
    let export = text(&world.get("/api/v1/deployments/export?q=ward", &user).await);
    assert_eq!(export.split_terminator("\r\n").count(), 2, "{export}");
    let stranger = world.another_account("bob@example.org").await;
    assert!(world.get("/api/v1/deployments?q=phi", &stranger).await.items().is_empty());
    world.get("/api/v1/deployments?q=%00", &user).await.is(422, "invalid-request");
}
