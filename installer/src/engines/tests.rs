//! Builds are installed, used and removed. An archive that is no build changes nothing.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use flate2::{Compression, write::GzEncoder};
use sha2::{Digest as _, Sha256};

use super::*;

#[test]
fn a_build_is_installed_from_a_folder_or_an_archive_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let engines = Engines::of_language_models(&dir.path().join("engines"));
    assert_eq!(engines.list().unwrap(), []);
    let folder = build(dir.path(), "version: 8808 (abc)");
    assert_eq!(engines.install(&folder, None, None).unwrap(), "b8808");
    let library = engines.folder.join("b8808/libx.so");
    assert_eq!(std::fs::read_to_string(library).unwrap(), "a library", "a link to a neighbour");
    assert!(engines.folder.join("b8808/lib/liby.so").is_file());

    let archive = dir.path().join("llama.tar.gz");
    pack(&build(dir.path(), "version: 9789 (def)"), &archive);
    let sum = hash(&archive);
    assert_eq!(engines.install(&archive, Some(&sum), None).unwrap(), "b9789");
    assert_eq!(names(&engines), ["b8808", "b9789 current"]);
    let all = in_use(&dir.path().join("engines"));
    assert_eq!(
        (all.len(), all[0].engine.as_str(), all[0].build.as_str()),
        (1, LLAMA_SERVER, "b9789")
    );
    assert!(all[0].why.as_ref().unwrap().starts_with("installed by hand from"));

    engines.switch("b8808").unwrap();
    assert_eq!(names(&engines), ["b8808 current", "b9789"]);
    assert!(matches!(engines.switch("b1"), Err(EngineError::Unknown(_))));
    std::fs::write(engines.folder.join("b9789/llama-server"), "#!/bin/sh\nexit 1\n").unwrap();
    assert!(matches!(engines.switch("b9789"), Err(EngineError::DoesNotRun(_))));
    assert_eq!(names(&engines), ["b8808 current", "b9789"]);

    engines.remove("b9789").unwrap();
    assert_eq!(names(&engines), ["b8808 current"]);
    assert!(matches!(engines.remove("b1"), Err(EngineError::Unknown(_))));
    engines.remove("b8808").unwrap();
    assert_eq!(names(&engines), [""; 0]);
    assert_eq!(engines.current().unwrap(), None);
    assert_eq!(in_use(&dir.path().join("engines")), []);
}

#[test]
fn what_is_no_build_leaves_the_one_before_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let engines = Engines::of_language_models(&dir.path().join("engines"));
    engines.install(&build(dir.path(), "version: 8808 (abc)"), None, None).unwrap();
    let refused = |from: &Path, sha256: Option<&str>, name: Option<&str>| {
        let error = engines.install(from, sha256, name).unwrap_err().to_string();
        assert_eq!(names(&engines), ["b8808 current"], "{error}");
        assert!(!engines.folder.join(STAGED).exists());
        error
    };
    let empty = tempfile::tempdir().unwrap();
    assert!(refused(empty.path(), None, None).contains("holds no `llama-server`"));
    for said in ["hello", "version: 1 (571d0d5)"] {
        let nameless = build(dir.path(), said);
        assert!(refused(&nameless, None, None).contains("does not say which build"));
    }
    let good = build(dir.path(), "version: 9789 (def)");
    assert!(refused(&good, None, Some("../b1")).contains("is not the name of a build"));
    assert!(refused(&good, None, Some("current")).contains("is not the name of a build"));
    std::fs::write(good.join("llama-server"), "#!/bin/sh\necho no such library >&2\nexit 127")
        .unwrap();
    let error = refused(&good, None, None);
    assert!(
        error.contains("does not run on this machine: it ended with 127: no such library"),
        "{error}"
    );

    let archive = dir.path().join("llama.tar.gz");
    pack(&build(dir.path(), "version: 9789 (def)"), &archive);
    assert!(refused(&archive, Some(&"0".repeat(64)), None).contains("its SHA-256 is"));
    let text = dir.path().join("text");
    std::fs::write(&text, "no archive").unwrap();
    assert!(refused(&text, None, None).contains("failed to unpack"));
    for (name, target) in [("llama-server", "/bin/sh"), ("lib.so", "../../lib.so")] {
        let mut made = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        made.append_link(&mut header, name, target).unwrap();
        std::fs::write(&archive, made.into_inner().unwrap().finish().unwrap()).unwrap();
        assert!(refused(&archive, None, None).contains("not a regular file of an engine"));
    }
}

/// Creates a folder with an engine that prints `version`, and a library with a link to it.
fn build(dir: &Path, version: &str) -> PathBuf {
    let folder = tempfile::tempdir_in(dir).unwrap().keep();
    let program = folder.join(LLAMA_SERVER);
    std::fs::write(&program, format!("#!/bin/sh\necho '{version}' >&2\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(folder.join("libx.so.1"), "a library").unwrap();
    symlink("libx.so.1", folder.join("libx.so")).unwrap();
    std::fs::create_dir(folder.join("lib")).unwrap();
    std::fs::write(folder.join("lib/liby.so"), "a library in a folder").unwrap();
    folder
}

/// Packs a build as its publishers do: within a top folder, with its links.
fn pack(folder: &Path, archive: &Path) {
    let mut made = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    made.follow_symlinks(false);
    made.append_dir_all("llama-b9789/bin", folder).unwrap();
    std::fs::write(archive, made.into_inner().unwrap().finish().unwrap()).unwrap();
}

fn hash(path: &Path) -> String {
    let digest = Sha256::digest(std::fs::read(path).unwrap());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn names(engines: &Engines) -> Vec<String> {
    let builds = engines.list().unwrap().into_iter();
    builds.map(|build| build.name + if build.current { " current" } else { "" }).collect()
}
