//! The connection from the agent to an engine: no other user of the machine can use it, listen to it or impersonate the
//! engine.

use std::{
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::Path,
    process::{Child, Command, Stdio},
};

use link_protocol::{local_api::EngineHealth, report::ModelState};
use link_tests::{
    backend::TestBackend,
    chat,
    device::{TestDevice, free_port},
    engines::{self, TINY_REPLY},
    wait::until,
};

/// The user id and the group id of `nobody` on Linux.
const NOBODY: u32 = 65534;

/// Listens on the port of its first argument, answers like an engine that requires a secret, and writes what it
/// receives to the file of its second argument.
const IMPOSTOR: &str = r#"
use IO::Socket::INET;
my ($port, $heard) = @ARGV;
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 16) or die $!;
open(my $file, '>', $heard) or die $!;
$file->autoflush(1);
print $file "ready\n";
while (my $client = $listener->accept()) {
  my $request = '';
  while (my $line = <$client>) { $request .= $line; last if $line eq "\r\n"; }
  print $file $request;
  my $status = $request =~ /not the secret/ ? '401 Unauthorized' : '200 OK';
  print $client "HTTP/1.1 $status\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
  close $client;
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn another_user_cannot_reach_an_engine() {
    if !link_platform::user_manager::is_root() {
        // Only root can run programs as another user.
        return;
    }
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    backend.serve_tiny(&device).await;
    // Opens the temporary folder, which alone would keep other users out.
    open(&device.home());
    open(&device.home().join("state"));
    let socket = engine_argument(&device, "--host").await;
    assert!(socket.ends_with(".sock"), "{socket}");

    let connect = "use IO::Socket::UNIX; IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!;";
    let tried = |user: u32| {
        let mut perl = Command::new("perl");
        perl.args(["-e", connect, &socket]).uid(user).gid(user).output().unwrap()
    };
    assert!(tried(0).status.success(), "its own user reaches it: {:?}", tried(0));
    let stranger = tried(NOBODY);
    assert!(!stranger.status.success());
    assert!(
        String::from_utf8_lossy(&stranger.stderr).contains("Permission denied"),
        "{stranger:?}"
    );
}

// Holds: S1-7a
#[tokio::test(flavor = "multi_thread")]
async fn an_engine_on_a_port_serves_when_it_is_the_one_that_was_started() {
    let backend = TestBackend::start().await;
    let mut device = TestDevice::unregistered_deep_down();
    if link_platform::user_manager::is_root() {
        device.live_without_privileges();
    }
    device.register_at(&backend).await;
    device.run(&[]);
    backend.online(device.id, true).await;
    let deployment = backend.serve_tiny(&device).await;
    assert_eq!(engine_argument(&device, "--host").await, "127.0.0.1");
    let (text, _) = chat::whole(chat::ask(deployment.port, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);
}

/// The engine injects a fault: it starts so slowly that another user can take its port first.
#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_on_the_port_of_an_engine_hears_no_secret_and_no_prompt() {
    if !link_platform::user_manager::is_root() {
        // Only root can run programs as another user.
        return;
    }
    let backend = TestBackend::start().await;
    let mut device = TestDevice::unregistered_deep_down();
    device.live_without_privileges();
    device.register_at(&backend).await;
    let fake = device.home().join("data/engines/llama-server/fake");
    std::fs::create_dir_all(&fake).unwrap();
    let program = fake.join("llama-server");
    std::fs::write(&program, "#!/bin/sh\nsleep 1000\n:\n").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(fake.with_file_name("current"), "fake\n").unwrap();
    device.run(&[]);
    backend.online(device.id, true).await;

    let model = backend.upload("tiny", engines::model("tiny.gguf")).await;
    let port = free_port();
    backend.deploy(model.model_id, device.id, port, true).await;
    until("the engine to be started", || async {
        device.healthz().await.models.first().and_then(|model| model.engine_pid)
    })
    .await;
    let taken = engine_arguments(&device).await;
    let at = taken.iter().rposition(|argument| argument == "--port").unwrap();
    let scratch = tempfile::tempdir().unwrap();
    std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let heard = scratch.path().join("heard");
    let _impostor = Impostor::start(&taken[at + 1], &heard);
    until("the stranger to listen", || async {
        std::fs::read_to_string(&heard).is_ok_and(|text| !text.is_empty()).then_some(())
    })
    .await;

    // The agent checks the engine many times, and clients send requests.
    for _ in 0..40 {
        let answer = chat::ask(port, None, false).await.unwrap();
        assert_eq!(answer.status(), 503, "the engine is still being loaded");
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    let shown = device.model().await;
    assert_eq!((shown.state, shown.health), (ModelState::Starting, EngineHealth::Starting));
    assert_eq!(std::fs::read_to_string(&heard).unwrap(), "ready\n");
}

struct Impostor(Child);

impl Impostor {
    fn start(port: &str, heard: &Path) -> Self {
        let mut perl = Command::new("perl");
        perl.args(["-e", IMPOSTOR, port]).arg(heard).uid(NOBODY).gid(NOBODY);
        Self(perl.stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Impostor {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn open(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

async fn engine_argument(device: &TestDevice, name: &str) -> String {
    let arguments = engine_arguments(device).await;
    let at = arguments.iter().position(|argument| argument == name).unwrap();
    arguments[at + 1].clone()
}

async fn engine_arguments(device: &TestDevice) -> Vec<String> {
    let engine = device.model().await.engine_pid.unwrap();
    let bytes = std::fs::read(format!("/proc/{engine}/cmdline")).unwrap();
    bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}
