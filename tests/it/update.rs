//! Updates of an installed agent: good ones, bad ones, and a power cut at any step.

use link_platform::checkpoint::KILL_AT;
use link_protocol::update::UpdateEnd;
use link_tests::{
    chat,
    engines::TINY_REPLY,
    installed::{Installed, OLD, PASSES_ITS_CHECK, PORT_TAKEN, json, said},
    release::Agent,
    release_server::{Fault, ReleaseServer},
    schema,
    wait::until,
};

const NEW: &str = "9.9.1";
const NEWER: &str = "9.9.2";

/// An agent that reports to the guard as usual, and then crashes.
const BEATS_AND_CRASHES: &str =
    "echo '{\"event\":\"alive\",\"version\":\"9.9.2\"}' >&0; sleep 2; kill -SEGV $$";

// Holds: S1-6c, S3.4-3, S6-10, S8-9, S9-10a, S9-10b
#[tokio::test]
async fn an_update_replaces_the_process_in_place_and_two_versions_stay() {
    let installed = Installed::new(&[]).await;
    let Installed { backend, device, releases } = &installed;
    let deployment = backend.serve_tiny(device).await;
    let port = deployment.port;
    let agent = installed.agent_pid();
    // An engine that is well may still have to install its handler of signals. One that has answered has it.
    chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    // The engine of the new version begins a log of its own.
    let pipeline = deployment.model_id.to_string().replace("mdl_", "pip_");
    let logs = device.home().join("state/logs");
    let earlier = logs.join("earlier.log");
    std::fs::hard_link(logs.join(format!("{pipeline}.log")), &earlier).unwrap();

    releases.publish(NEW, Agent::Good);
    let updated = installed.link(&["update", "--json"]);
    assert!(updated.status.success(), "{updated:?}");
    let ended = std::fs::read_to_string(&earlier).unwrap();
    assert!(ended.contains("cleaning up before exit"), "the engine was asked to end: {ended}");
    let document = schema::printed_by("update", &String::from_utf8_lossy(&updated.stdout));
    assert_eq!(document["to"], NEW);
    assert_eq!(installed.agent_pid(), agent, "the same process");
    assert_eq!(installed.version().await, NEW);
    until("the model to be served again", || async {
        let answer = chat::ask(port, None, false).await.ok()?;
        answer.status().is_success().then_some(())
    })
    .await;
    let (text, _) = chat::whole(chat::ask(port, None, false).await.unwrap()).await;
    assert_eq!(text, TINY_REPLY);

    installed.is_committed(NEW).await;
    installed.keeps(&[OLD, NEW]).await;
    let guard = |version: &str| installed.data().join("versions").join(version).join("link-guard");
    until("the guard of the new version", || async {
        let placed = std::fs::read(installed.data().join("guard/link-guard")).ok()?;
        (placed == std::fs::read(guard(NEW)).unwrap()).then_some(())
    })
    .await;
    let same = installed.link(&["update"]);
    assert!(same.status.success() && said(&same).contains("is the newest"), "{same:?}");
    releases.publish(NEWER, Agent::Good);
    let asked = installed.link(&["update", "--to", NEW]);
    assert!(asked.status.success(), "{asked:?}");
    assert!(said(&asked).contains(&format!("version {NEW} is installed, and intact")), "{asked:?}");

    assert!(installed.link(&["update"]).status.success());
    installed.is_committed(NEWER).await;
    installed.keeps(&[NEW, NEWER]).await;
    assert_eq!(installed.agent_pid(), agent);
}

// Holds: S3.4-4, S9-10b
#[tokio::test]
async fn a_version_that_fails_is_rolled_back_and_not_tried_again_by_itself() {
    let installed = Installed::new(&[]).await;
    for (version, script, reason) in [
        ("9.9.1", "exit 7", "it ended within its trial"),
        ("9.9.2", BEATS_AND_CRASHES, "it ended within its trial"),
        ("9.9.3", "trap '' TERM; while :; do sleep 1; done", "was not well at the end"),
    ] {
        let script = format!("{PASSES_ITS_CHECK}\n{script}").leak();
        installed.releases.publish(version, Agent::Script(script));
        let updated = installed.link(&["update"]);
        assert_eq!(updated.status.code(), Some(70), "{version}: {updated:?}");
        assert!(said(&updated).contains(reason), "{updated:?}");
        installed.is_healthy().await;
        assert_eq!(installed.version().await, OLD);
        let last = installed.device.healthz().await.last_update.unwrap();
        assert_eq!((last.to.to_string(), last.outcome), (version.into(), UpdateEnd::RolledBack));
        let declined = installed.link(&["update"]);
        assert_eq!(declined.status.code(), Some(1), "{declined:?}");
        assert!(said(&declined).contains("was given up before"), "{declined:?}");
    }
    let again = installed.link(&["update", "--again"]);
    assert_eq!(again.status.code(), Some(70), "{again:?}");
    installed.is_healthy().await;
}

