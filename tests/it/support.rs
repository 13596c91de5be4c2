//! `link support` says what its archive would hold, and writes nothing that its user does not want.

use std::path::Path;

use link_tests::{device::TestDevice, schema, terminal::Terminal};

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn the_contents_are_listed_first_and_a_no_writes_nothing() {
    let device = TestDevice::unregistered();
    let folder = tempfile::tempdir().unwrap();
    for (answer, written) in [("n", false), ("\r", false), ("y", true)] {
        let line =
            format!("{} support --out support.tar.gz", device.link().get_program().display());
        let mut terminal = Terminal::run(&line, |command| {
            command.current_dir(folder.path());
            for (name, value) in device.link().get_envs() {
                match value {
                    Some(value) => command.env(name, value),
                    None => command.env_remove(name),
                };
            }
        });
        terminal.shows("files to `support.tar.gz`?").await;
        let text = terminal.text();
        let listed =
            text.find("doctor.txt").is_some_and(|at| at < text.find("Write these").unwrap());
        assert!(listed && text.contains("WHAT IT IS"), "{text}");
        terminal.types(answer);
        terminal.ended_with(0).await;
        assert_eq!(
            files(folder.path()),
            if written { vec!["support.tar.gz"] } else { vec![] },
            "{answer:?}"
        );
    }
}

#[test]
fn a_list_is_only_printed_and_a_file_is_never_replaced() {
    let device = TestDevice::unregistered();
    let folder = tempfile::tempdir().unwrap();
    let ran = device
        .link()
        .args(["support", "--list", "--json"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let listed = schema::printed_by("support", &String::from_utf8_lossy(&ran.stdout));
    let contents = listed["contents"].as_array().unwrap();
    let has_doctor = contents.iter().any(|file| file["name"] == "doctor.txt");
    assert!(listed["file"].is_null() && has_doctor, "{listed:#}");
    assert!(files(folder.path()).is_empty());

    // A script has no terminal to answer on.
    let ran = device.link().arg("support").current_dir(folder.path()).output().unwrap();
    assert_eq!(ran.status.code(), Some(2), "{ran:?}");
    assert!(files(folder.path()).is_empty());

    let own = folder.path().join("notes");
    std::fs::write(&own, "mine").unwrap();
    let ran = device.link().args(["support", "--yes", "--out"]).arg(&own).output().unwrap();
    assert_eq!(ran.status.code(), Some(11), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&own).unwrap(), "mine");
}
