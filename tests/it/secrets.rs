//! Where secrets must not appear: in the arguments and environments of processes, in logs, and in
//! files that other users can read. Also, no port is open beyond the machine.

use std::{
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use link_protocol::{
    backend_api::token::CreateToken, key::KeyKind, permission::Permission, port::Port,
};
use link_tests::{
    backend::{EMAIL, PASSWORD, TestBackend},
    chat,
    device::TestDevice,
    program, schema,
};
use serde_json::Value;

/// The user id and the group id of `nobody` on Linux.
const NOBODY: u32 = 65534;

/// A backend, a serving device and a logged-in person, all with verbose logs.
struct Stage {
    backend: TestBackend,
    device: TestDevice,
    person: tempfile::TempDir,
    port: Port,
    /// The secrets, each with its name.
    secrets: Vec<(&'static str, String)>,
}

impl Stage {
    async fn set() -> Self {
        let backend = TestBackend::start_with(&["--log", "debug"]).await;
        let key = backend.key(KeyKind::Registration).await;
        let mut device = TestDevice::unregistered();
        let registered = device.register_with(&backend.url, &key);
        assert!(registered.status.success(), "{registered:?}");
        device.id = device.identity().device_id;
        device.run(&[("LINK_LOG", "debug")]);
        backend.online(device.id, true).await;
        let deployment = backend.serve_tiny(&device).await;
        chat::whole(chat::ask(deployment.port, None, false).await.unwrap()).await;

        let person = tempfile::tempdir().unwrap();
        let password = person.path().join("password");
        std::fs::write(&password, format!("{PASSWORD}\n")).unwrap();
        let mut login = Command::new(program::path("link"));
        login
            .args(["login", "--email", EMAIL, "--password-stdin", "--backend", &backend.url])
            .env("LINK_HOME", person.path())
            .stdin(std::fs::File::open(&password).unwrap());
        assert!(login.output().unwrap().status.success());
        std::fs::remove_file(password).unwrap();
        let wish = CreateToken {
            name: "ci".to_owned(),
            scopes: vec![Permission::ReadDevices],
            expires_at: None,
        };
        let personal = backend.owner.create_token(&wish).await.unwrap().token;
        let identity = device.identity();
        let state = device.home().join("state");
        let control = std::fs::read_to_string(state.join("run/control.token")).unwrap();
        let login: Value = serde_json::from_str(
            &std::fs::read_to_string(person.path().join("config/credentials.json")).unwrap(),
        )
        .unwrap();
        let of_login = |name: &str| login[name].as_str().unwrap().to_owned();
        let secrets = vec![
            ("registration key", key.expose().to_owned()),
            ("device token", identity.device_token.expose().to_owned()),
            ("device key", identity.private_key_seed.expose().to_owned()),
            ("control token", control.trim().to_owned()),
            ("engine secret", engine_secret(&device).await),
            ("access token", of_login("access_token")),
            ("refresh token", of_login("refresh_token")),
            ("personal token", personal.expose().to_owned()),
            ("password", PASSWORD.to_owned()),
        ];
        assert!(secrets.iter().all(|(_, secret)| secret.len() >= 16));
        Self { backend, device, person, port: deployment.port, secrets }
    }

    fn secret_of(&self, bytes: &[u8]) -> Option<&'static str> {
        let holds = |secret: &str| bytes.windows(secret.len()).any(|at| at == secret.as_bytes());
        self.secrets.iter().find(|(_, secret)| holds(secret)).map(|(name, _)| *name)
    }

    fn folders(&self) -> [PathBuf; 3] {
        [self.device.home(), self.backend.data(), self.person.path().to_owned()]
    }
}

/// The secret of the engine, read from the file that its arguments name.
async fn engine_secret(device: &TestDevice) -> String {
    let engine = device.model().await.engine_pid.unwrap();
    let arguments = arguments_of(engine);
    let at = arguments.iter().position(|argument| argument == "--api-key-file").unwrap();
    std::fs::read_to_string(&arguments[at + 1]).unwrap().trim().to_owned()
}

fn arguments_of(pid: u32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Whether another test that runs now has started a process. The accounts of all tests have one password, and some tests
/// give it in the environment.
fn is_of_another_test(process: &Path) -> bool {
    let Ok(own) = std::env::var("NEXTEST_TEST_NAME") else { return false };
    let environment = std::fs::read(process.join("environ")).unwrap_or_default();
    let mut names = environment.split(|byte| *byte == 0);
    names.any(|entry| {
        entry.strip_prefix(b"NEXTEST_TEST_NAME=").is_some_and(|name| name != own.as_bytes())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_in_a_process_or_a_log_or_a_file_that_others_can_read() {
    let stage = Stage::set().await;
    for entry in std::fs::read_dir("/proc").unwrap() {
        let folder = entry.unwrap().path();
        let is_process = folder.file_name().unwrap().to_string_lossy().parse::<u32>().is_ok();
        if is_of_another_test(&folder) {
            continue;
        }
        for file in ["cmdline", "environ"] {
            let bytes = if is_process { std::fs::read(folder.join(file)) } else { break };
            let found = stage.secret_of(&bytes.unwrap_or_default());
            assert_eq!(found, None, "in {file} of {}", folder.display());
        }
    }

    for output in [stage.backend.output(), stage.device.output()] {
        assert!(!output.is_empty());
        assert_eq!(stage.secret_of(output.as_bytes()), None, "{output}");
    }
    let mut holders = Vec::new();
    for file in stage.folders().iter().flat_map(|folder| files_below(folder)) {
        let Some(name) = stage.secret_of(&std::fs::read(&file).unwrap_or_default()) else {
            continue;
        };
        assert!(!file.to_string_lossy().contains("/logs/"), "{name} in {}", file.display());
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file) & 0o077, 0, "{name} in {}: {:o}", file.display(), mode(&file));
        let folder = file.parent().unwrap();
        assert_eq!(mode(folder) & 0o077, 0, "{}: {:o}", folder.display(), mode(folder));
        holders.push(name);
    }
    // Proof that the search works: it finds the secrets that a device and a person must store.
    for kept in ["device token", "control token", "engine secret", "access token"] {
        assert!(holders.contains(&kept), "{kept} in none of {:?}", stage.folders());
    }
    // The database contains only digests of keys, tokens and passwords.
    let database = std::fs::read(stage.backend.data().join("link.db")).unwrap();
    assert_eq!(stage.secret_of(&database), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_archive_of_link_support_holds_no_secret() {
    let stage = Stage::set().await;
    // A careless program, and a person who has pasted everything into the configuration of a proxy.
    let log = stage.device.home().join("state/logs/careless.log");
    let careless: Vec<_> = stage.secrets.iter().map(|(_, secret)| secret.as_str()).collect();
    std::fs::write(&log, format!("before\n{}\nafter\n", careless.join("\n"))).unwrap();
    let file = stage.person.path().join("support.tar.gz");
    let mut support = stage.device.link();
    support.args(["support", "--yes", "--json", "--out"]).arg(&file);
    support.env("HTTPS_PROXY", format!("http://ada:{PASSWORD}@127.0.0.1:9"));
    let ran = support.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let listed = schema::printed_by("support", &String::from_utf8_lossy(&ran.stdout));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let unpacked = stage.person.path().join("unpacked");
    std::fs::create_dir(&unpacked).unwrap();
    let mut tar = Command::new("tar");
    tar.arg("xzf").arg(&file).arg("-C").arg(&unpacked);
    assert!(tar.status().unwrap().success());
    let files = files_below(&unpacked);
    assert_eq!(files.len(), listed["contents"].as_array().unwrap().len());
    let mut seen = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        // The password is a secret of the backend, which this machine cannot know. It was removed from the address.
        let is_careless = file.ends_with("logs/careless.log");
        let text = if is_careless { text.replace(PASSWORD, "") } else { text };
        assert_eq!(stage.secret_of(text.as_bytes()), None, "{}: {text}", file.display());
        seen.push_str(&text);
    }
    for part in
        ["before\n[redacted]", "http://[redacted]@127.0.0.1:9", "language_model", "agent_version"]
    {
        assert!(seen.contains(part), "{part} is missing");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_of_the_machine_reads_no_file_of_a_device_a_backend_or_a_person() {
    if !link_platform::user_manager::is_root() {
        // Only root can run programs as another user.
        return;
    }
    let stage = Stage::set().await;
    let (home, data) = (stage.device.home(), stage.backend.data());
    for scratch in [home.as_path(), data.parent().unwrap(), stage.person.path()] {
        // Opens the temporary folder, which alone would keep other users out.
        std::fs::set_permissions(scratch, std::fs::Permissions::from_mode(0o755)).unwrap();
        let open = scratch.join("for-all");
        std::fs::write(&open, "to be read").unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
        let mut find = Command::new("find");
        find.arg(".").args(["-type", "f", "-readable"]).current_dir(scratch);
        let found = find.uid(NOBODY).gid(NOBODY).output().unwrap();
        let readable = String::from_utf8(found.stdout).unwrap();
        assert!(readable.lines().any(|file| file == "./for-all"), "{readable}");
        for file in readable.lines() {
            let found = stage.secret_of(&std::fs::read(scratch.join(file)).unwrap_or_default());
            assert_eq!(found, None, "{file}");
            // The programs of a device are not secret. Everything else in our folders is.
            let private = ["./state/", "./config/", "./data/"];
            let is_private = private.iter().any(|part| file.starts_with(part));
            assert!(!is_private || file.starts_with("./data/engines/"), "{file} can be read");
        }
    }
    // Other users reach only the local API, which shows states and does nothing without a token.
    let stop = format!("http://127.0.0.1:{}/update", stage.device.local_port);
    let answer = reqwest::Client::new().post(stop).send().await.unwrap();
    assert_eq!(answer.status(), 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_device_listens_on_is_reached_from_this_machine_only() {
    let stage = Stage::set().await;
    let engine = stage.device.model().await.engine_pid.unwrap();
    let mut ports = Vec::new();
    for pid in [stage.device.agent_pid(), engine] {
        let sockets = sockets_of(pid);
        for (address, port, inode) in listeners() {
            if sockets.contains(&inode) {
                assert!(
                    ["0100007F", "00000000000000000000000001000000"].contains(&address.as_str()),
                    "process {pid} listens on {address} port {port}"
                );
                ports.push(port);
            }
        }
    }
    ports.sort_unstable();
    let mut expected = [stage.port.get(), stage.device.local_port];
    expected.sort_unstable();
    assert_eq!(ports, expected, "the engine has no port");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_answers_nobody_who_does_not_know_its_secret() {
    let stage = Stage::set().await;
    let engine = stage.device.model().await.engine_pid.unwrap();
    let arguments = arguments_of(engine);
    let at = arguments.iter().position(|argument| argument == "--host").unwrap();
    let client =
        reqwest::Client::builder().unix_socket(arguments[at + 1].as_str()).build().unwrap();
    let base = "http://localhost";
    let chat = serde_json::json!({ "messages": [{ "role": "user", "content": "hi" }] });
    for wrong in ["", "Bearer wrong", "Bearer"] {
        for path in ["/props", "/slots", "/metrics"] {
            let asked = client.get(format!("{base}{path}")).header("authorization", wrong);
            assert_eq!(asked.send().await.unwrap().status(), 401, "{path} {wrong:?}");
        }
        let asked = client.post(format!("{base}/v1/chat/completions")).json(&chat);
        let asked = asked.header("authorization", wrong).send().await.unwrap();
        assert_eq!(asked.status(), 401, "{wrong:?}");
    }
    // The list of models needs no secret: it shows the alias, and nothing about this machine.
    let list = client.get(format!("{base}/v1/models")).send().await.unwrap().text().await.unwrap();
    let home = stage.device.home().display().to_string();
    assert!(
        list.contains("\"tiny\"") && !list.contains(&home) && !list.contains(".gguf"),
        "{list}"
    );
}

/// Every listening TCP socket: its address in the kernel's format, its port, and its inode.
fn listeners() -> Vec<(String, u16, String)> {
    let mut found = Vec::new();
    for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in std::fs::read_to_string(file).unwrap_or_default().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (address, port) = fields[1].split_once(':').unwrap();
            if fields[3] == "0A" {
                let port = u16::from_str_radix(port, 16).unwrap();
                found.push((address.to_owned(), port, fields[9].to_owned()));
            }
        }
    }
    found
}

fn sockets_of(pid: u32) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let targets = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    let inode = |target: PathBuf| {
        let text = target.to_str()?;
        Some(text.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    };
    targets.filter_map(inode).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let mut files = vec![];
    for entry in entries.flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(files_below(&entry.path()));
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    files
}
