//! Token usage by the hour and day, and the deletion of old rows.

use std::time::Duration;

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::harness::{Answer, Device, PASSWORD, World};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Reports an inference with 3 prompt tokens and 4 completion tokens.
async fn report(world: &World, device: &Device, model: &str, number: u32) {
    let usage = json!({
        "inference_id": format!("inf_{number:032x}"), "model_id": model, "prompt_tokens": 3,
        "completion_tokens": 4, "provenance": "exact", "duration_ms": 5,
        "time_to_first_token_ms": 1,
    });
    let path = device.path(&format!("/models/{model}/telemetry"));
    assert_eq!(world.post(&path, &device.token, usage).await.status, 204);
}

/// Returns the usage that the owner sees after a new login.
async fn usage(world: &World, query: &str) -> Answer {
    let login = json!({ "email": "ada@example.org", "password": PASSWORD });
    let user = world.post("/api/v1/auth/login", "", login).await.text("access_token");
    world.get(&format!("/api/v1/usage?{query}"), &user).await
}

/// Returns the inferences of each item.
fn inferences(answer: &Answer) -> Vec<u64> {
    answer.items().iter().map(|item| item["inferences"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn usage_is_added_up_by_the_hour_and_by_the_day() {
    let (world, user) = World::set_up().await;
    let (one, other) = (world.online_device(&user).await, world.online_device(&user).await);
    let model = world.model(&user, false).await;
    world.deployed(&user, &one, &model).await;
    world.deployed(&user, &other, &model).await;
    for number in 0..3 {
        report(&world, &one, &model, number).await;
    }
    report(&world, &one, &model, 2).await;
    report(&world, &other, &model, 0).await;
    world.advance(HOUR);
    report(&world, &one, &model, 3).await;

    let hours = usage(&world, "").await;
    assert_eq!(inferences(&hours).iter().sum::<u64>(), 5, "{hours:?}");
    assert_eq!(hours.items().len(), 3);
    let of_one = usage(&world, &format!("device_id={}", one.id)).await;
    assert_eq!(inferences(&of_one), [1, 3], "the newest first; a repeat counts once");
    let first = &of_one.items()[1];
    assert_eq!(
        (&first["prompt_tokens"], &first["completion_tokens"], &first["duration_ms"]),
        (&json!(9), &json!(12), &json!(15))
    );
    assert_eq!((&first["bucket"], &first["uncounted"]), (&json!("hour"), &json!(0)));

    let begin = first["begin"].as_str().unwrap();
    let until = usage(&world, &format!("device_id={}&to={begin}", one.id)).await;
    assert!(until.items().is_empty(), "`to` is not in it: {until:?}");
    let later = of_one.items()[0]["begin"].as_str().unwrap();
    let query = format!("device_id={}&from={begin}&to={later}", one.id);
    assert_eq!(inferences(&usage(&world, &query).await), [3]);

    let days = usage(&world, "bucket=day").await;
    let mut counted = inferences(&days);
    counted.sort_unstable();
    assert_eq!(counted, [1, 4], "{days:?}");
    let stranger = world.another_account("bob@example.org").await;
    assert!(world.get("/api/v1/usage", &stranger).await.items().is_empty());
}

#[tokio::test]
async fn usage_comes_in_pages_and_wrong_questions_are_refused() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    for number in 0..5 {
        report(&world, &device, &model, number).await;
        world.advance(HOUR);
    }
    let mut begins: Vec<Value> = Vec::new();
    let mut query = "limit=2".to_owned();
    loop {
        let page = usage(&world, &query).await;
        begins.extend(page.items().iter().map(|item| item["begin"].clone()));
        match page.body["next_cursor"].as_str() {
            Some(cursor) => query = format!("limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(begins.len(), 5);
    assert!(begins.windows(2).all(|pair| pair[0].as_str() > pair[1].as_str()), "{begins:?}");
    for bad in ["bucket=week", "from=yesterday", "to=", "device_id=x", "cursor=eA", "model_id=1"] {
        usage(&world, bad).await.is(422, "invalid-request");
    }
}

#[tokio::test]
async fn old_hours_become_days_and_old_days_go() {
    let world = World::with(|config| {
        config.telemetry_kept = 2;
        config.retention.usage_hours = SignedDuration::from_hours(48);
        config.retention.usage = SignedDuration::from_hours(240);
    })
    .await;
    let user = world.create_first_account().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    for number in 0..30 {
        report(&world, &device, &model, number).await;
        world.advance(HOUR);
    }
    let before: u64 = inferences(&usage(&world, "bucket=day").await).iter().sum();
    assert_eq!(before, 30, "what the reports said outlives them");
    world.advance(3 * DAY);
    world.backend.app.purge().await.unwrap();
    assert!(usage(&world, "").await.items().is_empty(), "no hour is left");
    let days = usage(&world, "bucket=day").await;
    assert_eq!(inferences(&days).iter().sum::<u64>(), 30);
    assert!(days.items().len() <= 3, "{days:?}");
    let rows = "SELECT model_id FROM usage_totals WHERE device_id = $1";
    assert_eq!(world.select(rows, &device.id).await.len(), days.items().len());

    // A report counts in the hour of its arrival, and is kept from then on.
    report(&world, &device, &model, 100).await;
    assert_eq!(inferences(&usage(&world, "").await), [1]);
    world.advance(10 * DAY);
    world.backend.app.purge().await.unwrap();
    assert_eq!(inferences(&usage(&world, "bucket=day").await), [1]);
    world.advance(2 * DAY);
    world.backend.app.purge().await.unwrap();
    assert!(usage(&world, "bucket=day").await.items().is_empty());
}

#[tokio::test]
async fn logs_finished_commands_and_samples_are_kept_for_their_time() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    world.deployed(&user, &device, &model).await;
    let stop = world.act(&format!("/api/v1/models/{model}/stop/{}", device.id), &user).await;
    let waits = stop.text("command_id");
    for number in 0..600 {
        let record = json!({ "message": number.to_string(), "severity": "info" });
        assert_eq!(world.post("/api/v1/logs", &device.token, record).await.status, 204);
    }
    world.poll(&device, 1).await;
    assert_eq!(world.receipt(&device, &waits, "stored").await.status, 204);
    let logs = "SELECT message FROM logs WHERE device_id = $1";
    let commands = "SELECT command_id FROM commands WHERE device_id = $1";
    world.advance(29 * DAY);
    world.backend.app.purge().await.unwrap();
    assert_eq!(world.select(logs, &device.id).await.len(), 600);
    world.advance(2 * DAY);
    world.backend.app.purge().await.unwrap();
    assert!(world.select(logs, &device.id).await.is_empty(), "more than one batch");
    assert_eq!(world.select(commands, &device.id).await.len(), 2);
    world.advance(60 * DAY);
    world.backend.app.purge().await.unwrap();
    assert_eq!(world.select(commands, &device.id).await, [waits], "what is not done stays");
}

/// Reports an inference that waited `first_ms` for its first of 101 tokens, and generated the rest in a second.
async fn report_timed(world: &World, device: &Device, model: &str, number: u32, first_ms: u64) {
    let usage = json!({
        "inference_id": format!("inf_{number:032x}"), "model_id": model, "prompt_tokens": 3,
        "completion_tokens": 101, "provenance": "exact", "duration_ms": first_ms + 1_000,
        "time_to_first_token_ms": first_ms,
    });
    let path = device.path(&format!("/models/{model}/telemetry"));
    assert_eq!(world.post(&path, &device.token, usage).await.status, 204);
}

/// Returns the group with the key `key`.
fn group<'a>(answer: &'a Answer, key: Option<&str>) -> &'a Value {
    assert_eq!(answer.status, 200, "{answer:?}");
    let groups = answer.body["groups"].as_array().unwrap();
    let found = groups.iter().find(|group| group["key"].as_str() == key);
    found.unwrap_or_else(|| panic!("no group {key:?}: {answer:?}"))
}

#[tokio::test]
async fn usage_in_groups_has_every_hour_and_histograms_that_add_up() {
    let (world, user) = World::set_up().await;
    let (one, other) = (world.online_device(&user).await, world.online_device(&user).await);
    let model = world.model(&user, false).await;
    world.deployed(&user, &one, &model).await;
    world.deployed(&user, &other, &model).await;
    let tags = json!({ "add_tags": ["lab", "fast"] });
    world.call("PATCH", &format!("/api/v1/devices/{}", one.id), &user, Some(tags)).await;
    for number in 0..3 {
        report_timed(&world, &one, &model, number, 150).await;
    }
    world.advance(2 * HOUR);
    report_timed(&world, &other, &model, 0, 3_000).await;
    let silent = json!({
        "inference_id": format!("inf_{:032x}", 9), "model_id": model, "duration_ms": 7,
        "prompt_tokens": null, "completion_tokens": null, "provenance": "absent",
        "time_to_first_token_ms": null,
    });
    let path = other.path(&format!("/models/{model}/telemetry"));
    assert_eq!(world.post(&path, &other.token, silent).await.status, 204);

    let all = usage(&world, "group_by=none").await;
    let total = &group(&all, None)["total"];
    assert_eq!((&total["inferences"], &total["counted"]), (&json!(5), &json!(4)), "{total}");
    assert_eq!((&total["uncounted"], &total["completion_tokens"]), (&json!(1), &json!(404)));
    assert_eq!(total["first_token_ms"]["counts"], json!([0, 0, 3, 0, 0, 0, 1, 0, 0, 0]));
    assert_eq!(total["token_rate"]["counts"], json!([0, 0, 0, 0, 0, 0, 4, 0, 0, 0]));
    let (p50, p95) = (&total["first_token_ms"]["p50"], &total["first_token_ms"]["p95"]);
    assert!((100.0..=200.0).contains(&p50.as_f64().unwrap()), "{p50}");
    assert!((2_000.0..=5_000.0).contains(&p95.as_f64().unwrap()), "{p95}");
    let buckets = group(&all, None)["buckets"].as_array().unwrap();
    assert_eq!(buckets.len(), 24);
    let filled: Vec<u64> =
        buckets[21..].iter().map(|hour| hour["inferences"].as_u64().unwrap()).collect();
    assert_eq!(filled, [3, 0, 2], "an hour without usage has a zero");
    assert!(all.body.get("others").is_none());

    let devices = usage(&world, "group_by=device").await;
    assert_eq!(group(&devices, Some(&one.id))["total"]["inferences"], 3);
    assert!(group(&devices, Some(&other.id))["name"].is_string(), "{devices:?}");
    assert_eq!(devices.body["others"]["total"]["inferences"], 0);
    let models = usage(&world, "group_by=model&bucket=day").await;
    assert_eq!(group(&models, Some(&model))["total"]["uncounted"], 1);
    assert_eq!(group(&models, Some(&model))["buckets"].as_array().unwrap().len(), 30);
    let tags = usage(&world, "group_by=tag").await;
    for tag in ["lab", "fast"] {
        assert_eq!(group(&tags, Some(tag))["total"]["inferences"], 3);
    }
    assert_eq!(group(&tags, None)["total"]["inferences"], 2);

    let stranger = world.another_account("bob@example.org").await;
    let nothing = world.get("/api/v1/usage?group_by=none", &stranger).await;
    assert_eq!(group(&nothing, None)["total"]["inferences"], 0);
    for bad in [
        "group_by=colour",
        "group_by=model&limit=3",
        "group_by=none&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
        "group_by=none&bucket=day&from=2020-01-01T00:00:00Z",
    ] {
        usage(&world, bad).await.is(422, "invalid-request");
    }
}

#[tokio::test]
async fn usage_in_groups_is_that_of_one_model_or_one_device() {
    let (world, user) = World::set_up().await;
    let (one, other) = (world.online_device(&user).await, world.online_device(&user).await);
    let tags = json!({ "add_tags": ["lab", "fast"] });
    world.call("PATCH", &format!("/api/v1/devices/{}", one.id), &user, Some(tags)).await;
    let (model, second) = (world.model(&user, false).await, world.model(&user, false).await);
    let unused = world.model(&user, false).await;
    for (device, model, numbers) in
        [(&one, &model, 0..3), (&other, &model, 0..2), (&one, &second, 3..4)]
    {
        world.deployed(&user, device, model).await;
        for number in numbers {
            report_timed(&world, device, model, number, 150).await;
        }
    }
    let asked = async |query: String, user: &str| {
        world.get(&format!("/api/v1/usage?group_by={query}"), user).await
    };
    for (scope, count) in [
        (format!("model_id={model}"), 5),
        (format!("model_id={unused}"), 0),
        (format!("device_id={}", one.id), 4),
        (format!("device_id={}&model_id={model}", other.id), 2),
    ] {
        let some = asked(format!("none&{scope}"), &user).await;
        assert_eq!(group(&some, None)["total"]["inferences"], count, "{scope}");
    }
    let where_used = asked(format!("device&model_id={second}"), &user).await;
    assert_eq!(group(&where_used, Some(&one.id))["total"]["inferences"], 1);
    assert_eq!(where_used.body["groups"].as_array().unwrap().len(), 1, "{where_used:?}");
    let lab = asked(format!("tag&device_id={}", one.id), &user).await;
    assert_eq!(group(&lab, Some("lab"))["total"]["inferences"], 4);
    assert_eq!(lab.body["others"]["total"]["inferences"], 0);

    let stranger = world.another_account("bob@example.org").await;
    let foreign = asked(format!("none&model_id={model}"), &stranger).await;
    assert_eq!(group(&foreign, None)["total"]["inferences"], 0, "of this account alone");
    asked("none&model_id=phi".to_owned(), &user).await.is(422, "invalid-request");
}

#[tokio::test]
async fn days_keep_the_histograms_of_their_hours_and_forgotten_hours_are_no_zeros() {
    let world = World::with(|config| {
        config.retention.usage_hours = SignedDuration::from_hours(48);
    })
    .await;
    let user = world.create_first_account().await;
    let device = world.online_device(&user).await;
    let model = world.model(&user, false).await;
    world.deployed(&user, &device, &model).await;
    for number in 0..4 {
        report_timed(&world, &device, &model, number, 40).await;
        world.advance(HOUR);
    }
    world.advance(5 * DAY);
    world.backend.app.purge().await.unwrap();
    let days = usage(&world, "group_by=model&bucket=day").await;
    let total = &group(&days, Some(&model))["total"];
    assert_eq!(total["first_token_ms"]["counts"][0], 4, "{total}");
    let today = usage(&world, "group_by=none").await.text("from");
    let from = today.parse::<jiff::Timestamp>().unwrap() - SignedDuration::from_hours(24 * 5);
    usage(&world, &format!("group_by=none&from={from}")).await.is(422, "invalid-request");
}

#[tokio::test]
async fn a_device_learns_no_name_of_a_strangers_model_and_fills_no_table() {
    let (world, user) = World::set_up().await;
    let device = world.online_device(&user).await;
    let stranger = world.another_account("bob@example.org").await;
    let foreign = world.model(&stranger, false).await;
    let (own, unused) = (world.model(&user, false).await, world.model(&user, false).await);
    world.deployed(&user, &device, &own).await;
    report(&world, &device, &own, 0).await;
    report(&world, &device, &foreign, 1).await;
    report(&world, &device, &unused, 2).await;
    for number in 3..30 {
        report(&world, &device, &format!("mdl_{number:032x}"), number).await;
    }
    let rows = "SELECT model_id FROM usage_totals WHERE device_id = $1 ORDER BY model_id";
    let no_model = format!("mdl_{}", "0".repeat(32));
    assert_eq!(world.select(rows, &device.id).await, [&no_model[..], &own]);

    let groups = usage(&world, "group_by=model").await;
    assert_eq!(group(&groups, Some(&own))["name"], "Tiny Model");
    let without = group(&groups, Some(&no_model));
    assert_eq!((&without["total"]["inferences"], without.get("name")), (&json!(29), None));
    let devices = usage(&world, "group_by=device").await;
    assert_eq!(group(&devices, Some(&device.id))["total"]["inferences"], 30, "nothing is lost");
    let mut listed = inferences(&usage(&world, "").await);
    listed.sort_unstable();
    assert_eq!(listed, [1, 29]);
}

#[tokio::test]
async fn models_of_others_have_names_where_they_are_shared_or_deployed() {
    let (world, user) = World::set_up_sharing().await;
    let device = world.online_device(&user).await;
    let stranger = world.another_account("bob@example.org").await;
    let model = world.model(&stranger, true).await;
    world.deployed(&user, &device, &model).await;
    report(&world, &device, &model, 0).await;
    let named = async || {
        let groups = usage(&world, "group_by=model").await;
        group(&groups, Some(&model)).get("name").is_some()
    };
    let path = format!("/api/v1/models/{model}");
    let share = async |shared: bool| {
        let answer = world.call("PATCH", &path, &stranger, Some(json!({ "shared": shared }))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    };
    share(false).await;
    assert!(named().await, "it is on a device of the account");
    let commands = world.get("/api/v1/commands", &user).await;
    assert_eq!(commands.items()[0]["model_name"], "Tiny Model");
    let gone = world.delete(&format!("/api/v1/devices/{}", device.id), &user).await;
    assert!(gone.status < 300, "{gone:?}");
    assert!(!named().await, "its name is its owner's again");
    share(true).await;
    assert!(named().await);
}

#[tokio::test]
async fn a_period_at_the_ends_of_time_is_refused_or_answered() {
    let (world, _) = World::set_up().await;
    for bad in [
        "from=9999-12-29T00:00:00Z&to=9999-12-30T20:00:00Z",
        "from=-009999-01-02T02:00:00Z&to=-009999-01-04T00:00:00Z",
        "from=-009999-01-02T02:00:00Z",
        "to=-009999-01-02T02:00:00Z",
        "to=9999-12-30T20:00:00Z",
    ] {
        usage(&world, &format!("group_by=none&bucket=day&{bad}")).await.is(422, "invalid-request");
    }
    let last = usage(&world, "group_by=none&bucket=day&to=9999-12-30T00:00:00Z").await;
    assert_eq!(last.text("to"), "9999-12-30T00:00:00Z");
}
