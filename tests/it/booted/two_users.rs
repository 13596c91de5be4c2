//! Two users of one machine, each with their own installation: neither can reach the other's agent, secrets and engine.
//!
//! The home of bob has a path that is too long for a socket address. So his programs and his engine are reached over
//! ports, and those of alice over sockets.

use std::process::Command;

use link_protocol::{id::DeviceId, key::KeyKind, port::Port};
use link_tests::{
    booted::{BACKEND, Flavour, RELEASES},
    engines::{self, TINY_REPLY},
    machine::Ran,
    wait::until,
};
use serde_json::Value;

use super::{ALICE, Device};

const BOB: &str = "bob";
const OF_ALICE: &str = "/home/alice/.local/state/link";
/// The path of a socket in this folder has more than 107 bytes.
const HOME_OF_BOB: &str =
    "/home/bob-whose-home-has-a-name-that-is-much-too-long-for-the-address-of-a-socket-in-it";

/// Connects to the socket of its first argument.
const CONNECT: &str = "use IO::Socket::UNIX; IO::Socket::UNIX->new(Peer => $ARGV[0]) or die $!;";
/// Listens on the port of its first argument, and writes what it receives to the file of its second.
const IMPOSTOR: &str = "use IO::Socket::INET; my ($port, $heard) = @ARGV; \
    my $listener = IO::Socket::INET->new(LocalAddr => q(127.0.0.1), LocalPort => $port, Listen => 16) or die $!; \
    open(my $file, q(>), $heard) or die $!; $file->autoflush(1); print $file qq(ready\\n); \
    while (my $client = $listener->accept()) { \
      while (my $line = <$client>) { print $file $line; last if $line eq qq(\\r\\n); } \
      print $client qq(HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\nconnection: close\\r\\n\\r\\n{}); close $client; }";

#[tokio::test]
async fn two_users_of_a_machine_are_out_of_each_others_reach() {
    let Some(mut device) = Device::fresh(Flavour::Systemd).await else { return };
    let long = format!("usermod --home {HOME_OF_BOB} --move-home {BOB}");
    assert_eq!(device.machine.root(&long).await.code, Some(0));
    assert_eq!(device.install().await.code, Some(0));
    device.is_healthy().await;
    let ran = device.install_for_bob().await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("port 20505 is"), "who comes second is told: {ran:?}");
    let ids = (device.id_of(ALICE).await, device.id_of(BOB).await);
    assert_ne!(ids.0, ids.1);
    eprintln!("{}", device.each_has_an_agent_of_its_own(&ids).await);

    // One user's actions on the own agent do not affect the other's.
    let agent = device.pid("link-agent").await;
    assert!(agent.is_some());
    for words in ["restart", "stop", "start"] {
        let ran = device.machine.login(BOB, &format!("link {words}")).await;
        assert_eq!(ran.code, Some(0), "link {words}: {ran:?}");
    }
    assert_eq!(device.pid("link-agent").await, agent);
    eprintln!("{}", device.each_has_an_agent_of_its_own(&ids).await);

    device.nothing_of_the_other_can_be_read().await;
    device.the_engine_of_alice_is_reached_by_alice_alone(ids.0).await;
    device.whoever_takes_the_port_of_an_engine_hears_nothing(ids.1).await;

    // After a boot, the first agent to start gets the port.
    device.machine.reboot().await;
    eprintln!("{}", device.each_has_an_agent_of_its_own(&ids).await);
    let ran = device.machine.login(BOB, "link uninstall --yes").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    device.is_healthy().await;
    assert_eq!(device.id_of(ALICE).await, ids.0);
}

impl Device {
    async fn install_for_bob(&self) -> Ran {
        let key = self.backend.key(KeyKind::Registration).await;
        let put = format!("umask 077; echo {} > /tmp/key && chown bob /tmp/key", key.expose());
        assert_eq!(self.machine.root(&put).await.code, Some(0));
        let line = format!(
            "set -o pipefail; export LINK_REGISTRATION_KEY=$(cat /tmp/key); rm /tmp/key; \
             curl -fsSL {RELEASES}/install.sh \
             | LINK_INSTALL_URL={RELEASES} LINK_BACKEND_URL={BACKEND} sh"
        );
        self.machine.login(BOB, &line).await
    }

