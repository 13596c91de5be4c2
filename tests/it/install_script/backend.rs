//! `install.sh --backend`: with and without a device on the same machine, repaired, and uninstalled with and without
//! its data. Booted machines test how the backend is started.

use std::path::{Path, PathBuf};

use super::scratch::{Ran, Scratch, run};

impl Scratch {
    fn backend(&self, arguments: &[&str]) -> Ran {
        let url = self.file_url();
        run(self.script(&["dash"], &url).arg("--backend").args(arguments))
    }

    fn below_home(&self, path: &str) -> PathBuf {
        self.link_home().join(path)
    }
}

#[test]
fn the_backend_is_installed_repaired_and_taken_away_and_its_data_stays_until_it_is_purged() {
    let scratch = Scratch::new();
    let before = scratch.tree();
    let said = scratch.backend(&["--dry-run"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stdout.contains("would write") && !said.stdout.contains("unit"), "{said:?}");
    assert_eq!(scratch.tree(), before, "a dry run leaves nothing");

    let said = scratch.backend(&[]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let text = format!("{}{}", said.stdout, said.stderr);
    assert!(text.contains("start it with: ") && text.contains("serve --config"), "{text}");
    let command = scratch.below_home("bin/link-backend");
    let config = scratch.below_home("backend-config/backend.toml");
    let checked = run(std::process::Command::new(&command)
        .args(["config", "check", "--config"])
        .arg(&config)
        .env_clear());
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(!scratch.below_home("bin/link").exists(), "a device is another installation");
    let share = scratch.below_home("backend/share");
    let (page, bash) =
        ("man/man1/link-backend-serve.1", "bash-completion/completions/link-backend");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (installed, committed) in
        [(page, "man/link-backend-serve.1"), (bash, "completions/link-backend.bash")]
    {
        let committed = std::fs::read(repository.join(committed)).unwrap();
        assert_eq!(std::fs::read(share.join(installed)).unwrap(), committed, "{installed}");
    }

    std::fs::remove_file(share.join(page)).unwrap();
    let program = std::fs::canonicalize(&command).unwrap();
    std::fs::write(&program, "damaged").unwrap();
    let said = scratch.backend(&[]);
    let text = format!("{}{}", said.stdout, said.stderr);
    assert!(said.code == Some(0) && text.contains("repaired the backend"), "{said:?}");
    assert!(share.join(page).is_file(), "the page is back");
    let said = scratch.backend(&[]);
    let text = format!("{}{}", said.stdout, said.stderr);
    assert!(said.code == Some(0) && text.contains("intact"), "{said:?}");

    let data = scratch.below_home("backend-data");
    std::fs::write(data.join("link.db"), "rows").unwrap();
    std::fs::write(&config, "listen = \"127.0.0.1:8001\"\n").unwrap();
    let said = scratch.backend(&["--uninstall"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!command.exists() && !scratch.below_home("backend").exists());
    assert!(data.join("link.db").is_file() && config.is_file(), "what is the owner's stays");

    assert_eq!(scratch.backend(&[]).code, Some(0));
    assert!(std::fs::read_to_string(&config).unwrap().contains("8001"), "an edit is kept");
    let said = scratch.backend(&["--uninstall", "--purge"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let left: Vec<_> =
        scratch.tree().into_keys().filter(|path| !before.contains_key(path)).collect();
    assert_eq!(left, [scratch.link_home()], "empty, and there before the last installation");
}
