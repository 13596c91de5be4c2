//! Where the interpreter of a script stands: a script needs more of the machine than its own folder.
//!
//! Only code is found: the folders `bin` and `lib` of an installation, and not the folder around them, which may be the
//! home of a person; or the folder of a version manager.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: the first line of a script, and PATH"
)]

use std::{
    fs::File,
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// The longest first line that is read, in bytes.
const LINE: u64 = 512;

/// What an installation has beside the folder with its programs.
const PARTS: &[&str] = &["bin", "lib", "lib64", "libexec", "pyvenv.cfg"];

/// The folder of a version manager (pyenv, asdf, mise) with scripts that choose an interpreter. All around it is code.
const SHIMS: &str = "shims";

/// Returns the files and folders of the interpreter that runs `program`. Empty if `program` is no script.
pub(super) fn of(program: &Path) -> Vec<PathBuf> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let search: Vec<PathBuf> = std::env::split_paths(&search).collect();
    interpreter(program, &search).map(|found| installation(&found)).unwrap_or_default()
}

fn interpreter(program: &Path, search: &[PathBuf]) -> Option<PathBuf> {
    let mut head = Vec::new();
    File::open(program).ok()?.take(LINE).read_to_end(&mut head).ok()?;
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
    let path = Path::new(words.next()?);
    if path.file_name()? != "env" {
        return Some(path.to_owned()).filter(|path| is_program(path));
    }
    // Another option of `env` takes the next word, which then is no program.
    let name =
        words.find(|word| *word != "-S" && !word.contains('=')).filter(|word| is_name(word))?;
    search.iter().map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// Returns whether `word` is the name of a program on PATH, and no path.
fn is_name(word: &str) -> bool {
    !word.starts_with('-') && !word.contains('/')
}

/// Returns whether the file is a program, and not a file with data that a stranger would have opened to an engine.
fn is_program(path: &Path) -> bool {
    let mut head = [0; 2];
    let begins = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    let is_code = begins.is_ok() && (&head == b"\x7fE" || &head == b"#!");
    is_code && path.metadata().is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

/// Returns the parts of the installation of an interpreter, and of the one that it is a link to.
fn installation(interpreter: &Path) -> Vec<PathBuf> {
    let target = interpreter.canonicalize().ok();
    let programs = [Some(interpreter.to_owned()), target];
    let mut parts = Vec::new();
    for program in programs.into_iter().flatten() {
        if let Some((folder, around)) = program.parent().and_then(|it| Some((it, it.parent()?))) {
            if folder.ends_with("bin") {
                parts.extend(PARTS.iter().map(|part| around.join(part)));
            } else if folder.ends_with(SHIMS) {
                parts.push(around.to_owned());
            }
        }
        parts.push(program);
    }
    parts.retain(|part| part.exists());
    parts
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::symlink,
    };

    use super::*;

    #[test]
    fn a_script_of_a_virtual_environment_needs_that_and_the_one_behind_it() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for folder in ["venv/bin", "venv/lib", "python/bin", "python/lib", "python/secrets"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("python/bin/python3"), "\x7fELF").unwrap();
        fs::set_permissions(at("python/bin/python3"), Permissions::from_mode(0o755)).unwrap();
        fs::write(at("venv/pyvenv.cfg"), "").unwrap();
        symlink(at("python/bin/python3"), at("venv/bin/python3")).unwrap();
        let script = at("engine");
        let search = [at("empty"), at("venv/bin")];
        let found = |text: &str| {
            fs::write(&script, text).unwrap();
            interpreter(&script, &search)
        };
        let python = at("venv/bin/python3");
        let expected = Some(python.clone());
        assert_eq!(found("#!/usr/bin/env python3\nimport os\n"), expected);
        assert_eq!(found("#! /usr/bin/env -S A=1 python3 -u\n"), expected);
        assert_eq!(found(&format!("#!{}\n", at("venv/bin/python3").display())), expected);
        assert_eq!(found("#!/usr/bin/env ruby\n"), None);
        assert_eq!(found("\x7fELF"), None);
        // A file of the user that is no program, as `env` reads options or as a person would not name it.
        let secret = at("python/secrets/key");
        fs::write(&secret, "secret").unwrap();
        let secret = secret.display();
        for line in
            ["/usr/bin/env -S -u KEY /bin/sh", "/usr/bin/env KEY", "/usr/bin/env -S KEY", "KEY"]
        {
            let line = format!("#!{}\n", line.replace("KEY", &secret.to_string()));
            assert_eq!(found(&line), None, "{line}");
        }
        let mut parts = installation(&python);
        parts.sort();
        let all = [
            "python/bin",
            "python/bin/python3",
            "python/lib",
            "venv/bin",
            "venv/bin/python3",
            "venv/lib",
            "venv/pyvenv.cfg",
        ];
        assert_eq!(parts, all.map(at));
        fs::create_dir(at("python/shims")).unwrap();
        fs::write(at("python/shims/python3"), "#!/bin/sh\n").unwrap();
        assert!(installation(&at("python/shims/python3")).contains(&at("python")));
    }
}