    async fn status_of(&self, user: &str) -> Value {
        until("a status of the agent", || async {
            let ran = self.machine.user(user, "link status --json").await;
            let status: Value = serde_json::from_str(&ran.stdout).ok()?;
            status["agent"]["device_id"].is_string().then_some(status)
        })
        .await
    }

    async fn id_of(&self, user: &str) -> DeviceId {
        self.status_of(user).await["device_id"].as_str().unwrap().parse().unwrap()
    }

    async fn each_has_an_agent_of_its_own(&self, ids: &(DeviceId, DeviceId)) -> String {
        let (alice, bob) = (self.status_of(ALICE).await, self.status_of(BOB).await);
        for (status, id) in [(&alice, ids.0), (&bob, ids.1)] {
            assert_eq!(status["agent"]["device_id"], id.to_string(), "{status}");
        }
        let ports = [&alice["local_port"], &bob["local_port"]];
        assert!(ports[0].is_u64() && ports[1].is_u64() && ports[0] != ports[1], "{ports:?}");
        assert!(ports.iter().any(|port| **port == 20505), "{ports:?}");
        format!("alice at port {}, bob at port {}", ports[0], ports[1])
    }

    /// Opens the folders above Link's own, so that only Link's permissions keep the other user out.
    async fn nothing_of_the_other_can_be_read(&self) {
        let open = format!(
            "chmod 755 /home/alice /home/alice/.local /home/alice/.local/state /home/alice/.local/share \
             {HOME_OF_BOB} {HOME_OF_BOB}/.local {HOME_OF_BOB}/.local/state {HOME_OF_BOB}/.local/share"
        );
        assert_eq!(self.machine.root(&open).await.code, Some(0));
        let of_bob = format!("{HOME_OF_BOB}/.local/state/link");
        for (stranger, state) in [(BOB, OF_ALICE), (ALICE, of_bob.as_str())] {
            let secrets = ["identity.json", "run/control.token", "run/reader.token"];
            for name in secrets {
                let file = format!("{state}/{name}");
                let there = self.machine.root(&format!("test -s {file}")).await;
                assert_eq!(there.code, Some(0), "{file}");
                let ran = self.machine.user(stranger, &format!("cat {file}")).await;
                assert!(ran.stderr.contains("Permission denied"), "{file}: {ran:?}");
                assert_eq!(ran.stdout, "");
            }
            let ran = self.machine.user(stranger, &format!("find {state} -mindepth 1")).await;
            assert!(ran.stdout.is_empty() && ran.stderr.contains("Permission denied"), "{ran:?}");
        }
        let control = format!("{OF_ALICE}/run/control.sock");
        self.is_reached_by_alice_alone(&control).await;
        // Over the port, every action requires the token.
        let port = self.status_of(ALICE).await["local_port"].clone();
        let update = format!(
            "curl -sS -o /dev/null -w '%{{http_code}}' -X POST http://127.0.0.1:{port}/update"
        );
        assert_eq!(self.machine.user(BOB, &update).await.stdout, "401");
    }

    async fn is_reached_by_alice_alone(&self, socket: &str) {
        let connect = format!("perl -e '{CONNECT}' {socket}");
        let own = self.machine.user(ALICE, &connect).await;
        assert_eq!(own.code, Some(0), "{own:?}");
        let stranger = self.machine.user(BOB, &connect).await;
        assert!(stranger.stderr.contains("Permission denied"), "{stranger:?}");
    }

