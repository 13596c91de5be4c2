//! Another user of the same machine has their own backend, and cannot reach anybody else's.

use link_tests::person::Person;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

/// The user id and the group id of `nobody` on Linux.
const NOBODY: u32 = 65534;

#[tokio::test]
async fn another_user_gets_a_backend_of_their_own_and_cannot_use_this_one() {
    if !link_platform::user_manager::is_root() {
        eprintln!("skipped: only root can run programs as another user");
        return;
    }
    let ann = Person::new();
    let port = ann.backend_port().to_string();
    ann.does(&["up", "--port", &port]);
    let eve = Person::of_user(NOBODY);

    // The file with the owner's proof.
    let file = ann.owner_file().display().to_string();
    let read = eve.command("cat".as_ref(), &[&file]).output().unwrap();
    assert!(!read.status.success() && read.stdout.is_empty(), "{read:?}");

    // A request gets no rights from the address it comes from.
    let url = ann.owner().url;
    for path in ["login", "code"] {
        let body = json!({ "proof": "lop_guess" }).to_string();
        let data = format!("{url}/api/v1/auth/local/{path}");
        let words = ["-s", "-H", "content-type: application/json", "-d", &body, &data];
        let asked = eve.command("curl".as_ref(), &words).output().unwrap();
        let answer: Value = serde_json::from_slice(&asked.stdout).unwrap();
        assert_eq!(answer["code"], "owner-proof-invalid", "{answer}");
    }

    // A code that another user has seen is worthless after its use.
    let printed = ann.does(&["open", "--print"]);
    let (_, code) = printed.out.trim().split_once("#code=").unwrap();
    let redeem = || {
        let body = json!({ "code": code });
        Client::new().post(format!("{url}/api/v1/auth/local/redeem")).json(&body).send()
    };
    assert_eq!(redeem().await.unwrap().status(), StatusCode::OK);
    assert_eq!(redeem().await.unwrap().status(), StatusCode::UNAUTHORIZED);

    // The second user cannot take over the first user's port, and sees nothing of the first user's.
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
