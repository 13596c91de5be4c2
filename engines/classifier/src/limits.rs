//! The bounds of a classifier: what a client may send, how long a step may take, what a model may hold.

use std::time::Duration;

/// Bytes of one request's body.
pub const BODY_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of all bodies that are being received or wait for their inference.
pub const WAITING_BODY_BYTES: usize = 256 * 1024 * 1024;
/// Requests that wait for the inference in progress.
pub const WAITING_REQUESTS: usize = 64;
/// Open connections. Further connections wait until one is closed.
pub const CONNECTIONS: usize = 256;
/// Parts of a multipart form.
pub const FORM_PARTS: usize = 16;
/// Bytes of a form's part that is not the file.
pub const FORM_FIELD_BYTES: usize = 1024;

/// The time for the head of a request.
pub const HEADER_DEADLINE: Duration = Duration::from_secs(10);
/// The time for the body of a request.
pub const BODY_DEADLINE: Duration = Duration::from_secs(60);
/// The time for one inference, from its start.
pub const INFERENCE_DEADLINE: Duration = Duration::from_secs(60);
/// The time between the termination signal and the end of the process.
pub const SHUTDOWN_DEADLINE: Duration = Duration::from_millis(4_500);

/// Bytes of the network of a model.
pub const MODEL_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Bytes of `model.json`, of `labels.txt`, and of any other file beside the network.
pub const SIDE_FILE_BYTES: u64 = 1024 * 1024;
/// Entries of a model's archive.
pub const ARCHIVE_ENTRIES: usize = 16;
/// Bytes of the file with the secret.
pub const KEY_FILE_BYTES: u64 = 4096;

/// Labels of a model.
pub const LABELS: usize = 100_000;
/// Characters of a label.
pub const LABEL_CHARACTERS: usize = 200;
