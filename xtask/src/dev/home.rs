//! The home of the checkout's agent: one folder that contains all its files.
//!
//! A folder is a home if it contains the mark, which is written only to a new or empty folder.
//! Nothing is deleted in a folder without the mark, or through a link that leads out of the folder.

#![expect(clippy::disallowed_methods, reason = "IO shell: makes and deletes the home")]

use std::{
    io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use link_platform::{fs, paths::Roots};

use super::trouble::Trouble;

/// The file that marks a folder as a home.
const MARK: &str = ".link-checkout-home";

/// How much to delete.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Extent {
    /// The identity, the state and the login.
    State,
    /// The whole home, including models, engines and builds.
    All,
}

/// A home, which need not exist yet.
#[derive(Debug)]
pub(super) struct Home {
    path: PathBuf,
}

impl Home {
    /// Returns the home at the absolute `path`.
    pub(super) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The folders inside the home.
    pub(super) fn roots(&self) -> Roots {
        Roots::below(&self.path)
    }

    /// Creates the home if it is missing.
    ///
    /// # Errors
    /// If the folder contains files but no mark.
    pub(super) fn prepare(&self) -> anyhow::Result<()> {
        if self.is_marked() {
            return Ok(());
        }
        let entries = match std::fs::read_dir(&self.path) {
            Ok(entries) => entries.count(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error).with_context(|| self.failed("read")),
        };
        if entries > 0 {
            let what = format!("`{}` holds other files", self.path.display());
            let next = "name a new folder with --home, or omit --home";
            return Err(Trouble::misuse(what, next).into());
        }
        fs::create_private_dir(&self.path)?;
        fs::write_atomic(
            &self.path.join(MARK),
            b"made by `cargo xtask`; `reset --hard` deletes it\n",
        )?;
        Ok(())
    }

    /// Returns whether the home exists, so that there is something to delete.
    ///
    /// # Errors
    /// If the folder exists but is not a home.
    pub(super) fn exists(&self) -> anyhow::Result<bool> {
        if self.is_marked() || !self.path.exists() {
            return Ok(self.path.exists());
        }
        let what = format!("`{}` was not made by `cargo xtask`", self.path.display());
        let next = "nothing was deleted; name the home of a checkout with --home, or omit --home";
        Err(Trouble::misuse(what, next).into())
    }

    /// Returns the paths that [`Self::delete`] removes.
    ///
    /// # Errors
    /// If the home cannot be read, or a link in it leads outside.
    pub(super) fn doomed(&self, extent: Extent) -> anyhow::Result<Vec<PathBuf>> {
        let Roots { data, state, config, bin } = self.roots();
        let mut doomed = match extent {
            Extent::All => vec![state, data, bin],
            Extent::State => {
                let models = self.roots().models();
                let mut inside = self.entries(&state)?;
                inside.retain(|path| *path != models);
                inside
            }
        };
        doomed.push(config);
        doomed.retain(|path| path.symlink_metadata().is_ok());
        Ok(doomed)
    }

    /// Deletes the paths of [`Self::doomed`], and the home itself if nothing else is in it.
    ///
    /// # Errors
    /// If something cannot be deleted.
    pub(super) fn delete(&self, extent: Extent) -> anyhow::Result<()> {
        for path in self.doomed(extent)? {
            let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
            if is_folder { fs::remove_dir(&path)? } else { fs::remove_file(&path)? }
        }
        let mark = self.path.join(MARK);
        if extent == Extent::All && self.entries(&self.path)? == [mark.as_path()] {
            fs::remove_dir(&self.path)?;
        }
        Ok(())
    }

    fn is_marked(&self) -> bool {
        self.path.join(MARK).is_file()
    }

    fn entries(&self, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
        match folder.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => {
                let what = format!("`{}` leads out of the home", folder.display());
                return Err(Trouble::new(what, "delete that link yourself").into());
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| self.failed("read")),
        }
        let entries = std::fs::read_dir(folder).with_context(|| self.failed("read"))?;
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        paths.collect::<Result<_, _>>().with_context(|| self.failed("read"))
    }

    fn failed(&self, to: &str) -> String {
        format!("failed to {to} `{}`", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_state_goes_or_everything() {
        let dir = tempfile::tempdir().unwrap();
        let home = filled(dir.path());
        home.delete(Extent::State).unwrap();
        assert!(!has(&home, "state/identity.json") && !has(&home, "config"));
        assert!(has(&home, "state/models/m.gguf") && has(&home, "data/engines/e"));
        home.delete(Extent::All).unwrap();
        assert!(!home.path().exists() && !home.exists().unwrap());
    }

    #[test]
    fn a_folder_that_was_not_made_here_is_neither_used_nor_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let home = filled(dir.path());
        std::fs::remove_file(home.path().join(MARK)).unwrap();
        assert!(home.prepare().is_err() && home.exists().is_err());
        assert!(has(&home, "state/identity.json"));
    }

    #[test]
    fn what_others_put_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let home = filled(dir.path());
        std::fs::write(home.path().join("notes"), "mine").unwrap();
        home.delete(Extent::All).unwrap();
        assert!(has(&home, "notes") && !has(&home, "state"));
    }

    #[test]
    fn a_link_out_of_the_home_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let home = filled(dir.path());
        let outside = dir.path().join("outside");
        std::fs::rename(home.path().join("state"), &outside).unwrap();
        std::os::unix::fs::symlink(&outside, home.path().join("state")).unwrap();
        assert!(home.delete(Extent::State).is_err());
        home.delete(Extent::All).unwrap();
        assert!(outside.join("identity.json").exists() && !home.path().exists());
    }

    fn filled(dir: &Path) -> Home {
        let home = Home::at(dir.join("home"));
        home.prepare().unwrap();
        home.prepare().unwrap();
        for file in ["state/identity.json", "state/models/m.gguf", "data/engines/e", "config/c"] {
            let path = home.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        home
    }

    fn has(home: &Home, name: &str) -> bool {
        home.path().join(name).exists()
    }
}
