//! A real `systemd --user` keeps the backend of `link up` running, like the agent.

use link_tests::{
    machine::{Machine, Ran},
    person,
    wait::until,
};
use serde_json::Value;

#[tokio::test]
async fn machine_systemd_keeps_the_backend_of_link_up_and_forgets_it() {
    let machine = match Machine::boot().await {
        Ok(machine) => machine,
        Err(why) => {
            eprintln!("skipped: {why}");
            return;
        }
    };
    let [port, local_port, _] = person::ports();
    let desk = Desk { machine, port, local_port };
    desk.installs();
    let up = desk.does(&format!("link up --json --port {}", desk.port));
    let up: Value = serde_json::from_str(&up.stdout).unwrap();
    assert_eq!(up["backend"]["started"], true, "{up}");
    assert_eq!(desk.property("ActiveState"), "active");
    assert_eq!(desk.does("systemctl --user is-enabled link-backend").stdout, "enabled");
    assert_eq!(desk.property("MainPID"), desk.owner()["pid"].to_string());
    assert_eq!(desk.does("systemctl --user is-active link").stdout, "active");

    // A killed backend is restarted, with a new owner's proof.
    let before = desk.owner();
    desk.does(&format!("kill -9 {}", before["pid"]));
    until("another process", || async {
        let line = "cat ~/.local/state/link-backend/run/owner.json";
        let now: Value = serde_json::from_str(&desk.machine.run(line).stdout).ok()?;
        (now["pid"] != before["pid"]).then_some(())
    })
    .await;
    assert_ne!(desk.owner()["proof"], before["proof"]);
    desk.does("link whoami");

    // Stop and start it again.
    desk.does("link down");
    assert_eq!(desk.property("ActiveState"), "inactive");
    assert_ne!(desk.machine.run("systemctl --user is-active link").stdout, "active");
    let up = desk.does("link up --json");
    let up: Value = serde_json::from_str(&up.stdout).unwrap();
    assert_eq!(up["device"]["registered"], false, "{up}");
    assert_eq!(desk.property("ActiveState"), "active");

    // No trace of it is left.
    desk.does("link down --purge --yes");
    assert_eq!(desk.property("LoadState"), "not-found");
    for gone in [".local/state/link-backend", ".config/link-backend", ".local/share/link-backend"] {
        assert!(!desk.machine.home().join(gone).exists(), "{gone}");
    }
    desk.does("link uninstall --yes");
    let left = desk.does("cd ~ && find . -path '*link*' -not -name release | head").stdout;
    assert_eq!(left, "");
}

struct Desk {
    machine: Machine,
    port: u16,
    local_port: u16,
}

impl Desk {
    /// Installs both parts of a release. Nobody has started the backend.
    fn installs(&self) {
        let release = self.machine.release().display().to_string();
        for (variables, words) in [("true", ""), ("export LINK_SERVICE=none", "--backend")] {
            let ran = self.machine.run(&format!(
                "{variables}; export LINK_LOCAL_PORT={}; LINK_INSTALL_URL=file://{release} \
                 sh {release}/install.sh {words}",
                self.local_port
            ));
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
    }

    fn does(&self, line: &str) -> Ran {
        let ran = self.machine.run(&format!("bash -lc '{line}'"));
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        ran
    }

    fn owner(&self) -> Value {
        let text = self.does("cat ~/.local/state/link-backend/run/owner.json").stdout;
        serde_json::from_str(&text).unwrap()
    }

    fn property(&self, name: &str) -> String {
        self.machine.run(&format!("systemctl --user show -P {name} link-backend")).stdout
    }
}
