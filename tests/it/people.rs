//! The `link` command for persons and fleets, with a real backend and real agents: other accounts,
//! the audit log, one request for many devices, and the outcome of a command.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use link_protocol::id::DeviceId;
use link_tests::{
    backend::{EMAIL, PASSWORD, TestBackend},
    device::TestDevice,
    engines, program,
    wait::until,
};
use serde_json::{Value, json};

/// A person's terminal, with its own home.
pub(crate) struct Person {
    pub(crate) home: tempfile::TempDir,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Person {
    /// The owner of the first account, logged in.
    pub(crate) fn owner(backend: &TestBackend) -> Self {
        Self::logged_in(backend, EMAIL)
    }

    fn logged_in(backend: &TestBackend, email: &str) -> Self {
        let person = Self { home: tempfile::tempdir().unwrap() };
        let words = ["login", "--email", email, "--password-stdin", "--backend", &backend.url];
        let ran = person.link_with(&words, &format!("{PASSWORD}\n"));
        assert_eq!(ran.code, 0, "{ran:?}");
        person
    }

    pub(crate) fn link(&self, words: &[&str]) -> Ran {
        self.link_with(words, "")
    }

    fn link_with(&self, words: &[&str], input: &str) -> Ran {
        let mut command = Command::new(program::path("link"));
        command.args(words).env("LINK_HOME", self.home.path());
        run(command, input)
    }

    fn json(&self, words: &[&str]) -> Value {
        let ran = self.link(&[words, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        serde_json::from_str(&ran.out).unwrap()
    }

    fn refresh_token(&self) -> String {
        let file = self.home.path().join("config/credentials.json");
        let login: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        login["refresh_token"].as_str().unwrap().to_owned()
    }
}

fn run(mut command: Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The command may end without reading its input.
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap_or(());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Creates a person with their own account, on the machine of the backend.
pub(crate) fn another_account(backend: &TestBackend, email: &str) -> Person {
    let mut command = Command::new(program::path("link-backend"));
    command.args(["create-account", email, "--data"]).arg(backend.data());
    let made = run(command, &format!("{PASSWORD}\n"));
    assert_eq!(made.code, 0, "{made:?}");
    Person::logged_in(backend, email)
}

#[tokio::test(flavor = "multi_thread")]
async fn people_who_change_the_allowlist_at_once_lose_no_origin() {
    let backend = TestBackend::start().await;
    let person = &Person::owner(&backend);
    let origins = ["https://a.example", "https://b.example", "https://c.example"];
    let ran = std::thread::scope(|scope| {
        let add = |origin| scope.spawn(move || person.link(&["allowlist", "add", origin]));
        origins.map(add).map(|added| added.join().unwrap())
    });
    for ran in &ran {
        assert!(ran.code == 0 && ran.err.contains("added https://"), "{ran:?}");
    }
    let list = person.json(&["allowlist", "list"]);
    assert_eq!(list["origins"], json!(origins));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_goes_from_one_of_their_accounts_to_another_and_leaves_no_login_behind() {
    let backend = TestBackend::start().await;
    let owner = Person::owner(&backend);
    let bob = another_account(&backend, "bob@example.com");
    let own = bob.json(&["whoami"])["account_id"].as_str().unwrap().to_owned();
    let invited = owner.json(&["member", "invite", "--role", "viewer"]);
    let token = invited["invitation_token"].as_str().unwrap();
    let ran = bob.link_with(&["member", "accept", "--token-file", "-"], &format!("{token}\n"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(bob.json(&["whoami"])["role"], "viewer", "who accepts is there");

    let accounts = bob.json(&["account", "list"]);
    assert_eq!(accounts.as_array().unwrap().len(), 2);
    let before = bob.refresh_token();
    let ran = bob.link(&["account", "use", &own]);
    assert_eq!((ran.code, ran.err.contains(&format!("switched to {own}"))), (0, true), "{ran:?}");
    let here = bob.json(&["whoami"]);
    assert_eq!((&here["account_id"], &here["role"]), (&json!(own), &json!("owner")));
    assert_eq!(bob.link(&["key", "create", "--kind", "fleet"]).code, 0);
    // The previous login has ended for everybody who has it.
    let refresh = json!({ "refresh_token": before });
    let url = format!("{}/api/v1/auth/refresh", backend.url);
    let stale = reqwest::Client::new().post(url).json(&refresh).send().await.unwrap();
    assert_eq!(stale.status(), 401);

    let ours = owner.json(&["whoami"])["account_id"].as_str().unwrap().to_owned();
    assert_eq!(bob.link(&["account", "use", &ours]).code, 0);
    let ran = bob.link(&["key", "create", "--kind", "fleet"]);
    assert_eq!((ran.code, ran.err.contains("keys:write")), (77, true), "a viewer: {ran:?}");
    // A person cannot switch to another person's account, and stays in the own one.
    let ran = owner.link(&["account", "use", &own]);
    assert_eq!(ran.code, 77, "{ran:?}");
    assert_eq!(owner.json(&["whoami"])["account_id"], json!(ours));
}

// Holds: S2.1-2
#[tokio::test(flavor = "multi_thread")]
async fn a_model_of_another_account_is_deployed_by_its_publishers_name_and_by_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("backend.toml");
    std::fs::write(&config, "[sharing]\naccounts = [\"bob\"]\n").unwrap();
    let backend = TestBackend::start_with(&["--config", config.to_str().unwrap()]).await;
    let owner = Person::owner(&backend);
    let bob = another_account(&backend, "bob@example.com");
    let device = TestDevice::register(&backend).await.id.to_string();
    let file = folder.path().join("tiny.gguf");
    std::fs::write(&file, engines::model("tiny.gguf")).unwrap();
    let add = ["model", "add", file.to_str().unwrap(), "--shared"];
    assert_eq!(bob.link(&add).code, 0);
    let refused = owner.link(&add);
    assert_eq!((refused.code, refused.err.contains("sharing.accounts")), (77, true), "{refused:?}");

    let deploy = |name: &str| owner.link(&["model", "deploy", name, "--device", &device]);
    let bare = deploy("tiny");
    assert!(bare.code == 1 && bare.err.contains("no model of yours is called `tiny`"), "{bare:?}");
    assert!(bare.err.contains("bob/tiny"), "{bare:?}");
    let named = deploy("bob/tiny");
    assert!(named.code == 0, "{named:?}");
    assert!(named.err.contains("deploying `bob/tiny` (shared by bob) to"), "{named:?}");
    let listed = owner.link(&["model", "list"]);
    assert!(listed.out.contains("bob/tiny") && listed.out.contains("shared by bob"), "{listed:?}");

    // One's own model has precedence over shared models of the same name.
    assert_eq!(owner.link(&add[..3]).code, 0);
    let own = deploy("tiny");
    assert!(own.code == 0 && own.err.contains("deploying `tiny` to"), "{own:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_log_tells_who_did_what_to_whom_it_concerns() {
    let backend = TestBackend::start().await;
    let owner = Person::owner(&backend);
    let invited = owner.json(&["member", "invite", "--role", "operator"]);
    let token = invited["invitation_token"].as_str().unwrap();
    let bob = Person { home: tempfile::tempdir().unwrap() };
    let words = ["member", "accept", "--token-file", "-", "--email", "bob@example.com"];
    let words = [&words[..], &["--password-stdin", "--backend", &backend.url]].concat();
    let ran = bob.link_with(&words, &format!("{token}\n{PASSWORD}\n"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let bob_id = bob.json(&["whoami"])["user_id"].as_str().unwrap().to_owned();
    assert_eq!(owner.link(&["key", "create", "--kind", "fleet", "--name", "lab"]).code, 0);
    assert_eq!(owner.link(&["member", "role", "bob@example.com", "viewer"]).code, 0);

    let actions = |log: &Value| -> Vec<String> {
        let entries = log.as_array().unwrap().iter();
        entries.map(|entry| entry["action"].as_str().unwrap().to_owned()).collect()
    };
    let of_members = owner.json(&["audit", "--action", "member"]);
    assert_eq!(actions(&of_members), ["member.role", "member.join", "member.invite"]);
    assert_eq!(of_members[0]["subject"], json!(bob_id));
    assert_eq!(
        (&of_members[0]["detail"], &of_members[0]["address"]),
        (&json!("viewer"), &json!("127.0.0.1"))
    );
    let by_bob = owner.json(&["audit", "--actor", &bob_id]);
    assert_eq!(actions(&by_bob), ["login.password", "member.join"]);
    assert_eq!(actions(&owner.json(&["audit", "--limit", "1"])), ["member.role"]);
    let ran = owner.link(&["audit", "--action", "key.create"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("TIME") && lines[1].contains(" lab "),
        "{ran:?}"
    );
    let ran = owner.link(&["audit", "--since", "2100-01-01T00:00:00Z"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "no matching entries"), "{ran:?}");
    let ran = bob.link(&["audit"]);
    assert_eq!((ran.code, ran.err.contains("audit:read")), (77, true), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_deployed_to_all_devices_of_a_fleet_and_every_command_is_explained() {
    let backend = TestBackend::start().await;
    let owner = Person::owner(&backend);
    backend.upload("tiny", engines::model("tiny.gguf")).await;
    let (one, two) = (TestDevice::start(&backend).await, TestDevice::start(&backend).await);
    let other = TestDevice::register(&backend).await;
    for device in [&one, &two] {
        assert_eq!(owner.link(&["device", "tag", &device.id.to_string(), "lab"]).code, 0);
    }
    assert_eq!(owner.link(&["device", "tag", &other.id.to_string(), "desk"]).code, 0);
    let fleets = owner.json(&["fleet", "list"]);
    let sizes: Vec<(&Value, &Value)> =
        fleets.as_array().unwrap().iter().map(|fleet| (&fleet["tag"], &fleet["devices"])).collect();
    assert_eq!(sizes, [(&json!("desk"), &json!(1)), (&json!("lab"), &json!(2))]);

    let selection = "tag=lab,state=online";
    let ran = owner.link(&["model", "deploy", "tiny", "--select", selection, "--wait", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let counts = &summary["operation"]["counts"];
    assert_eq!(counts["succeeded"], 2, "{summary}");
    let results = summary["devices"].as_array().unwrap();
    assert_eq!(results.len(), 2, "{summary}");
    for device in [&one, &two] {
        let is_it = |result: &&Value| result["device_id"] == device.id.to_string();
        assert_eq!(results.iter().find(is_it).unwrap()["state"], "succeeded", "{summary}");
        assert_eq!(device.model_files().len(), 1);
    }
    assert!(other.model_files().is_empty());
    let nobody = owner.link(&["model", "deploy", "tiny", "--select", "tag=attic"]);
    assert_eq!((nobody.code, nobody.err.contains("no device matches `tag=attic`")), (1, true));
    let faulty = owner.link(&["model", "deploy", "tiny", "--select", "tag=lab,colour=red"]);
    assert_eq!((faulty.code, faulty.err.contains("colour=red")), (2, true), "{faulty:?}");

    // A command that was done, and one that waits for an offline device.
    let explain = |id: &str| owner.json(&["commands", "explain", id]);
    let last = |device: DeviceId| {
        let commands = owner.json(&["commands", "list", "--device", &device.to_string()]);
        commands[0]["command_id"].as_str().unwrap().to_owned()
    };
    let deployed = explain(&last(one.id));
    assert_eq!(deployed["stage"], "ended", "{deployed}");
    let ran = owner.link(&["commands", "explain", &last(one.id)]);
    assert!(ran.out.contains("\nWhy:  ") && ran.out.contains("\nNext: "), "{ran:?}");
    let ran = owner.link(&["model", "deploy", "tiny", "--device", &other.id.to_string()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let waits = last(other.id);
    let waiting = explain(&waits);
    assert_eq!(waiting["stage"], "queued", "{waiting}");
    assert!(
        waiting["why"].as_str().unwrap().contains("offline")
            || waiting["why"].as_str().unwrap().contains("never"),
        "{waiting}"
    );
    let open = owner.json(&["commands", "list", "--open"]);
    assert_eq!(open.as_array().unwrap().len(), 1, "{open}");
    let mut other = other;
    other.run(&[]);
    until("the command to be done once its device is on", || async {
        (explain(&waits)["stage"] == "ended").then_some(())
    })
    .await;
    assert_eq!(owner.link(&["commands", "explain", &format!("cmd_{}", "0".repeat(32))]).code, 77);
}
