//! Installations that are interrupted or killed, or that run at the same time as another.

use std::process::{Child, Command};

use link_tests::{
    program::Running,
    release_server::{Fault, ReleaseServer},
    wait::until,
};

use super::scratch::{SCRIPT, Scratch, run, shells, which};

const ARCHIVE: &str = ".tar.gz";

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_download_leaves_no_file_and_no_process() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    for shell in shells() {
        for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 143)] {
            let (mut child, _server) = downloading(&scratch, shell).await;
            send(signal, child.id());
            let ended = until("the script to end", || {
                let ended = child.try_wait().unwrap();
                async move { ended }
            })
            .await;
            assert_eq!(ended.code(), Some(code), "{shell:?}: {signal}");
            assert!(scratch.tree() == before, "{shell:?}: {:?}", scratch.tree().keys());
            assert_eq!(processes_of(&home_of(&scratch)), [0; 0], "{shell:?}: {signal}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_that_takes_longer_than_two_seconds_shows_its_progress_on_a_terminal() {
    let scratch = Scratch::new();
    let server = ReleaseServer::start(&scratch.release, ARCHIVE, Fault::Slow).await;
    for (flags, shows) in [("", true), ("--quiet", false)] {
        let inner = scratch.script(&["dash"], &server.url);
        let variables = inner.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let mut terminal = Command::new(which("script").unwrap());
        terminal.env_clear().envs(variables).env("SHELL", "/bin/sh");
        let line = format!("LINK_STALL_SECONDS=4 exec dash '{SCRIPT}' {flags}");
        terminal.args(["-qec", &line, "/dev/null"]);
        let mut running = Running::start(terminal, &scratch.path().join("terminal"));
        until("the download to be given up", || {
            let ended = running.reap().then_some(());
            async move { ended }
        })
        .await;
        let shown = running.output();
        assert!(shown.contains("cannot download"), "{shown:?}");
        assert_eq!(shown.contains("\r  0 KiB "), shows, "{flags}: {shown:?}");
        std::fs::remove_file(scratch.path().join("terminal")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_installation_has_left_goes_with_the_next_one() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    for shell in shells() {
        let (mut child, _server) = downloading(&scratch, shell).await;
        child.kill().unwrap();
        child.wait().unwrap();
        processes_of(&home_of(&scratch)).into_iter().for_each(|orphan| send("KILL", orphan));
        assert!(scratch.tree().len() > before.len());
        let ran = scratch.install(&scratch.file_url());
        assert_eq!(ran.code, Some(0), "{shell:?}: {ran:?}");
        let left =
            scratch.tree().into_keys().find(|path| path.to_string_lossy().contains(".install."));
        assert_eq!(left, None, "{shell:?}");
        scratch.uninstall();
    }
}

/// The first run created the parent folders of its installation, and was killed before it could
/// list them in a receipt.
#[tokio::test(flavor = "multi_thread")]
async fn the_folders_of_a_first_download_that_was_killed_go_with_the_installation_after_it() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    for shell in shells() {
        let server = ReleaseServer::start(&scratch.release, ARCHIVE, Fault::Slow).await;
        let mut script = scratch.script(shell, &server.url);
        let mut child = script.env_remove("LINK_HOME").spawn().unwrap();
        until("the download to begin", || async {
            scratch.tree().keys().any(|path| path.ends_with("asset")).then_some(())
        })
        .await;
        child.kill().unwrap();
        child.wait().unwrap();
        drop(server);
        let orphans = processes_of(&scratch.home().display().to_string());
        orphans.into_iter().for_each(|orphan| send("KILL", orphan));
        let mut again = scratch.script(shell, &scratch.file_url());
        let ran = run(again.env_remove("LINK_HOME"));
        assert_eq!(ran.code, Some(0), "{shell:?}: {ran:?}");
        let ran = run(again.arg("--uninstall"));
        assert_eq!(ran.code, Some(0), "{shell:?}: {ran:?}");
        assert!(ran.stderr.contains("deleted the installation\n"), "{ran:?}");
        assert!(scratch.tree() == before, "{shell:?}: {:?}", scratch.tree().keys());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_installations_at_once_one_is_done_and_the_other_is_or_says_that_it_is_busy() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let start = |name: &str| {
        let command = scratch.script(&["dash"], &scratch.file_url());
        Running::start(command, &scratch.path().join(name))
    };
    let mut both = [start("first"), start("second")];
    for one in &mut both {
        until("an installation to end", || {
            let ended = one.reap().then_some(());
            async move { ended }
        })
        .await;
    }
    let outputs = both.each_ref().map(Running::output);
    let done = |output: &&String| output.contains("the agent") && !output.contains("error");
    let busy = |output: &&String| output.contains("another installation is running");
    let (done, busy) = (outputs.iter().filter(done).count(), outputs.iter().filter(busy).count());
    assert!(done >= 1 && done + busy == 2, "{outputs:?}");
    assert_eq!(scratch.link(&["stop"]).code, Some(0));
    scratch.uninstall();
    assert!(scratch.tree() == before, "{:?}", scratch.tree().keys());
}

/// Runs the script while it downloads the archive from a slow server. The download fails when the
/// server is dropped.
async fn downloading(scratch: &Scratch, shell: &[&str]) -> (Child, ReleaseServer) {
    let server = ReleaseServer::start(&scratch.release, ARCHIVE, Fault::Slow).await;
    // If the tests run in the background, these signals are ignored, and a shell cannot undo that.
    let shell = [&["env", "--default-signal=INT,HUP"], shell].concat();
    let child = scratch.script(&shell, &server.url).spawn().unwrap();
    until("the download to begin", || async {
        let begun = |path: &std::path::PathBuf| path.ends_with("asset");
        scratch.tree().keys().any(begun).then_some(())
    })
    .await;
    (child, server)
}

fn home_of(scratch: &Scratch) -> String {
    scratch.link_home().display().to_string()
}

/// The processes whose arguments contain the home.
fn processes_of(home: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        String::from_utf8_lossy(&arguments).contains(home).then_some(pid)
    });
    processes.collect()
}

fn send(signal: &str, pid: u32) {
    let status = Command::new("kill").arg(format!("-{signal}")).arg(pid.to_string()).status();
    assert!(status.unwrap().success());
}
