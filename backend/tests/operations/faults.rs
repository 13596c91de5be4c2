//! The texts that an operator reads when the disk is full or read-only, or when a page of the database is damaged:
//! `/readyz`, `/metrics`, `doctor` and the start, as golden texts.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "mounts a disk and damages files"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    program::{Place, Running},
    service::get,
};

const GOLDEN: &str = include_str!("faults/golden.txt");
const DEADLINE: Duration = Duration::from_secs(20);

/// Returns the part of the golden text below `== title`.
fn golden(title: &str) -> &'static str {
    let (_, rest) = GOLDEN.split_once(&format!("== {title}\n")).expect("the part is there");
    rest.split("\n== ").next().unwrap_or_default().trim_end()
}

/// Returns the lines of `doctor` about the folder and the database, with the folder as `DATA`.
fn doctor(place: &Place) -> String {
    let said = place.run(&["doctor"]).out.replace(&place.data().display().to_string(), "DATA");
    let mut lines = Vec::new();
    let mut is_kept = false;
    for line in said.lines() {
        if !line.starts_with(' ') {
            is_kept = ["  folder: ", "  database: "].iter().any(|check| line.contains(check));
        }
        if is_kept {
            lines.push(line.trim_end());
        }
    }
    lines.join("\n")
}

/// Returns the answer of `/readyz` once it is not ready, and the faults that `/metrics` counts.
fn unready(running: &Running) -> String {
    let since = Instant::now();
    let detail = loop {
        let (status, body) = get(&running.address, "/readyz");
        if status == 503 {
            let body: Value = serde_json::from_str(&body).unwrap();
            break body["detail"].as_str().unwrap().to_owned();
        }
        assert!(since.elapsed() < DEADLINE, "it is still ready");
        std::thread::sleep(Duration::from_millis(50));
    };
    let metrics = get(running.metrics.as_ref().unwrap(), "/metrics").1;
    let ready = metrics.lines().find(|line| line.starts_with("link_ready ")).unwrap();
    let faults = metrics.lines().filter_map(|line| line.strip_prefix("link_database_faults_total"));
    let faults: Vec<&str> = faults.filter_map(|line| line.split_once(' ')).map(|it| it.0).collect();
    format!("{detail}\n{ready}\nlink_database_faults_total{}", faults.join(" "))
}

/// Overwrites bytes of a file.
fn spoil(file: &Path, from: usize, count: usize) {
    let mut bytes = fs::read(file).unwrap();
    bytes[from..from + count].fill(0xa5);
    fs::write(file, bytes).unwrap();
}

/// Returns the position of the first page of a table or an index in the file.
fn page(file: &Path, name: &str) -> usize {
    let connection = rusqlite::Connection::open(file).unwrap();
    let read = |query: &str| -> i64 { connection.query_row(query, [], |row| row.get(0)).unwrap() };
    let root = read(&format!("SELECT rootpage FROM sqlite_master WHERE name = '{name}'"));
    let size = read("PRAGMA page_size");
    usize::try_from((root - 1) * size).unwrap()
}

/// Returns a folder whose database is complete in its file, and the token of its owner.
fn prepared() -> Place {
    let place = Place::new();
    let running = place.serve(&[]);
    running.set_up();
    end(running);
    place
}

fn end(running: Running) {
    running.signal("-TERM");
    assert!(running.ended().0.success());
}

#[test]
fn a_file_that_is_no_database_is_to_be_restored() {
    let place = prepared();
    spoil(&place.data().join("link.db"), 0, 16);
    let refused = place.run(&["serve", "--listen", "127.0.0.1:0"]);
    let said = refused.err.replace(&place.data().display().to_string(), "DATA");
    assert_eq!(said.trim_end(), golden("header: serve"));
    assert_eq!(doctor(&place), golden("header: doctor"));
}

#[test]
fn a_page_that_was_flipped_makes_the_backend_unready_once_it_is_met() {
    let place = prepared();
    let file = place.data().join("link.db");
    spoil(&file, page(&file, "audit"), 64);
    let running = place.serve(&["--metrics-listen", "127.0.0.1:0"]);
    // A login is recorded in the audit log.
    running.log_in("ada@example.org", crate::program::PASSWORD);
    assert_eq!(unready(&running), golden("page: readyz and metrics"));
    assert_eq!(doctor(&place), golden("page: doctor"));
}

#[test]
fn a_disk_that_is_read_only_or_full_is_not_taken_for_damage() {
    let place = Place::new();
    fs::create_dir(place.data()).unwrap();
    let Some(disk) = Disk::mount(&place.data()) else {
        eprintln!("skipped: only root can mount a disk");
        return;
    };
    let running = place.serve(&["--metrics-listen", "127.0.0.1:0"]);
    running.set_up();
    end(running);
    disk.remount("size=16m,ro");
    assert_eq!(doctor(&place), golden("read-only: doctor"));
    disk.remount("size=16m,rw");
    let running = place.serve(&["--metrics-listen", "127.0.0.1:0"]);
    disk.fill();
    assert_eq!(unready(&running).lines().next().unwrap(), golden("full: readyz"));
}

/// A disk in memory. Dropping the value unmounts it.
struct Disk(PathBuf);

impl Disk {
    fn mount(folder: &Path) -> Option<Self> {
        let mount = ["-t", "tmpfs", "-o", "size=16m,mode=700", "link-test"];
        let status = Command::new("mount").args(mount).arg(folder).output().ok()?.status;
        status.success().then(|| Self(folder.to_owned()))
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let done = Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap();
        assert!(done.success());
    }

    fn fill(&self) {
        let block = vec![0; 64 * 1024];
        let mut file = fs::File::create(self.0.join("ballast")).unwrap();
        while std::io::Write::write_all(&mut file, &block).is_ok() {}
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Unmounted lazily, because a backend may still be ending there.
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}
