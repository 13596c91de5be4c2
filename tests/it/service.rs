//! A real `systemd --user` starts Link, keeps it running, and forgets it after the uninstallation.

use std::{collections::BTreeMap, path::PathBuf};

use link_protocol::key::KeyKind;
use link_tests::{
    backend::TestBackend,
    device::free_port,
    machine::{Machine, Ran},
    tree,
    wait::until,
};
use serde_json::Value;

const UNIT: &str = ".config/systemd/user/link.service";

// Holds: S4.4-8a, S4.4-8c, S4.4-8d, S4.4-8e
#[tokio::test]
async fn machine_systemd_starts_it_keeps_it_running_and_forgets_it() {
    let machine = match Machine::boot().await {
        Ok(machine) => machine,
        Err(why) => {
            eprintln!("skipped: {why}");
            return;
        }
    };
    machine.file(".profile", "# mine\n[ -z \"$BASH\" ] || . ~/.bashrc\n");
    machine.file(".bashrc", "alias ll='ls -l'");
    machine.file(".zshrc", "setopt autocd\r\n");
    let before = tree(&machine);
    let processes = machine.run(PROCESSES).stdout;
    let backend = TestBackend::start().await;
    let device = Device { machine, port: free_port().get() };

    device.installs_below_one_folder_and_touches_nothing_else();
    assert_eq!(tree(&device.machine), before);
    device.installs_and_is_kept_running(&backend).await;
    device.starts_with_the_next_login().await;
    device.starts_and_stops_as_systemd_says().await;
    device.repairs_its_unit_and_keeps_what_a_person_wrote();
    device.does_to_its_unit_what_it_says();
    device.repairs_an_emptied_unit().await;
    device.keeps_the_variables_of_its_unit().await;
    device.leaves_a_masked_unit_alone().await;
    device.takes_its_unit_away_when_none_is_wanted().await;

    let ran = device.link("uninstall --yes");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(backend.owner.devices().await.unwrap().is_empty());
    assert_eq!(tree(&device.machine), before);
    let load = device.machine.run("systemctl --user show -P LoadState link.service").stdout;
    assert_eq!(load, "not-found");
    assert_eq!(device.machine.run(PROCESSES).stdout, processes);
    let ran = device.machine.run("bash -lc 'command -v linkctl'");
    assert_ne!(ran.code, Some(0), "{ran:?}");
}

struct Device {
    machine: Machine,
    port: u16,
}

/// The programs of the user, except those of this query.
const PROCESSES: &str = "ps -u alice -o comm= | grep -v -e '^ps$' -e '^bash$' -e '^grep$' -e '^env$' -e '^setpriv$' -e '^sort$' | sort";

