//! Reads the description of a model file on this machine, before the file is sent or served.

#![expect(clippy::disallowed_types, reason = "IO shell: reads the beginning of the file")]

use std::{io, path::Path};

use link_protocol::{
    backend_api::model::ModelFacts,
    gguf::{Inspection, NotAModel},
};
use tokio::io::AsyncReadExt as _;

/// The size of one read, in bytes.
const CHUNK: usize = 64 * 1024;

/// Reads the model's description at the start of the file at `path`.
///
/// # Errors
/// If the file cannot be read.
pub async fn look(path: &Path) -> io::Result<Result<ModelFacts, NotAModel>> {
    let mut file = tokio::fs::File::open(path).await?;
    let size_bytes = file.metadata().await?.len();
    let (mut inspection, mut buffer) = (Inspection::default(), vec![0; CHUNK]);
    loop {
        let read = file.read(&mut buffer).await?;
        if read == 0 || !inspection.push(&buffer[..read]) {
            return Ok(inspection.finish(size_bytes));
        }
    }
}
