//! The keys that sign releases: one file each, which only its owner can read.
//!
//! An old key introduces a new one with a signed introduction. It is stored beside the new key and
//! added to each release that the new key signs, so an installation that trusts the old key also
//! trusts the new one.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use link_installer::key_file::{self, NewKey};
use link_platform::fs;
use link_protocol::{
    release::{KeySet, SCHEMA, Statement},
    signing::{Signed, SigningKey},
};

/// A key, and its chain of introductions, which is empty for the first key.
pub(crate) struct ReleaseKey {
    pub(crate) key: SigningKey,
    pub(crate) introductions: Vec<Signed>,
}

/// Creates a key in `file` and returns its public half.
pub(crate) fn run(file: &Path, introduced_by: Option<&Path>) -> anyhow::Result<String> {
    let old = introduced_by.map(read).transpose()?;
    let new = NewKey::draw(file)?;
    let public = new.public.clone();
    if let Some(mut old) = old {
        let counter = old.introductions.len() as u64 + 1;
        let keys = KeySet { schema: SCHEMA, counter, keys: vec![public.clone()] };
        old.introductions.push(old.key.seal_release(&Statement::Keys(keys)));
        let text = serde_json::to_vec(&old.introductions).context("failed to write JSON")?;
        fs::write_atomic(&introductions_of(file), &text)?;
    }
    new.write()?;
    Ok(public.public_key)
}

/// Reads a key, and the introductions beside it.
pub(crate) fn read(file: &Path) -> anyhow::Result<ReleaseKey> {
    let key = key_file::read(file)?;
    let beside = introductions_of(file);
    let introductions = match fs::read_to_string(&beside) {
        Ok(text) => serde_json::from_str(&text)
            .with_context(|| format!("failed to read `{}`", beside.display()))?,
        Err(error) if error.is_not_found() => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    Ok(ReleaseKey { key, introductions })
}

fn introductions_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".keys.json");
    name.into()
}

#[cfg(test)]
mod tests {
    use link_protocol::release::introduce;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("key");
        let public = run(&file, None).unwrap();
        assert_eq!(read(&file).unwrap().key.verifying().public_key, public);
        assert!(run(&file, None).is_err(), "a key is never replaced");
    }

    #[test]
    fn each_key_is_introduced_by_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let [first, second, third] = ["1", "2", "3"].map(|name| dir.path().join(name));
        run(&first, None).unwrap();
        run(&second, Some(&first)).unwrap();
        run(&third, Some(&second)).unwrap();
        let (first, third) = (read(&first).unwrap(), read(&third).unwrap());
        let trusted = introduce(&[first.key.verifying().clone()], &third.introductions).unwrap();
        assert!(trusted.len() == 3 && trusted.contains(third.key.verifying()));
    }
}