/// An agent that nobody can reach at its port, and that answers the guard on their line. The
/// previous agent has set the line to non-blocking reads.
const ANSWERS_ON_THE_LINE: &str = r#"exec 3<&0
while kill -0 $$; do
    read -r line || { sleep 0.2; continue; }
    case $line in *healthz*) echo '{"event":"answered","version":"9.9.1"}' >&3 ;; esac
done <&3 &
trap 'exit 0' TERM
while :; do
    echo '{"event":"alive","version":"9.9.1","local_port":1}' >&3
    sleep 1
done"#;

#[tokio::test]
async fn a_version_whose_port_is_starved_is_kept_by_what_it_says_on_the_line() {
    let installed = Installed::new(&[]).await;
    let script = format!("{PASSES_ITS_CHECK}\n{ANSWERS_ON_THE_LINE}").leak();
    installed.releases.publish(NEW, Agent::Script(script));
    let mut update = installed.command(&["update"]).spawn().unwrap();
    let log = installed.device.home().join("state/logs/agent.log");
    let decided = until("the end of the trial", || async {
        let log = std::fs::read_to_string(&log).ok()?;
        let ends = ["has proved itself", "rolling version"];
        log.lines().find(|line| ends.iter().any(|end| line.contains(end))).map(str::to_owned)
    })
    .await;
    drop(update.kill());
    drop(update.wait());
    let (time, decided) = decided.split_once(' ').unwrap();
    assert!(time.parse::<jiff::Timestamp>().is_ok(), "{time}");
    assert_eq!(decided, format!("link-guard: version {NEW} has proved itself"));
    assert!(installed.link(&["stop"]).status.success());
}

/// The port may be free at the next attempt.
#[tokio::test]
async fn a_version_that_finds_the_port_taken_is_rolled_back_and_not_given_up() {
    let installed = Installed::new(&[]).await;
    let script = format!("{PASSES_ITS_CHECK}\nexit {PORT_TAKEN}").leak();
    installed.releases.publish(NEW, Agent::Script(script));
    for _ in 0..2 {
        let updated = installed.link(&["update"]);
        assert_eq!(updated.status.code(), Some(70), "{updated:?}");
        assert!(said(&updated).contains("another program has the port"), "{updated:?}");
        installed.is_healthy().await;
        assert_eq!(installed.version().await, OLD);
    }
}

