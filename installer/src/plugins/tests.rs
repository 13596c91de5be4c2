//! Tests how plugins are found, installed and removed, and how a release holds them.

use std::os::unix::fs::symlink;

use super::*;

const PROJECT: &str = include_str!("../../../plugins/language_model/plugin.toml");
const ADAPTER: &str = include_str!("../../../plugins/language_model/adapter.toml");

/// A home with a folder for plugins that a person may install.
struct Home {
    dir: tempfile::TempDir,
    roots: Roots,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let roots = Roots::below(dir.path());
        Self { dir, roots }
    }

    /// Makes a folder of a plugin beside the home.
    fn folder(&self, name: &str, id: &str) -> PathBuf {
        let folder = self.dir.path().join("from").join(name);
        write(&folder, id);
        folder
    }

    fn ids(&self) -> Vec<(String, bool)> {
        let plugins = Plugins::find(&self.roots);
        let is_installed = |plugin: &Plugin| matches!(plugin.place, Place::Installed(_));
        plugins.usable().map(|plugin| (plugin.manifest.id.clone(), is_installed(plugin))).collect()
    }
}

fn write(folder: &Path, id: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let project = PROJECT.replace("language_model", id);
    std::fs::write(folder.join("plugin.toml"), project).unwrap();
    std::fs::write(folder.join("adapter.toml"), ADAPTER).unwrap();
    std::fs::write(folder.join("README.md"), "# x\n").unwrap();
}

// Holds: S9-9a
#[test]
fn plugins_are_found_through_their_entry_point() {
    let home = Home::new();
    let shipped = home.ids();
    assert!(shipped.contains(&("language_model".to_owned(), false)), "{shipped:?}");
    write(&home.roots.plugins().join("mine"), "echo");
    // Without the entry point, the folder is no plugin.
    let other = home.roots.plugins().join("other");
    write(&other, "other");
    let project = std::fs::read_to_string(other.join("plugin.toml")).unwrap();
    std::fs::write(other.join("plugin.toml"), project.replace("link.plugins", "x.plugins"))
        .unwrap();
    let found = home.ids();
    assert!(found.contains(&("echo".to_owned(), true)), "{found:?}");
    assert!(!found.iter().any(|(id, _)| id == "other"), "{found:?}");
    let unusable = Plugins::find(&home.roots).unusable;
    assert_eq!(unusable.len(), 1);
    assert!(unusable[0].why.contains("entry points `link.plugins`"), "{unusable:?}");
}

#[test]
fn an_id_that_two_folders_claim_is_refused_and_the_others_go_on() {
    let home = Home::new();
    for (folder, id) in [("one", "echo"), ("two", "echo"), ("three", "other")] {
        write(&home.roots.plugins().join(folder), id);
    }
    let plugins = Plugins::find(&home.roots);
    assert!(plugins.by_id("echo").is_none() && plugins.by_id("other").is_some());
    assert_eq!(plugins.unusable.len(), 2);
    assert!(plugins.unusable.iter().all(|one| one.why.contains("also claims the id `echo`")));
}

#[test]
fn a_plugin_is_installed_replaces_the_shipped_one_and_is_removed() {
    let home = Home::new();
    let folder = home.folder("mine", "language_model");
    assert_eq!(Plugins::install(&home.roots, &folder).unwrap().id, "language_model");
    Plugins::install(&home.roots, &folder).unwrap();
    assert!(home.ids().contains(&("language_model".to_owned(), true)));
    let again = Plugins::remove(&home.roots, "language_model");
    assert!(again.is_ok() && home.ids().contains(&("language_model".to_owned(), false)));
    let shipped = Plugins::remove(&home.roots, "language_model").unwrap_err();
    assert!(matches!(shipped, ChangeError::Shipped(_)), "{shipped}");
    let unknown = Plugins::remove(&home.roots, "echo").unwrap_err();
    assert!(matches!(unknown, ChangeError::Unknown(_)), "{unknown}");
    let left: Vec<_> = std::fs::read_dir(home.roots.plugins()).unwrap().flatten().collect();
    assert!(left.len() == 1 && left[0].file_name() == ".lock", "{left:?}");
}

#[test]
fn a_replacement_that_was_interrupted_leaves_the_plugin_before_in_use() {
    let home = Home::new();
    let folder = home.folder("mine", "echo");
    Plugins::install(&home.roots, &folder).unwrap();
    let (place, old) = (home.roots.plugins().join("echo"), home.roots.plugins().join(".old"));
    // Killed between the two renames.
    std::fs::rename(&place, &old).unwrap();
    assert!(home.ids().contains(&("echo".to_owned(), true)));
    Plugins::install(&home.roots, &folder).unwrap();
    assert!(place.is_dir() && !old.exists());
    // Killed before the folder of the plugin before was deleted.
    write(&old, "echo");
    assert!(home.ids().contains(&("echo".to_owned(), true)));
    std::fs::rename(&place, old.with_file_name("aside")).unwrap();
    std::fs::remove_dir_all(old.with_file_name("aside")).unwrap();
    Plugins::install(&home.roots, &home.folder("other", "other")).unwrap();
    assert!(place.is_dir() && !old.exists());
}

#[test]
fn what_leads_out_of_the_folder_is_refused() {
    let home = Home::new();
    let folder = home.folder("mine", "echo");
    let secret = home.dir.path().join("secret");
    std::fs::write(&secret, ADAPTER).unwrap();
    std::fs::remove_file(folder.join("adapter.toml")).unwrap();
    symlink(&secret, folder.join("adapter.toml")).unwrap();
    assert!(matches!(read(&folder).unwrap_err(), PluginError::Outside(_)));

    let other = home.folder("other", "other");
    symlink("/etc", other.join("etc")).unwrap();
    let refused = Plugins::install(&home.roots, &other).unwrap_err();
    assert!(matches!(refused, ChangeError::Files(FilesError::NotPlain(_))), "{refused}");
    let nothing = Plugins::install(&home.roots, home.dir.path()).unwrap_err();
    assert!(nothing.to_string().contains("has no `plugin.toml`"), "{nothing}");
    assert!(home.ids().iter().all(|(_, installed)| !installed));
}

#[test]
fn the_plugins_of_a_release_are_one_file_that_is_the_same_each_time() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let packed = package(&checkout).unwrap();
    assert_eq!(packed, package(&checkout).unwrap());
    let read = shipped::in_package(packed.as_slice(), Path::new("plugins.tar"));
    let ids: Vec<_> = read.into_iter().map(|(_, manifest)| manifest.unwrap().id).collect();
    assert!(ids.contains(&"language_model".to_owned()), "{ids:?}");
}

#[test]
fn a_damaged_file_of_a_release_is_refused() {
    let link = |name: &str, kind: tar::EntryType| {
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_size(0);
        header.set_mode(0o644);
        header.as_ustar_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        archive.append(&header, io::empty()).unwrap();
        archive.into_inner().unwrap()
    };
    for (bytes, why) in [
        (b"no archive".repeat(100), "it cannot be read"),
        (link("a/plugin.toml", tar::EntryType::Symlink), "not a regular file"),
        (link("../plugin.toml", tar::EntryType::Regular), "not a regular file"),
        (link("/etc/x/plugin.toml", tar::EntryType::Regular), "not a regular file"),
    ] {
        let read = shipped::in_package(bytes.as_slice(), Path::new("plugins.tar"));
        let error = chain(read[0].1.as_ref().unwrap_err());
        assert!(error.contains(why), "{why}: {error}");
    }
}
