//! The processes below this one, and their end.
//!
//! This process adopts the processes below it whose parent has ended. So a process that has no child has no descendant,
//! and [`Tree::kill`] returns only then.

#![expect(clippy::disallowed_methods, reason = "IO shell: processes")]

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, WaitOptions},
};

/// The time between two rounds of killing.
const ROUND: Duration = Duration::from_millis(2);

/// The processes below this one.
#[derive(Debug)]
pub(super) struct Tree {
    own: Pid,
    /// The session of this process, in which no process below it is.
    session: Option<Pid>,
    /// Whether the kernel lists the children of a process. Otherwise all processes are looked through.
    lists_children: bool,
}

/// Returns whether a process of this system can adopt the orphans below it. Linux can, but not every emulator of another
/// processor passes that on to it.
pub(super) fn can_adopt() -> bool {
    rustix::process::child_subreaper().is_ok()
}

impl Tree {
    /// Makes this process adopt the orphans below it.
    pub(super) fn adopt() -> io::Result<Self> {
        let own = rustix::process::getpid();
        rustix::process::set_child_subreaper(Some(own))?;
        let lists_children = fs::exists(children_file(own, own)).unwrap_or(false);
        let session = Status::of(own).and_then(|status| status.session);
        Ok(Self { own, session, lists_children })
    }

    /// Returns the processes below this one, up to `most`. Those that start or end meanwhile may be missing.
    pub(super) fn members(&self, most: usize) -> Vec<Pid> {
        let mut found = Vec::new();
        self.each(|child, _parent| {
            found.push(child);
            found.len() < most
        });
        found
    }

    /// Calls `met` with each process below this one and its parent, until `met` returns false.
    fn each(&self, mut met: impl FnMut(Pid, Pid) -> bool) {
        let mut parents = vec![self.own];
        let mut seen = HashSet::from([self.own]);
        let all = if self.lists_children { HashMap::new() } else { all_children() };
        while let Some(parent) = parents.pop() {
            let children = match self.lists_children {
                true => children_of(parent),
                false => all.get(&parent).cloned().unwrap_or_default(),
            };
            for child in children {
                if seen.insert(child) {
                    if !met(child, parent) {
                        return;
                    }
                    parents.push(child);
                }
            }
        }
    }

    /// Collects the children that have ended. Returns the raw status of `main`, if it is among them.
    pub(super) fn reap(main: Pid) -> Option<i32> {
        let mut status = None;
        while let Ok(Some((pid, ended))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == main {
                status = Some(ended.as_raw());
            }
        }
        status
    }

    /// Kills every process below this one. Returns the raw status of `main`, if it has just ended, and whether no
    /// process was left at `deadline`.
    pub(super) fn kill(&self, main: Pid, deadline: Instant) -> (Option<i32>, bool) {
        let mut status = None;
        loop {
            let mut groups = HashSet::new();
            self.each(|pid, parent| {
                self.kill_one(pid, parent, &mut groups);
                true
            });
            loop {
                match rustix::process::wait(WaitOptions::NOHANG) {
                    Ok(Some((pid, ended))) if pid == main => status = Some(ended.as_raw()),
                    Ok(Some(_)) | Err(Errno::INTR) => {}
                    Ok(None) => break,
                    Err(_no_child) => return (status, true),
                }
            }
            if Instant::now() >= deadline {
                return (status, false);
            }
            std::thread::sleep(ROUND);
        }
    }
}

impl Tree {
    /// Kills a process with its group, if it is still the child of `parent`: another process may have got its id.
    ///
    /// The kernel kills a group at once, so a program that starts processes faster than they are found does not get away.
    /// A group is in one session, and the sessions below this process are not that of any other.
    fn kill_one(&self, pid: Pid, parent: Pid, groups: &mut HashSet<Pid>) {
        let Ok(process) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
        // A child whose parent has just ended is found again in the next round, below another parent.
        let Some(status) = Status::of(pid).filter(|status| status.parent == Some(parent)) else {
            return;
        };
        if let Some(group) = status.group
            && status.session.is_some()
            && status.session != self.session
        {
            if groups.insert(group) {
                let _gone = rustix::process::kill_process_group(group, Signal::KILL);
            }
        } else {
            let _gone = rustix::process::pidfd_send_signal(process, Signal::KILL);
        }
    }
}

fn children_file(process: Pid, thread: Pid) -> String {
    format!("/proc/{process}/task/{thread}/children")
}

/// Returns the children that the threads of `process` have started or adopted.
fn children_of(process: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let threads = threads.filter_map(|entry| pid(entry.file_name().to_str()?));
    let lists =
        threads.filter_map(|thread| fs::read_to_string(children_file(process, thread)).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(pid).collect::<Vec<_>>()).collect()
}

/// Returns the children of every process.
fn all_children() -> HashMap<Pid, Vec<Pid>> {
    let mut all: HashMap<Pid, Vec<Pid>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in entries.filter_map(|entry| pid(entry.file_name().to_str()?)) {
        if let Some(parent) = Status::of(process).and_then(|status| status.parent) {
            all.entry(parent).or_default().push(process);
        }
    }
    all
}

/// What the kernel says of a process.
#[derive(Debug)]
struct Status {
    parent: Option<Pid>,
    group: Option<Pid>,
    session: Option<Pid>,
}

impl Status {
    fn of(process: Pid) -> Option<Self> {
        let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name may contain any character, even a parenthesis.
        let (_name, fields) = line.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace().skip(1).map(pid);
        let (parent, group, session) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Self { parent, group, session })
    }
}

fn pid(text: &str) -> Option<Pid> {
    text.parse().ok().and_then(Pid::from_raw)
}