#[tokio::test]
async fn an_installation_that_is_rolled_back_at_once_says_so() {
    let installed = Installed::new(&[]).await;
    let script = format!("{PASSES_ITS_CHECK}\nexit 7").leak();
    installed.releases.publish(NEW, Agent::Script(script));
    let ran = installed.install();
    assert_eq!(ran.status.code(), Some(70), "{ran:?}");
    let words = format!("it ended within its trial; it was rolled back to version {OLD}");
    assert!(said(&ran).contains(&words), "{ran:?}");
    assert!(!said(&ran).contains(&format!("installed Link {NEW}")), "{ran:?}");
    installed.is_healthy().await;
    assert_eq!(installed.version().await, OLD);

    installed.releases.publish(NEWER, Agent::Good);
    let ran = installed.install();
    assert!(ran.status.success(), "{ran:?}");
    installed.is_committed(NEWER).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_intact_version_is_not_downloaded_again_and_a_damaged_one_is() {
    let installed = Installed::new(&[]).await;
    let server = ReleaseServer::start(&installed.releases.folder(), "", Fault::None).await;
    let ran = installed.install_from(&server.url);
    assert!(ran.status.success() && said(&ran).contains("there is nothing to do"), "{ran:?}");
    let same = installed.link(&["update"]);
    assert!(same.status.success() && said(&same).contains("there is nothing to do"), "{same:?}");
    assert_eq!(server.requests(".tar.gz"), 0);

    let agent = installed.data().join("versions").join(OLD).join("link-agent");
    let good = std::fs::read(&agent).unwrap();
    for runs in [true, false] {
        std::fs::remove_file(&agent).unwrap();
        std::fs::write(&agent, "damaged").unwrap();
        let before = server.requests(".tar.gz");
        let looked = installed.link(&["update", "--check"]);
        assert!(looked.status.success(), "{looked:?}");
        assert!(said(&looked).contains("link-agent` is damaged"), "{looked:?}");
        assert_eq!(server.requests(".tar.gz"), before);
        if !runs {
            assert!(installed.link(&["stop"]).status.success());
        }
        let mended = installed.link(&["update"]);
        assert!(mended.status.success(), "{mended:?}");
        assert!(said(&mended).contains(&format!("repaired version {OLD}")), "{mended:?}");
        assert_eq!(server.requests(".tar.gz"), before + 1);
        assert!(std::fs::read(&agent).unwrap() == good);
        if runs {
            installed.is_healthy().await;
        }
    }
    assert!(installed.link(&["start"]).status.success());
    installed.is_healthy().await;
}

// Holds: S7-12, S7-13, S9-10a
#[tokio::test]
async fn what_is_not_a_good_release_never_runs() {
    let installed = Installed::new(&[]).await;
    let refuses = |code: i32, words: &str| {
        let updated = installed.link(&["update"]);
        assert_eq!(updated.status.code(), Some(code), "{words}: {updated:?}");
        assert!(said(&updated).contains(words), "{updated:?}");
    };
    installed.releases.publish(NEW, Agent::Script("echo 'no such library' >&2; exit 1"));
    refuses(23, "its self-check failed: no such library");
    assert_eq!(installed.on_disk(), [OLD], "it was deleted again");
    refuses(1, "was given up before");
    let nothing = installed.link(&["update", "--to", "8.8.8"]);
    assert!(said(&nothing).contains("there is no release 8.8.8 to install"), "{nothing:?}");

    installed.releases.publish(NEWER, Agent::Good);
    let archive = installed.archive(NEWER);
    let bytes = std::fs::read(&archive).unwrap();
    installed.releases.replace_archive(NEWER, "", &bytes[..bytes.len() / 2]);
    refuses(22, "does not have its checksum");
    installed.releases.publish_forged("9.9.3");
    refuses(24, "cannot be trusted");
    installed.releases.publish_expired("9.9.4");
    refuses(1, "the manifest of the releases has expired");
    installed.releases.publish("0.0.1", Agent::Good);
    refuses(25, "is older than the installed");
    // A manifest of this channel that names a release of another channel.
    installed.releases.publish_on("alpha", "9.9.5");
    refuses(1, "is of the channel alpha");
    // An old manifest in place of that of the requested version.
    let listed =
        |version: &str| installed.releases.folder().join(format!("link-{version}.manifest.json"));
    std::fs::copy(listed("0.0.1"), listed("9.9.6")).unwrap();
    let other = installed.link(&["update", "--to", "9.9.6"]);
    assert!(said(&other).contains("there is no release 9.9.6 to install"), "{other:?}");
    for (name, text, code, words) in [
        ("manifest.json", "<!doctype html><title>Sign in</title>", 12, "log in first"),
        ("manifest.json", "{\"kid\":\"a\",\"kid\":\"b\"}", 12, "not of the form"),
        ("keys.json", "[{\"kid\":\"a\",\"kid\":\"b\"}]", 12, "not of the form"),
    ] {
        let file = installed.releases.folder().join(name);
        std::fs::write(&file, text).unwrap();
        refuses(code, words);
        std::fs::remove_file(&file).unwrap();
    }
    std::fs::remove_dir_all(installed.releases.folder()).unwrap();
    refuses(1, "there is no release to install");

    installed.is_healthy().await;
    assert_eq!((installed.version().await.as_str(), installed.on_disk()), (OLD, vec![OLD.into()]));
}

// Holds: S7-12, S7-13
#[tokio::test]
async fn a_bad_release_is_refused_alike_by_a_look_and_without_an_agent() {
    let installed = Installed::new(&[]).await;
    let refuses = |code: i32, words: &str| {
        for arguments in [&["update", "--check"][..], &["update"]] {
            let refused = installed.link(arguments);
            assert_eq!(refused.status.code(), Some(code), "{arguments:?}: {refused:?}");
            assert!(said(&refused).contains(words), "{arguments:?}: {refused:?}");
            assert_eq!(installed.on_disk(), [OLD], "{arguments:?}");
        }
    };
    installed.releases.publish_forged(NEW);
    refuses(24, "cannot be trusted");
    assert!(installed.link(&["stop"]).status.success());
    refuses(24, "cannot be trusted");
    installed.releases.publish("0.0.1", Agent::Good);
    refuses(25, "is older than the installed");
    assert!(installed.link(&["start"]).status.success());
    installed.is_healthy().await;
    refuses(25, "is older than the installed");
    assert_eq!(installed.version().await, OLD);
}

#[tokio::test]
async fn an_agent_that_does_not_run_is_updated_for_its_next_start_and_a_channel_is_shown() {
    let installed = Installed::new(&[]).await;
    assert!(installed.link(&["stop"]).status.success());
    installed.releases.publish_on("beta", NEW);
    let declined = installed.link(&["update", "--check"]);
    assert!(said(&declined).contains("is of the channel beta"), "{declined:?}");
    let looked = installed.link(&["update", "--check", "--json", "--channel", "beta"]);
    assert_eq!(json(&looked)["available"], NEW);
    let looked = installed.link(&["update", "--check", "--channel", "beta"]);
    assert!(said(&looked).contains("version 9.9.1 · Beta is available"), "{looked:?}");
    assert_eq!(installed.on_disk(), [OLD]);
    let updated = installed.link(&["update", "--channel", "beta"]);
    assert!(updated.status.success() && said(&updated).contains("linkctl start`"), "{updated:?}");
    assert!(said(&updated).contains("to 9.9.1 · Beta"), "{updated:?}");
    assert!(installed.link(&["start"]).status.success());
    assert_eq!(installed.version().await, NEW);
    installed.is_committed(NEW).await;
    let status = installed.link(&["status"]);
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(text.contains("9.9.1 · Beta"), "{text}");
    let version = installed.link(&["--version"]);
    assert_eq!(String::from_utf8_lossy(&version.stdout), "link 9.9.1 · Beta\n");
    let newest = installed.link(&["update", "--channel", "beta"]);
    assert!(said(&newest).contains("version 9.9.1 · Beta is the newest"), "{newest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_while_a_version_is_brought_here_is_made_up_for() {
    is_cut_at_each(&[
        "update-unpacked",
        "version-copied",
        "version-renamed",
        "version-complete",
        "update-laid-out",
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_while_a_version_takes_over_is_made_up_for() {
    is_cut_at_each(&["swap-written", "swap-pointed", "before-exec", "committed"]).await;
}

/// Two devices at a time: each waits for its trial more than it works.
async fn is_cut_at_each(checkpoints: &[&'static str]) {
    for two in checkpoints.chunks(2) {
        let running: Vec<_> = two.iter().map(|one| tokio::spawn(is_cut_at(one))).collect();
        for ended in running {
            ended.await.unwrap();
        }
    }
}

/// After a kill at any checkpoint, the device ends with one healthy version, and can be updated.
async fn is_cut_at(checkpoint: &'static str) {
    let installed = Installed::new(&[(KILL_AT, checkpoint)]).await;
    installed.releases.publish(NEW, Agent::Good);
    let _may_be_cut_short = installed.link(&["update"]);
    installed.was_cut().await;
    installed.comes_back().await;
    installed.settles().await;
    let again = installed.link(&["update"]);
    assert!(again.status.success(), "{checkpoint}: {again:?}");
    installed.is_committed(NEW).await;
}

#[tokio::test]
async fn a_power_cut_at_any_step_of_a_roll_back_ends_with_the_version_before() {
    for checkpoint in ["roll-back-written", "roll-back-pointed"] {
        let installed = Installed::new(&[(KILL_AT, checkpoint)]).await;
        let script = format!("{PASSES_ITS_CHECK}\nexit 7").leak();
        installed.releases.publish(NEW, Agent::Script(script));
        let _cut_short = installed.link(&["update"]);
        installed.was_cut().await;
        installed.comes_back().await;
        assert_eq!(installed.version().await, OLD, "{checkpoint}");
        let state = std::fs::read_to_string(installed.data().join("update.json")).unwrap();
        assert!(state.contains("skipped") && !state.contains("pending"), "{state}");
    }
}