impl Device {
    /// Checks that with `LINK_HOME` an installation changes nothing outside that folder.
    fn installs_below_one_folder_and_touches_nothing_else(&self) {
        let release = self.machine.release();
        let variables = format!("LINK_HOME=~/scratch LINK_LOCAL_PORT={}", self.port);
        let ran = self.machine.run(&format!(
            "{variables} LINK_INSTALL_URL=file://{} sh {}/install.sh",
            release.display(),
            release.display()
        ));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("background process; survives"), "{ran:?}");
        assert!(ran.stderr.contains("PATH was not changed"), "{ran:?}");
        assert_ne!(self.state(), "active");
        let files = tree(&self.machine);
        let outside = |path: &&PathBuf| !path.starts_with(self.machine.home().join("scratch"));
        assert_eq!(files.keys().filter(outside).count(), 3, "{files:?}");
        let ran = self.machine.run(&format!("{variables} ~/scratch/bin/link uninstall --yes"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    async fn installs_and_is_kept_running(&self, backend: &TestBackend) {
        let key = backend.key(KeyKind::Registration).await;
        let release = self.machine.home().parent().unwrap().join("release");
        self.machine.file("key", key.expose());
        let ran = self.machine.run(&format!(
            "LINK_REGISTRATION_KEY=$(cat key) && export LINK_REGISTRATION_KEY && rm key \
             && LINK_LOCAL_PORT={} LINK_BACKEND_URL={} LINK_INSTALL_URL=file://{} sh {}/install.sh",
            self.port,
            backend.url,
            release.display(),
            release.display()
        ));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        // Linger needs a part of systemd that this machine lacks, so it is not promised.
        assert!(ran.stderr.contains("sudo loginctl enable-linger alice"), "{ran:?}");
        assert!(ran.stderr.contains("a new login shell finds `link`"), "{ran:?}");
        assert_eq!(self.state(), "active");
        assert_eq!(self.machine.run("systemctl --user is-enabled link").stdout, "enabled");
        assert_eq!(self.property("MainPID"), self.pid("guard"));
        let found = self.machine.run("bash -lc 'command -v link; command -v linkctl'").stdout;
        let bin = self.machine.home().join(".local/bin");
        let wanted = format!("{}\n{}", bin.join("link").display(), bin.join("linkctl").display());
        assert_eq!(found, wanted);

        self.is_healthy().await;
        let availability = &self.status()["availability"];
        assert_eq!(availability["tier"], "systemd-user");
        assert_eq!(availability["survives_reboot"], false);
        assert!(availability["why"].as_str().unwrap().contains("nothing starts"));

        let agent = self.pid("agent");
        let told =
            format!("tr '\\0' '\\n' < /proc/{agent}/environ | grep -c -e NOTIFY -e WATCHDOG");
        assert_eq!(self.machine.run(&told).stdout, "0");
        let guard = self.pid("guard");
        let _killed = self.machine.run(&format!("kill -9 {agent}"));
        self.comes_back("agent", &agent).await;
        assert_eq!(self.pid("guard"), guard);
        let _killed = self.machine.run(&format!("kill -9 {guard}"));
        self.comes_back("guard", &guard).await;
        assert_eq!(self.property("MainPID"), self.pid("guard"));
        self.is_healthy().await;
    }

    /// The service manager of the next login starts the unit.
    async fn starts_with_the_next_login(&self) {
        let guard = self.pid("guard");
        let _logged_out = self.machine.run("systemctl --user exit");
        self.comes_back("guard", &guard).await;
        until("an active unit", || async { (self.state() == "active").then_some(()) }).await;
        self.is_healthy().await;
    }

    async fn starts_and_stops_as_systemd_says(&self) {
        assert_eq!(self.link("stop").code, Some(0));
        assert_eq!(self.state(), "inactive");
        assert_eq!(self.status()["running"], false);
        assert_eq!(self.link("start").code, Some(0));
        assert_eq!(self.state(), "active");
        let guard = self.pid("guard");
        assert_eq!(self.link("restart").code, Some(0));
        assert_eq!(self.state(), "active");
        assert_ne!(self.pid("guard"), guard);
        let _stopped = self.machine.run("systemctl --user stop link");
        assert_eq!(self.status()["running"], false);
        let _started = self.machine.run("systemctl --user start link");
        self.is_healthy().await;
    }

    fn repairs_its_unit_and_keeps_what_a_person_wrote(&self) {
        let guard = self.pid("guard");
        let ran = self.install_again();
        assert_eq!((ran.code, self.pid("guard")), (Some(0), guard), "{ran:?}");
        for words in
            ["is already installed and intact", "the agent is running", "unit of the user's"]
        {
            assert!(ran.stderr.contains(words), "{ran:?}");
        }

        let unit = self.machine.home().join(UNIT);
        let ours = std::fs::read_to_string(&unit).unwrap();
        std::fs::remove_file(&unit).unwrap();
        let ran = self.install_again();
        assert!(ran.code == Some(0) && ran.stderr.contains("created the unit"), "{ran:?}");
        assert_eq!(std::fs::read_to_string(&unit).unwrap(), ours);
        assert_eq!(self.state(), "active");

        let edited = ours.replace("RestartSec=2", "RestartSec=1\nNice=5");
        std::fs::write(&unit, &edited).unwrap();
        let ran = self.install_again();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("- RestartSec=1\n- Nice=5\n+ RestartSec=2"), "{ran:?}");
        assert_eq!(std::fs::read_to_string(&unit).unwrap(), edited);
        assert_eq!(self.property("Nice"), "5");
    }

    /// An installation does exactly what `--dry-run` prints.
    fn does_to_its_unit_what_it_says(&self) {
        let port = format!("LINK_LOCAL_PORT={}", self.port);
        let unit = self.machine.home().join(UNIT);
        let written = std::fs::read_to_string(&unit).unwrap();
        // No user may request linger on this machine, so every run tries again.
        let linger = "ask systemd to run the services of alice without a login";
        let make = "make and enable the unit `link.service` of the user's systemd";
        let again = "stop the agent, and start it again";
        let read = "have systemd read the unit `link.service` again";
        assert_eq!(self.does_what_it_says(&port), [linger]);
        std::fs::write(&unit, format!("{written}# mine\n")).unwrap();
        assert_eq!(self.does_what_it_says(&port), [read, linger]);
        std::fs::remove_file(unit.with_file_name("default.target.wants").join("link.service"))
            .unwrap();
        let steps = self.does_what_it_says(&port);
        assert_eq!(steps, ["enable the unit `link.service`", linger]);
        std::fs::remove_file(&unit).unwrap();
        assert_eq!(self.does_what_it_says(&port), [make, linger, again]);
        let without = format!("{port} LINK_SERVICE=none");
        let steps = self.does_what_it_says(&without);
        assert_eq!(steps, ["stop and remove the unit `link.service`", again]);
        assert_eq!(self.does_what_it_says(&port), [make, linger, again]);
    }

    async fn repairs_an_emptied_unit(&self) {
        let unit = self.machine.home().join(UNIT);
        std::fs::write(&unit, "").unwrap();
        self.survives_nothing_because("the unit is empty");
        let ran = self.install_again();
        assert!(ran.code == Some(0) && ran.stderr.contains("created the unit"), "{ran:?}");
        assert!(std::fs::read_to_string(&unit).unwrap().contains("RestartSec=2\n"));
        assert_eq!((self.state().as_str(), self.load_state().as_str()), ("active", "loaded"));
        self.is_healthy().await;
    }

    /// The unit keeps a port that was given once, and the command finds it there.
    async fn keeps_the_variables_of_its_unit(&self) {
        let unit = self.machine.home().join(UNIT);
        let ours = std::fs::read_to_string(&unit).unwrap();
        assert!(ours.contains(&format!("\"LINK_LOCAL_PORT={}\"", self.port)), "{ours}");
        let guard = self.pid("guard");
        let ran = self.install_with("", "");
        assert_eq!((ran.code, self.pid("guard")), (Some(0), guard), "{ran:?}");
        assert_eq!(std::fs::read_to_string(&unit).unwrap(), ours);
        std::fs::remove_file(&unit).unwrap();
        let ran = self.install_with("", "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(std::fs::read_to_string(&unit).unwrap(), ours);
        until("a healthy status", || async {
            (self.machine.run("~/.local/bin/link status").code == Some(0)).then_some(())
        })
        .await;
    }

    async fn leaves_a_masked_unit_alone(&self) {
        let unit = self.machine.home().join(UNIT);
        let ours = std::fs::read_to_string(&unit).unwrap();
        let ran = self.machine.run(&format!("rm {UNIT} && systemctl --user mask link"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        self.survives_nothing_because("systemctl --user unmask link");
        let ran = self.install_again();
        assert!(ran.code == Some(0) && ran.stderr.contains("masked and stays masked"), "{ran:?}");
        assert_eq!(std::fs::read_link(&unit).unwrap(), PathBuf::from("/dev/null"));
        assert_eq!(self.link("stop").code, Some(0));
        let ran = self.link("start");
        assert_ne!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("systemctl --user unmask link"), "{ran:?}");
        assert_eq!(self.status()["running"], false);

        assert_eq!(self.machine.run("systemctl --user unmask link").code, Some(0));
        let ran = self.install_again();
        assert!(ran.code == Some(0) && ran.stderr.contains("created the unit"), "{ran:?}");
        assert_eq!(std::fs::read_to_string(&unit).unwrap(), ours);
        assert_eq!(self.state(), "active");
        self.is_healthy().await;
    }

    async fn takes_its_unit_away_when_none_is_wanted(&self) {
        let unit = self.machine.home().join(UNIT);
        let without = format!("LINK_SERVICE=none LINK_LOCAL_PORT={}", self.port);
        let ran = self.install_with(&without, "--dry-run");
        assert!(ran.stdout.contains("would stop and remove the unit"), "{ran:?}");
        assert!(unit.exists());
        let ran = self.install_with(&without, "");
        assert!(ran.code == Some(0) && ran.stderr.contains("removed the unit"), "{ran:?}");
        assert!(!unit.exists());
        assert!(std::fs::symlink_metadata(unit.with_file_name("default.target.wants")).is_err());
        assert_eq!((self.state().as_str(), self.load_state().as_str()), ("inactive", "not-found"));
        self.is_healthy().await;
        assert_eq!(self.status()["availability"]["tier"], "detached");
        let guard = self.pid("guard");
        let ran = self.install_with(&without, "");
        assert_eq!((ran.code, self.pid("guard")), (Some(0), guard), "{ran:?}");

        let ran = self.install_again();
        assert!(ran.code == Some(0) && ran.stderr.contains("created the unit"), "{ran:?}");
        assert_eq!(self.state(), "active");
        self.is_healthy().await;
    }

    fn survives_nothing_because(&self, why: &str) {
        let availability = &self.status()["availability"];
        assert_eq!(availability["tier"], "systemd-user");
        assert_eq!(availability["survives_logout"], false);
        assert_eq!(availability["survives_reboot"], false);
        assert!(availability["why"].as_str().unwrap().contains(why), "{availability}");
    }

    fn install_again(&self) -> Ran {
        self.install_with(&format!("LINK_LOCAL_PORT={}", self.port), "")
    }

    /// Runs the last step of `install.sh`, with the installed files.
    fn install_with(&self, variables: &str, flags: &str) -> Ran {
        let release = self.machine.home().parent().unwrap().join("release");
        self.machine.run(&format!(
            "{variables} LINK_INSTALL_URL=file://{} sh {}/install.sh {flags}",
            release.display(),
            release.display()
        ))
    }

    /// Runs the dry run and the installation, and returns their steps, which must be equal.
    fn does_what_it_says(&self, variables: &str) -> Vec<String> {
        let archive =
            "sed -n 's/.*\"archive\": \"\\(.*\\)\".*/\\1/p' ~/.local/share/link/receipt.json";
        let [would, did] = [("--dry-run", "would"), ("", "did")].map(|(flag, name)| {
            let ran = self.machine.run(&format!(
                "{variables} ~/.local/bin/link install-files --json --archive $({archive}) {flag}"
            ));
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let document: Value = serde_json::from_str(&ran.stdout).unwrap();
            let steps = document[name].as_array().unwrap().iter();
            steps.map(|step| step.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        });
        assert_eq!(did, would);
        did
    }

    fn link(&self, words: &str) -> Ran {
        self.machine.run(&format!("LINK_LOCAL_PORT={} ~/.local/bin/link {words}", self.port))
    }

    fn status(&self) -> Value {
        let ran = self.link("status --json");
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    async fn is_healthy(&self) {
        until("a healthy status", || async { (self.link("status").code == Some(0)).then_some(()) })
            .await;
    }

    async fn comes_back(&self, program: &str, killed: &str) {
        until("another process", || async {
            let pid = self.pid(program);
            let runs = || self.machine.run(&format!("kill -0 {pid}")).code == Some(0);
            (pid != killed && !pid.is_empty() && runs()).then_some(())
        })
        .await;
    }

    fn pid(&self, program: &str) -> String {
        self.machine.run(&format!("cat ~/.local/state/link/{program}.pid")).stdout
    }

    fn state(&self) -> String {
        self.machine.run("systemctl --user is-active link").stdout
    }

    fn load_state(&self) -> String {
        self.property("LoadState")
    }

    fn property(&self, name: &str) -> String {
        self.machine.run(&format!("systemctl --user show -P {name} link")).stdout
    }
}

fn tree(machine: &Machine) -> BTreeMap<PathBuf, Vec<u8>> {
    tree::of(&[&machine.home()])
}
