//! The line that installed Link also repairs everything that is missing or altered.

use link_tests::booted::Flavour;
use serde_json::Value;

use super::{ALICE, Device, LINGER};

const DATA: &str = "/home/alice/.local/share/link";

// Holds: S4.4-8e
#[tokio::test]
async fn what_is_missing_or_altered_is_put_back() {
    let Some(device) = Device::installed(Flavour::Systemd).await else { return };
    let id = device.id().await;
    let receipt = device.machine.root(&format!("cat {DATA}/receipt.json")).await.stdout;
    let receipt: Value = serde_json::from_str(&receipt).unwrap();

    let installed = &receipt["versions"][0];
    let version = installed["version"].as_str().unwrap();
    let guard = format!("{DATA}/guard/link-guard");
    let files = paths(&installed["files"], "/path");
    let (programs, others): (Vec<_>, Vec<_>) =
        files.iter().cloned().partition(|file| !file.ends_with("/plugins.tar"));
    assert_eq!((programs.len(), others.len()), (3, 1), "{files:?}");
    for file in files.iter().map(String::as_str).chain([guard.as_str()]) {
        device.puts_back(file, "rm FILE").await;
        let alter = "cp -p FILE FILE.new && echo more >> FILE.new && mv FILE.new FILE";
        device.puts_back(file, alter).await;
    }
    device.puts_back(&format!("{DATA}/versions/{version}/ok"), "rm FILE").await;

    let pointers = paths(&receipt["pointers"], "");
    assert_eq!(pointers.len(), 3);
    for pointer in &pointers {
        device.puts_back(pointer, "rm FILE").await;
    }
    device.puts_back(&format!("{DATA}/current"), "ln -sfn /nowhere FILE").await;
    for command in ["/home/alice/.local/bin/link", "/home/alice/.local/bin/linkctl"] {
        assert!(pointers.iter().any(|pointer| pointer == command), "{pointers:?}");
        device.puts_back(command, "ln -sfn /bin/true FILE").await;
        device.leaves_another_program(command).await;
    }
    for program in programs.iter().map(String::as_str).chain([guard.as_str()]) {
        device.puts_back(program, "chmod 644 FILE").await;
    }
    let shared = paths(&receipt["files"], "/path");
    assert!(shared.len() > 8, "{shared:?}");
    for page in [&shared[0], &shared[shared.len() - 1]] {
        device.puts_back(page, "rm FILE").await;
        device.puts_back(page, "echo scribble >> FILE").await;
    }

    let unit = receipt["unit"]["path"].as_str().unwrap();
    device.puts_back(unit, "rm FILE").await;
    device.puts_back(unit, ": > FILE").await;
    let wants = unit.replace("link.service", "default.target.wants/link.service");
    device.puts_back(&wants, "rm FILE").await;
    device.keeps_an_edited_unit(unit).await;

    let path_files = paths(&receipt["path_files"], "/path");
    assert_eq!(path_files.len(), 2, "{path_files:?}");
    for file in &path_files {
        device.puts_back(file, "sed -i '/^# >>> link/,/^# <<< link/d' FILE").await;
        device.puts_back(file, "sed -i '/^# >>> link/,/^# <<< link/s/bin/wrong/' FILE").await;
        device.puts_its_block_into_an_empty_file(file).await;
    }

    assert_eq!(receipt["linger"], ALICE);
    assert_eq!(device.machine.root("loginctl disable-linger alice").await.code, Some(0));
    let ran = device.install_again().await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(device.machine.root(&format!("test -e {LINGER}")).await.code, Some(0));

    assert_eq!(device.id().await, id);
    assert_eq!(device.backend.owner.devices().await.unwrap().len(), 1);
    device.uninstalls().await;
}

impl Device {
    /// Damages a file, and checks that a reinstallation restores it.
    async fn puts_back(&self, file: &str, damage: &str) {
        let was = self.fingerprint(file).await;
        let ran = self.machine.user(ALICE, &damage.replace("FILE", file)).await;
        assert_eq!(ran.code, Some(0), "{file}: {ran:?}");
        assert_ne!(self.fingerprint(file).await, was, "{file}");
        let ran = self.install_again().await;
        assert_eq!(ran.code, Some(0), "{file}, {damage}: {ran:?}");
        assert_eq!(self.fingerprint(file).await, was, "{file}, {damage}: {ran:?}");
        self.is_healthy().await;
    }

    /// A file in the place of the command may be another program, and is kept.
    async fn leaves_another_program(&self, command: &str) {
        let away = format!("mv {command} /tmp/kept && cp /bin/true {command}");
        assert_eq!(self.machine.user(ALICE, &away).await.code, Some(0));
        let ran = self.install_again().await;
        assert_eq!(ran.code, Some(11), "{ran:?}");
        assert!(ran.stderr.contains(&format!("`{command}` is another program")), "{ran:?}");
        let back = format!("cmp -s {command} /bin/true && mv /tmp/kept {command}");
        assert_eq!(self.machine.user(ALICE, &back).await.code, Some(0));
        self.is_healthy().await;
    }

    async fn keeps_an_edited_unit(&self, unit: &str) {
        let edit = format!("sed -i 's/^RestartSec=2$/RestartSec=1\\nNice=5/' {unit}");
        assert_eq!(self.machine.user(ALICE, &edit).await.code, Some(0));
        let edited = self.fingerprint(unit).await;
        let ran = self.install_again().await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let difference = "- RestartSec=1\n- Nice=5\n+ RestartSec=2";
        assert!(ran.stderr.contains(difference), "{ran:?}");
        assert_eq!(self.fingerprint(unit).await, edited);
        let ran = self.machine.login(ALICE, "systemctl --user show -P Nice link").await;
        assert_eq!(ran.stdout, "5", "{ran:?}");
        self.is_healthy().await;
        assert_eq!(self.machine.user(ALICE, &format!("rm {unit}")).await.code, Some(0));
        assert_eq!(self.install_again().await.code, Some(0));
        assert_ne!(self.fingerprint(unit).await, edited);
    }

    /// Moves a start file away. Link writes only its block again, because it cannot know the rest.
    async fn puts_its_block_into_an_empty_file(&self, file: &str) {
        let away = format!("mv {file} /tmp/kept");
        assert_eq!(self.machine.user(ALICE, &away).await.code, Some(0));
        let ran = self.install_again().await;
        assert_eq!(ran.code, Some(0), "{file}: {ran:?}");
        let back = format!("grep -c '>>> link >>>' {file} 2>/dev/null; mv /tmp/kept {file}");
        let ran = self.machine.user(ALICE, &back).await;
        // `.bashrc` is edited only if it exists: `.profile` reaches every login.
        let wanted = if file.ends_with(".profile") { "1" } else { "" };
        assert_eq!(ran.stdout, wanted, "{file}: {ran:?}");
    }

    async fn fingerprint(&self, file: &str) -> String {
        let look = format!(
            "stat -c '%A %U' {file}; readlink {file}; [ ! -f {file} ] || sha256sum < {file}"
        );
        self.machine.root(&look).await.stdout
    }
}

/// The texts at `pointer` in each element of the list.
fn paths(list: &Value, pointer: &str) -> Vec<String> {
    let path = |element: &Value| element.pointer(pointer).unwrap().as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(path).collect()
}