    async fn the_engine_of_alice_is_reached_by_alice_alone(&self, id: DeviceId) {
        self.brings_the_engine().await;
        let model = self.backend.upload("tiny", engines::model("tiny.gguf")).await;
        let port = Port::try_from(9101).unwrap();
        let deployed = self.backend.deploy(model.model_id, id, port, true).await;
        self.backend.serving(deployed.deployment_id, true).await;
        let words = self.engine_words(ALICE, "llama-server").await;
        let socket = after(&words, "--host");
        assert!(socket.ends_with(".sock"), "{words:?}");
        self.is_reached_by_alice_alone(&socket).await;
        let listens = self.machine.root("ss -Hltnp").await.stdout;
        assert!(listens.contains("link-agent") && !listens.contains("llama-server"), "{listens}");
        let ask = r#"curl -sS http://127.0.0.1:9101/v1/chat/completions -H 'content-type: application/json' \
                     -d '{"messages":[{"role":"user","content":"hi"}]}'"#;
        let ran = self.machine.user(ALICE, ask).await;
        assert!(ran.stdout.contains(TINY_REPLY.trim()), "{ran:?}");
    }

    /// The engine injects a fault: it starts so slowly that another user can take its port first.
    async fn whoever_takes_the_port_of_an_engine_hears_nothing(&self, id: DeviceId) {
        let engine = "d=$HOME/.local/share/link/engines/llama-server; mkdir -p $d/fake && \
            printf '#!/bin/sh\\nsleep 1000\\n:\\n' > $d/fake/llama-server && \
            chmod 755 $d/fake/llama-server && echo fake > $d/current";
        assert_eq!(self.machine.user(BOB, engine).await.code, Some(0));
        let model = self.backend.upload("slow", engines::model("tiny.gguf")).await;
        let port = Port::try_from(9102).unwrap();
        self.backend.deploy(model.model_id, id, port, true).await;
        let words = self.engine_words(BOB, "fake/llama-server").await;
        assert_eq!(after(&words, "--host"), "127.0.0.1");
        let taken = words.iter().rposition(|word| word == "--port").unwrap();
        let impostor = format!(
            "setsid perl -e '{IMPOSTOR}' {} /tmp/heard >/dev/null 2>&1 </dev/null &",
            words[taken + 1]
        );
        assert_eq!(self.machine.user(ALICE, &impostor).await.code, Some(0));
        until("the stranger to listen", || async {
            (self.machine.root("cat /tmp/heard").await.stdout == "ready").then_some(())
        })
        .await;
        // Meanwhile the agent checks its engine many times, and clients send requests.
        let ask = "for i in $(seq 40); do curl -sS -o /dev/null -w '%{http_code}\\n' \
            -X POST -d '{}' http://127.0.0.1:9102/v1/chat/completions; sleep 0.05; done | sort -u";
        assert_eq!(self.machine.user(BOB, ask).await.stdout, "503", "it is still being loaded");
        assert_eq!(self.machine.root("cat /tmp/heard").await.stdout, "ready");
        assert_eq!(self.machine.root("pkill -u alice -x perl").await.code, Some(0));
    }

    /// Puts the real engine where alice's agent looks for it.
    pub(super) async fn brings_the_engine(&self) {
        let archive = self.machine.releases().join("llama.tar");
        let mut tar = Command::new("tar");
        tar.arg("-chf").arg(&archive).arg("-C").arg(engines::folder());
        tar.args(["llama", "-C", "/usr/lib/x86_64-linux-gnu", "libgomp.so.1"]);
        assert!(tar.status().unwrap().success());
        let unpack = format!(
            "set -e; d=$HOME/.local/share/link/engines/llama-server; mkdir -p $d; \
             curl -fsS {RELEASES}/llama.tar | tar -xf - -C $d; mv $d/llama $d/b10068; \
             mv $d/libgomp.so.1 $d/b10068/; echo b10068 > $d/current"
        );
        let ran = self.machine.user(ALICE, &unpack).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    /// Waits for an engine, and returns its command line, which every user can read.
    async fn engine_words(&self, user: &str, program: &str) -> Vec<String> {
        let look =
            format!("tr '\\0' '\\n' < /proc/$(pgrep -u {user} -f {program} | head -n 1)/cmdline");
        let words = until("the engine to be started", || async {
            let ran = self.machine.root(&look).await;
            ran.stdout.contains("--host").then_some(ran.stdout)
        });
        words.await.lines().map(str::to_owned).collect()
    }
}

fn after(words: &[String], name: &str) -> String {
    let at = words.iter().rposition(|word| word == name).unwrap();
    words[at + 1].clone()
}
