//! What a contained program may do, as a value and as the arguments of a supervisor.

use std::{ffi::OsString, path::PathBuf};

use crate::process::Program;

/// The first argument of a supervisor.
pub(super) const COMMAND: &str = "contain";

/// The number of processes that a program may have at the same time, unless its rules say otherwise.
const PROCESSES: u32 = 256;

/// What a contained program may do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rules {
    /// How many processes the program may have at the same time.
    pub processes: u32,
    /// The memory of all its processes together, in bytes, without the pages of mapped files.
    pub memory: Option<u64>,
    pub access: Access,
}

/// What a contained program may reach. What a system cannot refuse is not refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Access {
    /// None for every file of this user.
    pub files: Option<Files>,
    /// Whether the program may open connections.
    pub connects: bool,
    /// The only port at which the program may listen, unless `files` is none.
    pub port: Option<u16>,
    /// The newest version of the kernel's Landlock rules that is used.
    pub landlock: u8,
}

/// The files of a contained program, in addition to those of the system.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Files {
    /// Files and folders that the program may read and run.
    pub read: Vec<PathBuf>,
    /// Files and folders that the program may read and change. The first folder is the current folder of the program.
    pub write: Vec<PathBuf>,
}

impl Default for Rules {
    fn default() -> Self {
        Self { processes: PROCESSES, memory: None, access: Access::everything() }
    }
}

impl Access {
    /// The access of every program of this user.
    #[must_use]
    pub const fn everything() -> Self {
        Self { files: None, connects: true, port: None, landlock: u8::MAX }
    }

    /// The access to `files`, and to no program.
    #[must_use]
    pub const fn only(files: Files) -> Self {
        Self { files: Some(files), connects: false, port: None, landlock: u8::MAX }
    }
}

impl Rules {
    /// Returns the arguments with which a supervisor runs `program` under these rules. The environment is not among them.
    #[cfg(any(target_os = "linux", test))]
    pub(super) fn words(&self, program: &Program) -> Vec<OsString> {
        let mut words = vec![COMMAND.into()];
        let mut say = |name: &str, value: OsString| words.extend([name.into(), value]);
        let Self { processes, memory, access } = self;
        let Access { files, connects, port, landlock } = access;
        say("--processes", processes.to_string().into());
        if let Some(memory) = memory {
            say("--memory", memory.to_string().into());
        }
        say("--landlock", landlock.to_string().into());
        if *connects {
            say("--connects", "yes".into());
        }
        if let Some(port) = port {
            say("--port", port.to_string().into());
        }
        if let Some(Files { read, write }) = files {
            say("--files", "some".into());
            read.iter().for_each(|path| say("--read", path.into()));
            write.iter().for_each(|path| say("--write", path.into()));
        }
        if let Some(log) = &program.log {
            say("--log", log.into());
        }
        words.extend(["--".into(), program.path.clone().into()]);
        words.extend(program.args.iter().cloned());
        words
    }

    /// Reads what [`Self::words`] wrote, without its first word.
    pub(super) fn parse(words: Vec<OsString>) -> Option<(Self, Program)> {
        let mut rules = Self::default();
        rules.access.connects = false;
        let mut log = None;
        let mut words = words.into_iter();
        loop {
            let name = words.next()?.into_string().ok()?;
            if name == "--" {
                break;
            }
            let value = words.next()?;
            let number = value.to_str().and_then(|text| text.parse::<u64>().ok());
            let access = &mut rules.access;
            match &*name {
                "--processes" => rules.processes = u32::try_from(number?).ok()?,
                "--memory" => rules.memory = Some(number?),
                "--landlock" => access.landlock = u8::try_from(number?).ok()?,
                "--connects" => access.connects = true,
                "--port" => access.port = Some(u16::try_from(number?).ok()?),
                "--files" => access.files = Some(Files::default()),
                "--read" => access.files.as_mut()?.read.push(value.into()),
                "--write" => access.files.as_mut()?.write.push(value.into()),
                "--log" => log = Some(PathBuf::from(value)),
                _ => return None,
            }
        }
        let path = words.next()?.into();
        Some((rules, Program { path, args: words.collect(), env: vec![], log }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_supervisor_reads_the_rules_that_were_written_for_it() {
        let files = Files { read: vec!["/a b".into(), "--".into()], write: vec!["/w".into()] };
        let access = Access { port: Some(80), landlock: 2, ..Access::only(files) };
        let rules = Rules { processes: 7, memory: Some(1 << 33), access };
        let program = Program {
            path: "/engines/a b".into(),
            args: vec!["--log".into(), "--".into(), "".into()],
            env: vec![],
            log: Some("/logs/a.log".into()),
        };
        let mut words = rules.words(&program);
        assert_eq!(words.remove(0), "contain");
        assert_eq!(Rules::parse(words.clone()), Some((rules, program.clone())));
        let open = Rules::default().words(&program).split_off(1);
        assert_eq!(Rules::parse(open), Some((Rules::default(), program)));
        let program = words.iter().position(|word| word == "/engines/a b").unwrap();
        for cut in (0..=program).filter(|cut| words[..*cut].last().is_none_or(|word| word != "--"))
        {
            assert_eq!(Rules::parse(words[..cut].to_vec()), None, "{cut}");
        }
        words.insert(0, "--unknown".into());
        assert_eq!(Rules::parse(words), None);
    }
}
