//! `link up`, `link down` and `link open`: from an empty home to an answer, and the faults on the way.

use std::{
    net::{Ipv4Addr, TcpListener},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use link_tests::{
    chat,
    device::free_port,
    disk::SmallDisk,
    engines::{self, TINY_REPLY},
    person::{Person, Said},
    schema,
};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

mod fetched;
mod second_user;
mod service;

#[tokio::test]
async fn two_commands_lead_from_an_empty_home_to_an_answer() {
    let ann = Person::new();
    let port = ann.backend_port().to_string();
    let up = ann.does(&["up", "--port", &port]);
    let url = format!("http://127.0.0.1:{port}");
    assert!(up.out.contains(&format!("{url}/workspace")), "{up:?}");
    assert!(up.out.contains(&format!("http://127.0.0.1:{}", ann.local_port())), "{up:?}");
    let tiny = ann.place().join("tiny.gguf");
    std::fs::write(&tiny, engines::model("tiny.gguf")).unwrap();
    let serves = ann.model_port();
    let tiny = tiny.display().to_string();
    let answer = ann.does(&["run", &tiny, "--port", &serves.to_string(), "Hello?"]);
    assert_eq!(answer.out, format!("{TINY_REPLY}\n"), "{answer:?}");

    // The workspace of the new backend may call the model.
    let preflight = chat::preflight(serves, &url).await;
    assert_eq!(preflight.headers()["access-control-allow-origin"], url.as_str(), "{preflight:?}");

    // Only its user can read the file with the owner's proof.
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&ann.owner_file()), 0o600);
    assert_eq!(mode(ann.owner_file().parent().unwrap()), 0o700);

    // A second run creates nothing again.
    let again = ann.does(&["up"]);
    assert!(again.err.contains("backend: already running"), "{again:?}");
    assert!(again.err.contains("agent: already running"), "{again:?}");
    let document = document(&ann.does(&["up", "--json"]));
    assert_eq!(document["backend"]["url"], url);
    assert_eq!(document["backend"]["started"], false);
    assert_eq!(document["device"]["registered"], false);

    // After `link down` and `link up`, all data still exists.
    let down = ann.does(&["down"]);
    assert!(down.err.contains("stopped the backend"), "{down:?}");
    assert!(!ann.owner_file().exists());
    assert!(ann.does(&["down"]).err.contains("the backend was not running"));
    let up = ann.does(&["up"]);
    assert!(up.err.contains("backend: started") && up.out.contains(&url), "{up:?}");
    let answer = ann.does(&["run", "tiny", "Hello?"]);
    assert_eq!(answer.out, format!("{TINY_REPLY}\n"), "{answer:?}");
}

