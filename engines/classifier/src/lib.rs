//! What the classifiers of Link share: the command line, the file of a model, the HTTP server, and ONNX Runtime.
//!
//! An engine program is `fn main() { run::<ItsClassifier>() }`. The contract of all of them:
//!
//! ```text
//! PROGRAM --model FILE --alias NAME --api-key-file FILE (--socket PATH | --host 127.0.0.1 --port N)
//!         [--threads N] [--runtime FILE]
//! ```
//!
//! | request | answer |
//! |---|---|
//! | `GET /health` | 200 `{"status":"ok"}` once the model is loaded, before that 503 `{"status":"loading"}` |
//! | `GET /props` | 200 `{"alias":"mine","labels":4,"build":"1.3.0"}`; needs the secret |
//! | `POST` to the classifier's path | 200 with the classification; needs the secret |
//!
//! - The secret is the only line of the file of `--api-key-file`, sent as `Authorization: Bearer SECRET`. Everything
//!   except `/health` is 401 without it.
//! - A body is the file itself, whatever its `Content-Type`, or `multipart/form-data` with a part `file` (or `image`).
//!   `top_k`, as a part or in the query, is how many labels the answer has: 5 by default, from 1, at most all. A part
//!   `model` is ignored: an engine serves one model.
//! - One inference runs at a time, 64 requests wait, and the bodies of waiting requests have 256 MiB. Beyond that the
//!   answer is 503 with `Retry-After: 1`.
//! - A body has at most 32 MiB: 413 before a byte is read if its length says so, 411 without a length.
//! - 10 s for a request's head, 60 s for its body (408), 60 s for its inference (504), which is then aborted, as it is
//!   when the client leaves.
//! - 415 with the known formats for a file of another format, 422 for a damaged file, 413 for one that exceeds a bound.
//! - Failures have OpenAI's shape: `{"error":{"message":"...","type":"invalid_request_error","code":"...","param":null}}`.
//! - SIGTERM: no new connections, the socket is removed, the inference in progress ends, exit code 0 within 5 s. A model
//!   that cannot be loaded ends the program with exit code 1 and the reason on stderr.
//!
//! A model is one file: see [`package`], and [`settings::image`] and [`settings::audio`] for its `model.json`.

#![forbid(unsafe_code)]

pub mod arguments;
pub mod classifier;
pub mod labels;
pub mod limits;
pub mod network;
pub mod package;
mod program;
pub mod refusal;
mod routes;
mod runtime;
pub mod scores;
pub mod secret;
pub mod settings;
pub mod upload;
mod worker;

pub use bytes::Bytes;
pub use program::run;
