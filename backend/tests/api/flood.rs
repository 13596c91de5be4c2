//! Floods: bodies that are too large, and too many pending requests of one person or one address.

use axum::{
    body::Body,
    http::{Request, header},
};
use futures_util::stream;
use link_protocol::{backend_api::session::CSRF_HEADER, limits};
use serde_json::{Value, json};

use crate::harness::{MINUTE, World};

#[tokio::test]
async fn a_body_beyond_the_bound_is_refused_by_every_operation_that_reads_one() {
    let (world, ada) = World::set_up().await;
    let device = world.online_device(&ada).await;
    let model = world.model(&ada, false).await;
    let document: Value = serde_json::from_str(&link_backend::openapi_json()).unwrap();
    let mut tried = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if operation["requestBody"]["content"].get("application/json").is_none() {
                continue;
            }
            let zeros = |prefix: &str| format!("{prefix}_{}", "0".repeat(32));
            let path = path
                .replace("{device_id}", &device.id)
                .replace("{model_id}", &model)
                .replace("{command_id}", &zeros("cmd"))
                .replace("{user_id}", &zeros("usr"));
            let of_a_device = operation["security"].to_string().contains("device_token");
            let token = if of_a_device { &device.token } else { &ada };
            // Once with a declared length, and once in chunks of unknown total length.
            for announced in [true, false] {
                let piece = vec![b' '; 64 * 1024];
                let pieces = limits::JSON_BODY_LIMIT / piece.len() + 1;
                let body = if announced {
                    Body::from(piece.repeat(pieces))
                } else {
                    let pieces = (0..pieces).map(move |_| Ok::<_, std::io::Error>(piece.clone()));
                    Body::from_stream(stream::iter(pieces))
                };
                let mut request = Request::builder()
                    .method(method.to_uppercase().as_str())
                    .uri(&path)
                    .header(header::CONTENT_TYPE, "application/json")
                    // A login with a cookie is for the backend's own pages.
                    .header(header::HOST, "localhost")
                    .header("sec-fetch-site", "same-origin")
                    .header(CSRF_HEADER, "1");
                if !operation["security"].is_null() {
                    request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
                }
                if announced {
                    let length = (pieces * 64 * 1024).to_string();
                    request = request.header(header::CONTENT_LENGTH, length);
                }
                world.send(request.body(body).unwrap()).await.is(413, "payload-too-large");
            }
            tried += 1;
        }
    }
    assert!(tried >= 25, "{tried}");
}

#[tokio::test]
async fn a_member_has_a_bounded_number_of_tokens_and_an_account_of_invitations() {
    let (world, ada) = World::set_up().await;
    let wish = json!({ "name": "ci", "scopes": ["devices:read"] });
    for _ in 0..limits::PERSONAL_TOKENS {
        assert_eq!(world.post("/api/v1/tokens", &ada, wish.clone()).await.status, 201);
    }
    world.post("/api/v1/tokens", &ada, wish).await.is(409, "quota-reached");
    let invitations = "/api/v1/members/invitations";
    for _ in 0..100 {
        let made = world.post(invitations, &ada, json!({ "role": "viewer" })).await;
        assert_eq!(made.status, 201);
    }
    let more = world.post(invitations, &ada, json!({ "role": "viewer" })).await;
    more.is(409, "quota-reached");
}

#[tokio::test]
async fn a_thousand_machines_may_wait_and_whoever_has_the_most_gives_way() {
    let world = World::with(|config| config.behind_proxy = true).await;
    world.create_first_account().await;
    let ask = |number: u32| {
        let request = Request::post("/api/v1/auth/device/code")
            .header("content-type", "application/json")
            .header("host", "127.0.0.1:8080")
            .header("x-forwarded-for", format!("198.51.{}.{}", number / 250, number % 250))
            .body(Body::from(json!({ "client_name": "bot" }).to_string()));
        world.send(request.unwrap())
    };
    for number in 0..1_000 {
        assert_eq!(ask(number).await.status, 200, "{number}");
    }
    // An honest machine asks, then the flood continues from the same networks as before.
    let honest = ask(60_000).await;
    assert_eq!(honest.status, 200, "{honest:?}");
    world.advance(MINUTE);
    for number in 0..1_000 {
        assert_eq!(ask(number).await.status, 200, "{number}");
    }
    let waiting =
        world.select("SELECT CAST(COUNT(*) AS TEXT) FROM device_codes WHERE $1 = ''", "").await;
    assert_eq!(waiting, ["1000"]);
    let code = json!({ "device_code": honest.text("device_code") });
    let poll = world.post("/api/v1/auth/device/token", "", code).await;
    poll.is(400, "authorization-pending");
}
