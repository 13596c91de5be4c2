//! Which folders of the build machine a program must not name.
//!
//! A compiler writes the paths of source files into a program: for panics, for assertions in C, for included files. They
//! tell who built it and where, and two builds of one commit in two folders would differ. So each folder is replaced by a
//! fixed name.

#![expect(clippy::disallowed_methods, reason = "IO shell: reads where Cargo keeps its packages")]

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, ensure};

/// Tells the C compilers of `command` to replace the folders of this machine, and returns the flags that tell Rust's.
///
/// # Errors
/// Fails if a folder is not UTF-8 or has a space in its name, or if Cargo's own folder is unknown.
pub(super) fn hide(
    root: &Path,
    folder: &Path,
    triple: &str,
    command: &mut Command,
) -> anyhow::Result<Vec<String>> {
    let packages = env::var_os("CARGO_HOME").map(PathBuf::from);
    let packages = packages.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let packages = packages.context("neither `CARGO_HOME` nor `HOME` is set")?;
    let replaced = replaced(root, folder, &packages)?;
    let for_c: Vec<_> = replaced.iter().map(|pair| format!("-ffile-prefix-map={pair}")).collect();
    command.env(format!("CFLAGS_{}", triple.replace('-', "_")), for_c.join(" "));
    Ok(replaced.iter().map(|pair| format!("--remap-path-prefix={pair}")).collect())
}

/// The folders and their names. If several fit a path, compilers take the last, so the checkout comes before what may be
/// within it.
fn replaced(root: &Path, folder: &Path, packages: &Path) -> anyhow::Result<[String; 3]> {
    let pair = |path: &Path, name: &str| {
        let path = path.to_str().with_context(|| format!("`{}` is not UTF-8", path.display()))?;
        ensure!(
            !path.contains(' '),
            "the folder `{path}` has a space in its name: build in another"
        );
        anyhow::Ok(format!("{path}={name}"))
    };
    Ok([pair(root, "/link")?, pair(packages, "/cargo")?, pair(folder, "/target")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_within_the_checkout_comes_after_it() {
        let [root, packages, target] =
            replaced(Path::new("/a/b"), Path::new("/a/b/target"), Path::new("/c/.cargo")).unwrap();
        assert_eq!(
            [root, packages, target],
            ["/a/b=/link", "/c/.cargo=/cargo", "/a/b/target=/target"]
        );
    }

    #[test]
    fn a_folder_with_a_space_is_refused_because_the_flags_for_c_are_separated_by_spaces() {
        let refused =
            replaced(Path::new("/my code"), Path::new("/b"), Path::new("/c")).unwrap_err();
        assert!(refused.to_string().contains("`/my code` has a space"), "{refused}");
    }

    #[test]
    fn rust_and_c_are_told_the_same() {
        let mut command = Command::new("cargo");
        let flags =
            hide(Path::new("/a"), Path::new("/b"), "x86_64-unknown-linux-gnu", &mut command)
                .unwrap();
        let set = |name: &str| {
            let mut all = command.get_envs();
            all.find(|(key, _)| *key == name).unwrap().1.unwrap().to_str().unwrap().to_owned()
        };
        let for_c = set("CFLAGS_x86_64_unknown_linux_gnu");
        assert_eq!(flags[0], "--remap-path-prefix=/a=/link");
        assert_eq!(for_c.replace("-ffile-prefix-map", "--remap-path-prefix"), flags.join(" "));
    }
}
