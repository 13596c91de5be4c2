//! An external router: the real `zenohd`, configured and started by the exact lines of
//! `docs/operations.md`. `LINK_TEST_ZENOHD` is its path. `scripts/prepare zenohd` builds it.

use std::{path::PathBuf, process::Command, time::Instant};

use link_protocol::{
    local_api::ConnectionState, port::Port, registration::TransportType, report::CommandResult,
};
use link_tests::{
    backend::{OLD_ORIGIN, TestBackend, WORKSPACE},
    device::free_port,
    program::Running,
    wait::until,
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::json;

use super::{device_on, hostile};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operations.md");
const HEADING: &str = "### An external router";

/// The folder of a router, and its configuration.
struct External {
    zenohd: PathBuf,
    folder: tempfile::TempDir,
    port: Port,
    running: Option<Running>,
}

impl External {
    /// Creates the folder, and starts nothing. Prints the reason and returns none if there is no
    /// `zenohd`.
    #[expect(clippy::print_stderr, reason = "says why a test has not run")]
    fn prepared() -> Option<Self> {
        let Some(zenohd) = std::env::var_os("LINK_TEST_ZENOHD") else {
            eprintln!("skipped: LINK_TEST_ZENOHD is not set; `scripts/prepare zenohd` builds it");
            return None;
        };
        let external = Self {
            zenohd: zenohd.into(),
            folder: tempfile::tempdir().unwrap(),
            port: free_port(),
            running: None,
        };
        external.certify();
        Some(external)
    }

    /// Issues a certificate for the router, from an authority that is created for this test.
    fn certify(&self) {
        let authority_key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&authority_key).unwrap();
        let key = KeyPair::generate().unwrap();
        let server = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let server = server.signed_by(&key, &Issuer::new(params, authority_key)).unwrap();
        for (name, text) in [
            ("authority.pem", authority.pem()),
            ("router.pem", server.pem()),
            ("router.key", key.serialize_pem()),
        ] {
            std::fs::write(self.folder.path().join(name), text).unwrap();
        }
    }

    /// Returns the block of the guide in `language`, adapted to this folder and port.
    fn documented(&self, language: &str) -> String {
        let guide = std::fs::read_to_string(GUIDE).unwrap();
        let section = guide.split_once(HEADING).unwrap().1;
        let block = section.split_once(&format!("```{language}\n")).unwrap().1;
        let folder = self.folder.path().to_str().unwrap();
        let address = format!("127.0.0.1:{}", self.port);
        let text = block.split_once("```").unwrap().0;
        ["router.example.org:7447", "0.0.0.0:7447"]
            .iter()
            .fold(text.to_owned(), |text, place| text.replace(place, &address))
            .replace("/var/lib/link-backend", folder)
            .replace("/etc/zenohd", folder)
    }

    /// Starts a backend that joins the router. The router does not run yet.
    async fn backend(&self) -> TestBackend {
        let file = self.folder.path().join("backend.toml");
        std::fs::write(&file, self.documented("toml")).unwrap();
        let backend = TestBackend::start_with(&["--config", file.to_str().unwrap()]).await;
        until("the files of the router", || async {
            self.folder.path().join("routers/zenohd.json5").exists().then_some(())
        })
        .await;
        backend
    }

    fn start(&mut self) {
        let mut command = Command::new("sh");
        let path = format!("{}:/usr/bin:/bin", self.zenohd.parent().unwrap().display());
        command.args(["-c", &format!("exec {}", self.documented("sh"))]).env("PATH", path);
        self.running = Some(Running::start(command, &self.folder.path().join("zenohd.log")));
    }

    fn kill(&mut self) {
        self.running.take().unwrap().kill();
    }
}

// Holds: S5-4
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_accepted_while_a_router_beside_was_away_is_done_once_when_it_is_back() {
    let Some(mut external) = External::prepared() else { return };
    let backend = external.backend().await;
    external.start();
    let device = device_on(&backend, &json!({"type": "zenoh"})).await;
    let health = device.healthz().await;
    assert_eq!(health.transport.r#type, TransportType::Zenoh);
    assert_eq!(health.transport.state, ConnectionState::Connected);
    let deployment = backend.serve_tiny(&device).await;
    let repaired = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
    assert_eq!(repaired.status, CommandResult::Succeeded, "{}", repaired.output);
    let before = device.model().await;

    external.kill();
    backend.allow(&[OLD_ORIGIN, WORKSPACE]).await;
    let sent = backend.owner.repair_serving(deployment.model_id, device.id, None, "away").await;
    let sent = sent.unwrap().command_id;
    let name = sent.to_string();
    until("the device to find no router", || async {
        (device.healthz().await.transport.state != ConnectionState::Connected).then_some(())
    })
    .await;
    assert!(backend.owner.command(sent).await.unwrap().result.is_none(), "nobody carries it");
    external.start();
    let began = Instant::now();
    let result = backend.result(sent).await.result.unwrap();
    eprintln!("a repair was done {:?} after zenohd was started again", began.elapsed());
    assert_eq!(result.status, CommandResult::Succeeded, "{}", result.output);
    let after = device.model().await;
    assert_eq!(after.engine_pid, before.engine_pid);
    let log = device.output();
    let of_it =
        |what| log.lines().filter(|line| line.contains(what) && line.contains(&name)).count();
    assert_eq!((of_it("accepted"), of_it("finished")), (1, 1), "{log}");

    // None of it was done over HTTP, and the next command is as quick as ever.
    let began = Instant::now();
    backend.allow(&[WORKSPACE]).await;
    let repaired = backend.repair(deployment.model_id, device.id, None).await.result.unwrap();
    eprintln!("the next repair took {:?}", began.elapsed());
    assert_eq!(repaired.status, CommandResult::Succeeded, "{}", repaired.output);
    assert_eq!(device.healthz().await.transport.r#type, TransportType::Zenoh);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_device_gets_no_further_at_a_router_that_runs_beside() {
    let Some(mut external) = External::prepared() else { return };
    let backend = external.backend().await;
    external.start();
    hostile::turns_on_another(&backend).await;
}