#[tokio::test]
async fn two_at_once_make_one_backend_one_account_and_one_device() {
    let ann = Person::new();
    let port = ann.backend_port().to_string();
    let mut both: Vec<_> = (0..2)
        .map(|_| {
            let mut command = ann.link(&["up", "--json", "--port", &port]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let said = both.drain(..).map(|child| Said::from(child.wait_with_output().unwrap()));
    let said: Vec<_> = said.inspect(|said| assert_eq!(said.code, 0, "{said:?}")).collect();
    let documents: Vec<_> = said.iter().map(document).collect();
    assert_eq!(documents[0]["device"]["device_id"], documents[1]["device"]["device_id"]);
    let count = |place: [&str; 2]| {
        documents.iter().filter(|document| document[place[0]][place[1]] == true).count()
    };
    assert_eq!(count(["backend", "started"]), 1, "{documents:?}");
    assert_eq!(count(["device", "registered"]), 1, "{documents:?}");
    let devices: Value =
        serde_json::from_str(&ann.does(&["device", "list", "--json"]).out).unwrap();
    assert_eq!(devices.as_array().unwrap().len(), 1, "{devices}");
}

#[tokio::test]
async fn a_port_that_another_program_took_is_left_to_it_and_everything_follows() {
    let ann = Person::new();
    let port = ann.backend_port();
    ann.does(&["up", "--port", &port.to_string()]);
    ann.does(&["down"]);
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    let up = ann.does(&["up"]);
    assert!(up.err.contains(&format!("port {port} is in use by another program")), "{up:?}");
    let document = document(&ann.does(&["up", "--json"]));
    assert_eq!(document["device"]["registered"], false, "{document}");
    assert_ne!(document["backend"]["url"], format!("http://127.0.0.1:{port}"));
    let who = ann.does(&["whoami"]);
    assert!(who.out.contains(document["backend"]["url"].as_str().unwrap()), "{who:?}");
    drop(taken);
}

/// An agent that noticed the new address later would restart under the command that follows.
#[tokio::test]
async fn a_running_agent_has_the_new_address_when_up_returns() {
    let ann = Person::new();
    ann.does(&["up", "--port", &ann.backend_port().to_string()]);
    let other = free_port();
    let moved = document(&ann.does(&["up", "--json", "--port", &other.to_string()]));
    assert_eq!(moved["backend"]["url"], format!("http://127.0.0.1:{other}"), "{moved}");
    assert_eq!(moved["agent"]["started"], true, "{moved}");
    let again = document(&ann.does(&["up", "--json"]));
    assert_eq!(again["agent"]["started"], false, "{again}");
    let restarted = ann.does(&["restart", "--json"]);
    let _document = schema::printed_by("restart", &restarted.out);
}

/// The program that holds the port sees everything that the commands send there.
#[tokio::test]
async fn a_login_is_not_sent_to_whoever_has_the_port_of_a_backend_that_is_down() {
    let ann = Person::new();
    let port = ann.backend_port();
    ann.does(&["up", "--port", &port.to_string()]);
    ann.does(&["down"]);
    let stranger = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    stranger.set_nonblocking(true).unwrap();
    for words in [&["whoami"][..], &["device", "list"], &["model", "list"], &["open", "--print"]] {
        let said = ann.runs(words);
        assert!(said.code == 41 && said.err.contains("run `link up`"), "link {words:?}: {said:?}");
    }
    assert!(stranger.accept().is_err(), "somebody was asked");
}

#[tokio::test]
async fn a_backend_that_was_killed_is_started_again_with_another_proof() {
    let ann = Person::new();
    ann.does(&["up", "--port", &ann.backend_port().to_string()]);
    let before = ann.owner();
    let killed = ann.command("kill".as_ref(), &["-9", &before.pid.to_string()]).status();
    assert!(killed.unwrap().success());
    link_tests::wait::until("the end of the backend", || async {
        (!link_tests::device::is_alive(before.pid)).then_some(())
    })
    .await;
    // Its file stays, but is no longer trusted.
    assert!(ann.owner_file().exists());
    let asked = ann.runs(&["run", "tiny", "Hello?"]);
    assert!(asked.code == 41 && asked.err.contains("run `link up`"), "{asked:?}");
    let up = ann.does(&["up"]);
    assert!(up.err.contains("backend: started"), "{up:?}");
    let after = ann.owner();
    assert_eq!(after.url, before.url);
    assert_ne!(after.proof, before.proof);
    ann.does(&["whoami"]);
}

#[tokio::test]
async fn a_home_that_moved_is_found_again() {
    let mut ann = Person::new();
    let port = ann.backend_port().to_string();
    let before = document(&ann.does(&["up", "--json", "--port", &port]));
    ann.does(&["down"]);
    ann.move_home();
    let after = document(&ann.does(&["up", "--json"]));
    assert_eq!(before["device"]["device_id"], after["device"]["device_id"]);
    assert_eq!(after["account"]["created"], false, "{after}");
    let data = ann.place().join("backend-data").display().to_string();
    assert_eq!(after["backend"]["data"], data);
}

#[test]
fn a_backend_that_ends_as_soon_as_it_starts_is_quoted_and_leaves_nothing_behind() {
    let ann = Person::new();
    let port = ann.backend_port().to_string();
    let mut up = ann.link(&["up", "--port", &port]);
    let up = Said::from(up.env("LINK_BACKEND_DEVICE_LIMIT", "many").output().unwrap());
    assert_eq!(up.code, 41, "{up:?}");
    assert!(up.err.contains("the backend did not start: "), "{up:?}");
    assert!(up.err.contains("LINK_BACKEND_DEVICE_LIMIT"), "{up:?}");
    for folder in ["backend-data", "backend-config/backend.toml", "config/credentials.json"] {
        assert!(!ann.place().join(folder).exists(), "{folder}");
    }
    ann.does(&["up", "--port", &port]);
}

#[test]
fn the_configuration_of_a_server_is_left_alone() {
    let ann = Person::new();
    let file = ann.place().join("backend-config/backend.toml");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    for text in [
        "listen = \"127.0.0.1:8000\"\nowner_proof = \"setup-token\"\n",
        "listen = \"0.0.0.0:8000\"\npublic_url = \"https://link.example\"\n",
    ] {
        std::fs::write(&file, text).unwrap();
        let up = ann.runs(&["up", "--port", &ann.backend_port().to_string()]);
        assert_eq!(up.code, 1, "{up:?}");
        let expected = format!("`{}` is the configuration of a server", file.display());
        assert!(up.err.contains(&expected) && up.err.contains("`link login`"), "{up:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        for nothing in ["backend-data", "state/identity.json", "config/credentials.json"] {
            assert!(!ann.place().join(nothing).exists(), "{nothing}");
        }
    }
}

#[test]
fn a_full_disk_is_told_and_nothing_half_made_stays() {
    let ann = Person::new();
    let Some(disk) = SmallDisk::mount(ann.place()) else {
        eprintln!("skipped: only root can mount a disk");
        return;
    };
    disk.fill();
    let up = ann.runs(&["up", "--port", &ann.backend_port().to_string()]);
    assert_ne!(up.code, 0, "{up:?}");
    assert!(up.err.contains("No space left on device"), "{up:?}");
    assert!(!ann.place().join("backend-config/backend.toml").exists());
    disk.empty();
    ann.does(&["up", "--port", &ann.backend_port().to_string()]);
    ann.does(&["down"]);
}

#[tokio::test]
async fn a_browser_gets_in_by_a_code_that_is_good_once() {
    let ann = Person::new();
    ann.does(&["up", "--port", &ann.backend_port().to_string()]);
    let printed = ann.does(&["open", "--print"]);
    let (page, code) = printed.out.trim().split_once("#code=").unwrap();
    let url = ann.owner().url;
    assert_eq!(page, format!("{url}/workspace"));
    let redeem = || {
        let body = json!({ "code": code });
        Client::new().post(format!("{url}/api/v1/auth/local/redeem")).json(&body).send()
    };
    let redeemed = redeem().await.unwrap();
    assert_eq!(redeemed.status(), StatusCode::OK);
    let tokens: Value = redeemed.json().await.unwrap();
    let me = Client::new()
        .get(format!("{url}/api/v1/me"))
        .bearer_auth(tokens["access_token"].as_str().unwrap())
        .send();
    assert_eq!(me.await.unwrap().status(), StatusCode::OK);
    assert_eq!(redeem().await.unwrap().status(), StatusCode::UNAUTHORIZED);

    // Without a display, the command prints the address.
    let opened = ann.does(&["open"]);
    assert!(opened.out.contains("/workspace#code="), "{opened:?}");
    ann.does(&["down"]);
    let closed = ann.runs(&["open"]);
    assert!(closed.code == 41 && closed.err.contains("run `link up`"), "{closed:?}");
}

#[tokio::test]
async fn a_password_is_good_once_the_owner_has_set_one() {
    let ann = Person::new();
    ann.does(&["up", "--port", &ann.backend_port().to_string()]);
    let who = schema::printed_by("whoami", &ann.does(&["whoami", "--json"]).out);
    let email = who["email"].as_str().unwrap().to_owned();
    let set = |password: &str| {
        let file = ann.place().join("password");
        std::fs::write(&file, format!("{password}\n")).unwrap();
        let mut command = ann.link(&["account", "password", "--password-stdin"]);
        Said::from(command.stdin(std::fs::File::open(file).unwrap()).output().unwrap())
    };
    let password = "correct horse battery";
    let log_in = || {
        let body = json!({ "email": email, "password": password });
        Client::new().post(format!("{}/api/v1/auth/login", ann.owner().url)).json(&body).send()
    };
    assert_eq!(log_in().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    assert_eq!(set("short").code, 77);
    assert_eq!(set(password).code, 0);
    assert_eq!(log_in().await.unwrap().status(), StatusCode::OK);
    // The command has renewed its own login.
    ann.does(&["whoami"]);
}

#[test]
fn purge_asks_and_leaves_nothing_of_the_backend_and_the_device() {
    let ann = Person::new();
    ann.does(&["up", "--port", &ann.backend_port().to_string()]);
    let asked = ann.runs(&["down", "--purge"]);
    assert!(asked.code == 2 && asked.err.contains("--yes"), "{asked:?}");
    assert!(ann.owner_file().exists());
    let purged = ann.does(&["down", "--purge", "--yes"]);
    assert!(purged.err.contains("deleted the backend and its data"), "{purged:?}");
    for gone in [
        "backend-data",
        "backend-config/backend.toml",
        "state/identity.json",
        "state/journal.db",
        "state/models",
        "config/credentials.json",
    ] {
        assert!(!ann.place().join(gone).exists(), "{gone}");
    }
    // Starts again from an empty home.
    let up = document(&ann.does(&["up", "--json", "--port", &ann.backend_port().to_string()]));
    assert_eq!(up["device"]["registered"], true, "{up}");
}

#[test]
fn uninstalling_keeps_the_data_and_says_where_unless_it_is_purged() {
    for (words, kept) in
        [(&["uninstall", "--yes"][..], true), (&["uninstall", "--yes", "--purge"], false)]
    {
        let ann = Person::new();
        ann.does(&["up", "--port", &ann.backend_port().to_string()]);
        let said = ann.does(words);
        let data = ann.place().join("backend-data");
        assert_eq!(data.join("link.db").exists(), kept, "{said:?}");
        assert_eq!(said.err.contains(&data.display().to_string()), kept, "{said:?}");
        assert!(said.err.contains("deregistered the device"), "{said:?}");
        assert!(!ann.owner_file().exists(), "it was stopped");
    }
}

#[tokio::test]
async fn an_agent_that_is_not_registered_answers_and_says_so() {
    let ann = Person::new();
    ann.does(&["start"]);
    let url = format!("http://127.0.0.1:{}/healthz", ann.local_port());
    let answer = link_tests::wait::until("the agent to answer", || async {
        Client::new().get(&url).send().await.ok()
    })
    .await;
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    let problem: Value = answer.json().await.unwrap();
    assert_eq!(problem["code"], "not-registered", "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("link up"), "{problem}");
    // A web page does not even learn that.
    let page = Client::new().get(&url).header("origin", "https://page.example").send();
    assert_eq!(page.await.unwrap().status(), StatusCode::FORBIDDEN);
    ann.does(&["up", "--port", &ann.backend_port().to_string()]);
    let answer = Client::new().get(&url).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}

fn document(said: &Said) -> Value {
    schema::printed_by("up", &said.out)
}
