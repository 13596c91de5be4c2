//! The rules for an engine: what it may reach is its build, its model, its own folder, and where it listens.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use link_platform::{
    contain::{self, Access, Files, Rules, Support},
    memory,
};
use link_protocol::{config::ContainmentConfig, local_api::Containment};

/// The variables with which programs find a folder for temporary files and caches.
const FOLDERS: [&str; 3] = ["TMPDIR", "XDG_CACHE_HOME", "CUDA_CACHE_PATH"];

/// The memory of an engine besides its model: the context, and what it computes with.
const BESIDES_MODEL: u64 = 8 << 30;

/// An engine that is about to be started.
#[derive(Clone, Copy, Debug)]
pub struct Starting<'a> {
    pub executable: &'a Path,
    pub model: &'a Path,
    /// The size of the model in bytes.
    pub model_bytes: u64,
    /// Holds its socket and its secret.
    pub folder: &'a Path,
    /// Holds its temporary files.
    pub work: &'a Path,
    /// Its port, unless it listens on a socket in `folder`.
    pub port: Option<u16>,
}

impl Starting<'_> {
    /// Returns the rules for this engine. `given` is what the owner of the device has configured for its plugin.
    #[must_use]
    pub fn rules(&self, given: Option<&ContainmentConfig>) -> Rules {
        let default = ContainmentConfig::default();
        let given = given.unwrap_or(&default);
        let paths = |paths: &[String]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let build = self.executable.parent().unwrap_or(self.executable);
        let mut read = paths(&given.read);
        read.extend([build.to_owned(), self.model.to_owned()]);
        let mut write = vec![self.work.to_owned(), self.folder.to_owned()];
        write.extend(paths(&given.write));
        let files = (!given.all_files).then_some(Files { read, write });
        let access =
            Access { files, connects: given.connect, port: self.port, ..Access::everything() };
        let memory = given.memory_mib.map(|mib| mib << 20);
        let memory = memory.unwrap_or_else(|| limit(self.model_bytes, memory::total_bytes()));
        Rules { access, memory: Some(memory), ..Rules::default() }
    }
}

/// Returns the memory that an engine may use on a machine that has `total`. Some engines copy their model once.
fn limit(model: u64, total: Option<u64>) -> u64 {
    let enough = model.saturating_mul(2).saturating_add(BESIDES_MODEL);
    total.map_or(enough, |total| enough.min(total / 10 * 9))
}

/// Returns what this system refuses to engines, and says in the log what it does not.
#[must_use]
pub fn of_this_system() -> Containment {
    let Support { supervised, files, connections, ports, signals } = contain::support();
    let containment = Containment { supervised, files, connections, ports, signals };
    if let Some(missing) = missing(containment) {
        tracing::warn!(
            category = "security",
            "this system does not keep engines from {missing}: serve only with plugins that you trust"
        );
    }
    containment
}

/// Returns what an engine can do on a system although it should not, as a list for a person. None if there is nothing.
#[must_use]
pub fn missing(containment: Containment) -> Option<String> {
    let Containment { supervised, files, connections, ports, signals } = containment;
    let all = [
        (supervised, "leaving processes behind or taking too much memory"),
        (files, "reaching the files of this user"),
        (connections, "opening connections"),
        (ports, "listening on other ports"),
        (signals, "ending other programs of this user"),
    ];
    let missing: Vec<_> = all.iter().filter(|(has, _)| !has).map(|(_, what)| *what).collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

/// Returns the variables that lead to `work`.
pub fn environment(work: &Path) -> impl Iterator<Item = (OsString, OsString)> {
    FOLDERS.into_iter().map(|name| (name.into(), work.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn what_a_system_does_not_refuse_is_named() {
        let all = Containment {
            supervised: true,
            files: true,
            connections: true,
            ports: true,
            signals: true,
        };
        assert_eq!(missing(all), None);
        // Debian 12.
        let some = Containment { ports: false, signals: false, ..all };
        let said = "listening on other ports, ending other programs of this user";
        assert_eq!(missing(some).as_deref(), Some(said));
    }

    #[test]
    fn an_engine_has_room_for_its_model_and_leaves_some_to_the_machine() {
        assert_eq!(limit(4 * GIB, Some(64 * GIB)), 16 * GIB);
        assert_eq!(limit(40 * GIB, Some(60 * GIB)), 54 * GIB);
        assert_eq!(limit(GIB, None), 10 * GIB);
        assert_eq!(limit(u64::MAX, Some(10 * GIB)), 9 * GIB);
    }

    #[test]
    fn an_engine_reaches_what_it_needs_and_what_the_owner_adds() {
        let starting = Starting {
            executable: Path::new("/engines/echo/1/echo"),
            model: Path::new("/models/a"),
            model_bytes: 1,
            folder: Path::new("/run/pip"),
            work: Path::new("/run/pip/tmp"),
            port: Some(8080),
        };
        let rules = starting.rules(None);
        let files = Files {
            read: vec!["/engines/echo/1".into(), "/models/a".into()],
            write: vec!["/run/pip/tmp".into(), "/run/pip".into()],
        };
        assert_eq!(rules.access, Access { port: Some(8080), ..Access::only(files.clone()) });
        let given = ContainmentConfig {
            read: vec!["/opt/a".into()],
            write: vec!["/cache".into()],
            connect: true,
            memory_mib: Some(100),
            ..ContainmentConfig::default()
        };
        let rules = starting.rules(Some(&given));
        let wider = rules.access.files.unwrap();
        assert_eq!(wider.read[0], Path::new("/opt/a"));
        assert_eq!(wider.read[1..], files.read);
        assert_eq!(wider.write, [&files.write[..], &["/cache".into()]].concat());
        assert_eq!((rules.access.connects, rules.memory), (true, Some(100 << 20)));
        let given = ContainmentConfig { all_files: true, ..given };
        assert_eq!(starting.rules(Some(&given)).access.files, None);
    }
}
