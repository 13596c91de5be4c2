//! A backend that root installs for the whole machine: with its own user and a hardened unit, through kills, a reboot,
//! a backup and a restore, until it is uninstalled without a trace.

use std::{collections::BTreeSet, net::SocketAddr};

use link_tests::{
    booted::{Booted, Flavour, RELEASES},
    machine::Ran,
    wait::until,
};

const DATA: &str = "/var/lib/link-backend";
const PASSWORD: &str = "correct horse battery";

struct Server {
    machine: Booted,
}

impl Server {
    async fn script(&self, words: &str) -> Ran {
        let line = format!(
            "curl -fsSL {RELEASES}/install.sh | LINK_INSTALL_URL={RELEASES} sh -s -- --backend {words}"
        );
        self.machine.root(&line).await
    }

    async fn does(&self, line: &str) -> String {
        let ran = self.machine.root(line).await;
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        ran.stdout
    }

    /// Runs a chore as the guide says: as the user of the service.
    async fn chore(&self, words: &str) -> Ran {
        self.machine.root(&format!("cd /; runuser -u link-backend -- link-backend {words}")).await
    }

    async fn property(&self, name: &str) -> String {
        self.does(&format!("systemctl show -P {name} link-backend")).await
    }

    async fn status(&self, path: &str) -> String {
        let line = format!("curl -s -o /dev/null -w '%{{http_code}}' http://127.0.0.1:8000{path}");
        self.machine.root(&line).await.stdout
    }

    async fn is_ready(&self) {
        until("the backend to be ready", || async {
            (self.status("/readyz").await == "200").then_some(())
        })
        .await;
        assert_eq!(self.status("/healthz").await, "200");
    }

    async fn create_account(&self, email: &str) {
        let create = format!(
            "cd /; echo '{PASSWORD}' | runuser -u link-backend -- link-backend create-account {email}"
        );
        self.does(&create).await;
    }

    async fn log_in(&self, email: &str) -> String {
        let body = format!("{{\"email\":\"{email}\",\"password\":\"{PASSWORD}\"}}");
        self.does(&format!(
            "curl -s -o /dev/null -w '%{{http_code}}' -H 'content-type: application/json' \
             -d '{body}' http://127.0.0.1:8000/api/v1/auth/login"
        ))
        .await
    }

    /// All files, users and groups of the machine, except files that its own services write.
    async fn traces(&self) -> BTreeSet<String> {
        let mut traces = BTreeSet::new();
        for look in [
            "find /etc /usr /opt /srv /root /home /var -xdev -printf '%M %u %p\\n' \
             | grep -Ev ' (/var/(log|cache|tmp)|/var/lib/systemd|/etc/.*-$)'",
            "find /tmp -mindepth 1 -maxdepth 1 -not -name 'systemd-private-*'",
            "cut -d: -f1 /etc/passwd /etc/group",
            "systemctl list-unit-files --no-legend | grep link",
        ] {
            traces.extend(self.machine.root(look).await.stdout.lines().map(str::to_owned));
        }
        traces
    }
}

#[tokio::test]
async fn a_backend_of_the_machine_outlives_kills_and_reboots_and_leaves_nothing() {
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 9));
    let machine = match Booted::boot(Flavour::Systemd, nowhere).await {
        Ok(machine) => machine,
        Err(why) => {
            eprintln!("skipped: {why}");
            return;
        }
    };
    let mut server = Server { machine };
    let before = server.traces().await;

    let ran = server.script("").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("the backend is ready"), "{ran:?}");
    assert!(ran.stderr.contains(&format!("{DATA}/setup-token")), "{ran:?}");
    server.is_ready().await;
    assert_eq!(server.does("systemctl is-enabled link-backend").await, "enabled");
    let pid = server.property("MainPID").await;
    assert_eq!(server.does(&format!("ps -o user= -p {pid}")).await, "link-backend");
    assert_eq!(server.does(&format!("stat -c '%U %a' {DATA}")).await, "link-backend 700");
    let nobody_else = server.machine.user("alice", &format!("ls {DATA}")).await;
    assert_ne!(nobody_else.code, Some(0), "{nobody_else:?}");
    server.create_account("ada@example.org").await;
    assert_eq!(server.log_in("ada@example.org").await, "200");
    let looked = server.chore("doctor").await;
    assert_eq!(looked.code, Some(0), "{looked:?}");

    server.does(&format!("kill -9 {pid}")).await;
    until("another process", || async {
        let now = server.property("MainPID").await;
        (now != pid && now != "0").then_some(())
    })
    .await;
    server.is_ready().await;
    server.machine.reboot().await;
    server.is_ready().await;
    assert_eq!(server.log_in("ada@example.org").await, "200");

    // Backup and restore, as the guide describes them.
    server.does("install -d -o link-backend -m 0700 /srv/backup").await;
    let made = server.chore("backup /srv/backup/link.tar").await;
    assert_eq!(made.code, Some(0), "{made:?}");
    server.create_account("later@example.org").await;
    assert_eq!(server.log_in("later@example.org").await, "200");
    server
        .does(
            "link-backend restore /srv/backup/link.tar --data /tmp/tried && \
             LINK_BACKEND_LISTEN=127.0.0.1:0 link-backend doctor --data /tmp/tried && rm -r /tmp/tried",
        )
        .await;
    server
        .does(
            "systemctl stop link-backend && link-backend restore /srv/backup/link.tar --force && \
             systemctl start link-backend",
        )
        .await;
    server.is_ready().await;
    assert_eq!(server.log_in("ada@example.org").await, "200");
    assert_eq!(server.log_in("later@example.org").await, "401");
    assert_eq!(server.does(&format!("stat -c '%U %a' {DATA}")).await, "link-backend 700");

    // An uninstallation without its data deletes no data. With its data, it leaves nothing.
    let ran = server.script("--uninstall").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(server.property("LoadState").await, "not-found");
    assert_ne!(server.status("/healthz").await, "200");
    assert_eq!(server.script("").await.code, Some(0));
    assert_eq!(server.log_in("ada@example.org").await, "200");
    let ran = server.script("--uninstall --purge").await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // The data from before the restore, and the archive, belong to the operator.
    server.does(&format!("rm -r /srv/backup {DATA}.*")).await;
    let after = server.traces().await;
    let new: Vec<_> = after.difference(&before).collect();
    let gone: Vec<_> = before.difference(&after).collect();
    assert!(new.is_empty() && gone.is_empty(), "new: {new:#?}\ngone: {gone:#?}");
}
