//! NVIDIA GPUs, read through `nvidia-smi`, because a static program cannot load the driver's
//! library.
//!
//! A tool that is missing, fails to start or times out is not used again.

use std::{
    env,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use link_platform::{
    fs,
    process::{self, Answer, Call},
};
use link_protocol::system::GpuUsage;

/// The tool's timeout.
const LIMIT: Duration = Duration::from_secs(5);

/// The folder of the tool in the Windows Subsystem for Linux, which is not always on PATH.
const WITHIN_WINDOWS: &str = "/usr/lib/wsl/lib";

const FIELDS: &str = "--query-gpu=name,utilization.gpu,memory.used,memory.total,temperature.gpu";
const FORMAT: &str = "--format=csv,noheader,nounits";

/// The `nvidia-smi` tool.
#[derive(Debug)]
pub(crate) struct Nvidia {
    program: PathBuf,
    limit: Duration,
}

impl Nvidia {
    /// Finds the tool; `path` is the variable PATH, of which only absolute folders count.
    pub(crate) fn find(path: Option<&OsStr>) -> Option<Self> {
        let name = format!("nvidia-smi{}", env::consts::EXE_SUFFIX);
        env::split_paths(path.unwrap_or_default())
            .chain([PathBuf::from(WITHIN_WINDOWS)])
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(&name))
            .find(|program| fs::is_executable(program))
            .map(|program| Self { program, limit: LIMIT })
    }

    /// Runs the tool. Also returns the tool itself if it can be used again.
    pub(crate) async fn ask(self) -> (Vec<GpuUsage>, Option<Self>) {
        let Self { program, limit } = &self;
        let args = vec![FIELDS.into(), FORMAT.into()];
        let call = Call { program: program.clone(), args, env: None, limit: *limit };
        let answer = tokio::task::spawn_blocking(move || process::call(&call)).await;
        match answer.unwrap_or_else(|error| Err(io::Error::other(error))) {
            Ok(Answer { success: true, stdout, .. }) => (parse(&stdout), Some(self)),
            // The driver may be unavailable for a while, for example during its update.
            Ok(_) => (Vec::new(), Some(self)),
            Err(error) => {
                self.warn_unusable(&error);
                (Vec::new(), None)
            }
        }
    }

    fn warn_unusable(&self, error: &io::Error) {
        let program: &Path = &self.program;
        tracing::warn!("`{}` is not used to query GPUs again: {error}", program.display());
    }
}

/// Parses one line for each GPU and leaves out unknown values such as `[N/A]`.
fn parse(table: &str) -> Vec<GpuUsage> {
    table.lines().filter_map(gpu).collect()
}

fn gpu(line: &str) -> Option<GpuUsage> {
    let mut from_the_end = line.rsplitn(5, ',').map(str::trim);
    let temperature_celsius = number(from_the_end.next()?);
    let memory_total_bytes = mebibytes(from_the_end.next()?);
    let memory_used_bytes = mebibytes(from_the_end.next()?);
    let utilisation_percent = number(from_the_end.next()?);
    let name = from_the_end.next()?.to_owned();
    Some(GpuUsage {
        name,
        utilisation_percent,
        memory_used_bytes,
        memory_total_bytes,
        temperature_celsius,
    })
}

fn number(field: &str) -> Option<f64> {
    field.parse().ok().filter(|number: &f64| number.is_finite())
}

fn mebibytes(field: &str) -> Option<u64> {
    field.parse::<u64>().ok().and_then(|count| count.checked_mul(1 << 20))
}

#[cfg(test)]
mod tests;
