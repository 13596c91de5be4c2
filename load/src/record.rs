//! The events of a run: discarded, kept in memory, or written to a file with one JSON text per
//! line.

#![expect(clippy::disallowed_types, reason = "IO shell: writes the record")]

use std::{
    fs::File,
    io::{self, BufWriter, Write as _},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use link_protocol::id::DeviceId;

use crate::{
    clock,
    history::{Event, What},
};

/// A record of events.
#[derive(Debug, Default)]
pub struct Record {
    sink: Mutex<Sink>,
}

#[derive(Debug, Default)]
enum Sink {
    #[default]
    Nowhere,
    Memory(Vec<Event>),
    File {
        writer: BufWriter<File>,
        failed: Option<io::Error>,
    },
}

impl Record {
    /// Keeps the events in memory.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { sink: Mutex::new(Sink::Memory(Vec::new())) }
    }

    /// Writes the events to a new file.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        let writer = BufWriter::new(File::create(path)?);
        Ok(Self { sink: Mutex::new(Sink::File { writer, failed: None }) })
    }

    /// Records an event of `device` with the current time.
    pub fn note(&self, device: DeviceId, what: What) {
        match &mut *self.lock() {
            Sink::Nowhere => {}
            Sink::Memory(events) => events.push(Event { at_us: clock::now_us(), device, what }),
            Sink::File { writer, failed } => {
                let event = Event { at_us: clock::now_us(), device, what };
                let written = serde_json::to_writer(&mut *writer, &event)
                    .map_err(io::Error::from)
                    .and_then(|()| writer.write_all(b"\n"));
                if let Err(error) = written {
                    failed.get_or_insert(error);
                }
            }
        }
    }

    /// Returns the events in memory.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        match &*self.lock() {
            Sink::Memory(events) => events.clone(),
            Sink::Nowhere | Sink::File { .. } => Vec::new(),
        }
    }

    /// Flushes the file.
    ///
    /// # Errors
    /// The first failed write, now or earlier. The record is incomplete in that case.
    pub fn finish(&self) -> io::Result<()> {
        match &mut *self.lock() {
            Sink::Nowhere | Sink::Memory(_) => Ok(()),
            Sink::File { writer, failed } => match failed.take() {
                Some(error) => Err(error),
                None => writer.flush().and_then(|()| writer.get_ref().sync_all()),
            },
        }
    }

    fn lock(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
