//! Another user of the same machine: their own backend, and nothing of anybody else's.

use link_tests::person::Person;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

/// The user and the group of nobody, on every Linux.
const NOBODY: u32 = 65534;

#[tokio::test]
async fn another_user_gets_a_backend_of_their_own_and_cannot_use_this_one() {
    if !link_platform::session::is_root() {
        eprintln!("skipped: only root can run programs as another user");
        return;
    }
    let ann = Person::new();
    let port = ann.backend_port().to_string();
    ann.does(&["up", "--port", &port]);
    let eve = Person::of_user(NOBODY);

    // The file that proves the owner.
    let file = ann.owner_file().display().to_string();
    let read = eve.command("cat".as_ref(), &[&file]).output().unwrap();
    assert!(!read.status.success() && read.stdout.is_empty(), "{read:?}");

    // Nobody is somebody because of where they come from.
    let url = ann.owner().url;
    for path in ["login", "code"] {
        let body = json!({ "proof": "lop_guess" }).to_string();
        let data = format!("{url}/api/v1/auth/local/{path}");
        let words = ["-s", "-H", "content-type: application/json", "-d", &body, &data];
        let asked = eve.command("curl".as_ref(), &words).output().unwrap();
        let answer: Value = serde_json::from_slice(&asked.stdout).unwrap();
        assert_eq!(answer["code"], "owner-proof-invalid", "{answer}");
    }

    // A code that was seen is good for nothing once it was used.
    let printed = ann.does(&["open", "--print"]);
    let (_, code) = printed.out.trim().split_once("#code=").unwrap();
    let redeem = || {
        let body = json!({ "code": code });
        Client::new().post(format!("{url}/api/v1/auth/local/redeem")).json(&body).send()
    };
    assert_eq!(redeem().await.unwrap().status(), StatusCode::OK);
    assert_eq!(redeem().await.unwrap().status(), StatusCode::UNAUTHORIZED);

    // The port that the first one has is not taken over, and nothing of theirs is seen.
    assert_eq!(eve.runs(&["open", "--print"]).code, 41);
    let up = eve.does(&["up", "--json", "--port", &port]);
    let up: Value = serde_json::from_str(&up.out).unwrap();
    assert_ne!(up["backend"]["url"], url.as_str());
    let devices: Value =
        serde_json::from_str(&eve.does(&["device", "list", "--json"]).out).unwrap();
    assert_eq!(devices.as_array().unwrap().len(), 1, "{devices}");
    assert_eq!(devices[0]["device_id"], up["device"]["device_id"]);
    let read =
        ann.command("stat".as_ref(), &["-c", "%u %a", &eve.owner_file().display().to_string()]);
    let owner = { read }.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&owner.stdout).trim(), "65534 600");
    eve.does(&["down"]);
    ann.does(&["whoami"]);
}
