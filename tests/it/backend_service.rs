//! A real `systemd --user` starts a backend that `install.sh --backend` has installed, keeps it running, and forgets it
//! after the uninstallation.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
};

use link_tests::{
    machine::{Machine, Ran},
    tree,
    wait::until,
};

const CONFIG: &str = ".config/link-backend/backend.toml";
const DATA: &str = ".local/state/link-backend";

struct Service {
    machine: Machine,
}

impl Service {
    fn script(&self, arguments: &str) -> Ran {
        let release = self.machine.home().parent().unwrap().join("release");
        let release = release.display();
        self.machine.run(&format!(
            "LINK_INSTALL_URL=file://{release} sh {release}/install.sh --backend {arguments}"
        ))
    }

    fn property(&self, name: &str) -> String {
        self.machine.run(&format!("systemctl --user show -P {name} link-backend.service")).stdout
    }

    /// The status of `/readyz` at the address in the running backend's file.
    fn ready(&self) -> Option<u16> {
        let file = self.machine.home().join(DATA).join("address");
        let address = std::fs::read_to_string(file).ok()?;
        let mut stream = TcpStream::connect(address.trim()).ok()?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        answer.split(' ').nth(1)?.parse().ok()
    }

    fn traces(&self) -> Vec<PathBuf> {
        let files = tree::of(&[&self.machine.home()]).into_keys();
        files.filter(|path| path.to_string_lossy().contains("link-backend")).collect()
    }
}

#[tokio::test]
async fn machine_systemd_starts_a_backend_keeps_it_running_and_forgets_it() {
    let machine = match Machine::boot().await {
        Ok(machine) => machine,
        Err(why) => {
            eprintln!("skipped: {why}");
            return;
        }
    };
    let _release = machine.release();
    let home = machine.home();
    let data = home.join(DATA);
    assert_eq!(machine.run("mkdir -p ~/.config/link-backend").code, Some(0));
    let text = format!(
        "data = {data:?}\nlisten = \"127.0.0.1:0\"\naddress_file = \"{}/address\"\n",
        data.display()
    );
    machine.file(CONFIG, &text);
    let service = Service { machine };

    let ran = service.script("");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("the backend is ready"), "{ran:?}");
    let token = data.join("setup-token");
    assert!(token.is_file() && ran.stderr.contains(&token.display().to_string()), "{ran:?}");
    assert_eq!((service.property("ActiveState").as_str(), service.ready()), ("active", Some(200)));
    assert_eq!(service.machine.run("systemctl --user is-enabled link-backend").stdout, "enabled");

    let pid = service.property("MainPID");
    let ran = service.script("");
    assert!(ran.code == Some(0) && ran.stderr.contains("intact"), "{ran:?}");
    assert_eq!(service.property("MainPID"), pid, "what runs well is left alone");
    assert_eq!(service.machine.run(&format!("kill -KILL {pid}")).code, Some(0));
    until("systemd to start it again", || async {
        (service.property("MainPID") != pid && service.ready() == Some(200)).then_some(())
    })
    .await;

    let ran = service.script("--uninstall");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(service.property("LoadState"), "not-found");
    assert!(data.join("link.db").is_file() && home.join(CONFIG).is_file(), "they are the owner's");
    assert_eq!(service.ready(), None);

    assert_eq!(service.script("").code, Some(0));
    let ran = service.script("--uninstall --purge");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(service.traces(), Vec::<PathBuf>::new());
}
