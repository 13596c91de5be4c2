//! The journal of leftovers to delete from the bucket: running uploads and failed deletions.
//!
//! A store keeps the parts of an unfinished upload, and no list of objects shows them. Each note of the journal is one
//! file, which is deleted when its upload or object is gone. A note without a running upload in this process is left
//! over from a crash or a failed abort.
//! failed abort.

#![expect(clippy::disallowed_methods, reason = "IO shell: one file for each note")]

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use link_platform::fs::{self, FileError};
use link_protocol::error_chain::chain;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::host::random;

/// The folder of notes in the data folder. The leading dot keeps it out of backups, because the notes concern this bucket
/// and this process only.
const FOLDER: &str = ".uploads";
const NOTE_LIMIT: u64 = 64 * 1024;
/// How long a deletion is retried. After this time, a lifecycle rule of the bucket should have deleted the leftover.
const TRIED_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The notes of the journal.
#[derive(Debug)]
pub(super) struct Journal {
    folder: PathBuf,
    /// The notes of running uploads.
    running: Mutex<BTreeSet<Uuid>>,
}

/// An upload or object to delete from the bucket.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(tag = "left", rename_all = "lowercase")]
pub(super) enum Left {
    /// A multipart upload that is neither completed nor aborted.
    Upload { key: String, upload_id: String },
    /// A temporary object, or an object that is not used any more.
    Object { key: String },
}

/// A note without a running upload.
#[derive(Debug)]
pub(super) struct LeftOver {
    pub(super) id: Uuid,
    pub(super) entry: Left,
}

/// The note of a running upload. Dropping it leaves the note to the next clean-up.
#[derive(Debug)]
pub(super) struct Note {
    id: Uuid,
    journal: Arc<Journal>,
}

impl Journal {
    /// Makes the journal of a data folder. The first note creates its folder.
    pub(super) fn of(data: &Path) -> Self {
        Self { folder: data.join(FOLDER), running: Mutex::default() }
    }

    /// Writes a note.
    pub(super) fn note(self: &Arc<Self>, entry: &Left) -> Result<Note, FileError> {
        fs::create_private_dir(&self.folder)?;
        let id = random::uuid();
        self.running().insert(id);
        let note = Note { id, journal: Arc::clone(self) };
        let text = serde_json::to_vec(entry).unwrap_or_default();
        fs::write_private(&self.path(id), &text)?;
        Ok(note)
    }

    /// Returns the notes without a running upload, oldest first.
    pub(super) fn left_over(&self) -> Vec<LeftOver> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten();
        let mut ids: Vec<Uuid> =
            entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
        ids.sort_unstable();
        let running = self.running().clone();
        ids.retain(|id| !running.contains(id));
        ids.into_iter().filter_map(|id| self.read(id)).collect()
    }

    /// Deletes a note whose upload or object is gone.
    pub(super) fn strike(&self, id: Uuid) {
        if let Err(error) = fs::remove_file(&self.path(id)) {
            tracing::warn!(error = chain(&error), "failed to delete the note of an upload");
        }
    }

    /// Deletes a note whose deletion was retried for longer than [`TRIED_FOR`].
    pub(super) fn strike_when_old(&self, left: &LeftOver) {
        if is_old(left.id, Timestamp::now()) {
            tracing::warn!("no more retries to delete this from the bucket: {:?}", left.entry);
            self.strike(left.id);
        }
    }

    fn read(&self, id: Uuid) -> Option<LeftOver> {
        let text = fs::read_limited(&self.path(id), NOTE_LIMIT).ok()?;
        match serde_json::from_str(&text) {
            Ok(entry) => Some(LeftOver { id, entry }),
            Err(error) => {
                tracing::warn!(%error, "deleted a note of an upload that cannot be read");
                self.strike(id);
                None
            }
        }
    }

    fn path(&self, id: Uuid) -> PathBuf {
        self.folder.join(id.to_string())
    }

    fn running(&self) -> MutexGuard<'_, BTreeSet<Uuid>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Note {
    /// Deletes the note, whose upload or object is gone.
    pub(super) fn strike(self) {
        self.journal.strike(self.id);
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        self.journal.running().remove(&self.id);
    }
}

/// Tells whether a note is old. Its id starts with the time of its creation.
fn is_old(id: Uuid, now: Timestamp) -> bool {
    let made = id.get_timestamp().map(|made| made.to_unix());
    let made = made.and_then(|(s, _)| Timestamp::from_second(i64::try_from(s).ok()?).ok());
    made.is_none_or(|made| now.duration_since(made) > TRIED_FOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upload(name: &str) -> Left {
        Left::Upload { key: name.to_owned(), upload_id: "1".to_owned() }
    }

    fn left(journal: &Journal) -> Vec<Left> {
        journal.left_over().into_iter().map(|left| left.entry).collect()
    }

    #[test]
    fn what_no_running_upload_looks_after_is_left_over_also_after_a_crash() {
        let data = tempfile::tempdir().unwrap();
        let journal = Arc::new(Journal::of(data.path()));
        let (done, failed) =
            (journal.note(&upload("a")).unwrap(), journal.note(&upload("b")).unwrap());
        let running = journal.note(&Left::Object { key: "c".to_owned() }).unwrap();
        assert_eq!(left(&journal), []);
        done.strike();
        drop(failed);
        assert_eq!(left(&journal), [upload("b")]);
        let crashed = Journal::of(data.path());
        assert_eq!(left(&crashed), [upload("b"), Left::Object { key: "c".to_owned() }]);
        for note in crashed.left_over() {
            crashed.strike(note.id);
        }
        assert_eq!(left(&crashed), []);
        drop(running);
    }

    #[test]
    fn a_note_that_cannot_be_read_is_deleted() {
        let data = tempfile::tempdir().unwrap();
        let journal = Arc::new(Journal::of(data.path()));
        journal.note(&upload("a")).unwrap().strike();
        let path = journal.path(random::uuid());
        fs::write_private(&path, b"{").unwrap();
        assert_eq!(left(&journal), []);
        assert!(!path.exists());
    }

    #[test]
    fn a_note_is_given_up_after_a_week() {
        let id = random::uuid();
        let now = Timestamp::now();
        assert!(!is_old(id, now + SignedDuration::from_hours(6 * 24)));
        assert!(is_old(id, now + SignedDuration::from_hours(8 * 24)));
    }
}
