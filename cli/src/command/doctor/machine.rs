//! Looks at the ports, the disk, the descriptors and the memory.

use std::{
    net::{Ipv4Addr, TcpStream},
    path::{Path, PathBuf},
    time::Duration,
};

use link_client::model_file;
use link_platform::{disk, memory, port_owner, process_view};
use link_protocol::report::ModelState;

use super::Seen;
use crate::{
    context::Context,
    doctor::{
        machine::Machine,
        ports::{Holder, ModelPort, Ports},
    },
    error::CliError,
};

/// How long a port may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) fn ports(context: &Context, seen: &Seen) -> Result<Ports, CliError> {
    let agent = seen.agent;
    let model_id = |pipeline| {
        let health = seen.health.as_ref()?;
        let model = health.models.iter().find(|model| model.pipeline_id == pipeline)?;
        Some(model.model_id.to_string())
    };
    let models = seen.pipelines.iter().map(|entry| ModelPort {
        alias: entry.alias.to_string(),
        model_id: model_id(entry.pipeline_id).unwrap_or_else(|| entry.alias.to_string()),
        port: entry.port.get(),
        is_serving: entry.is_serving,
        holder: holder(entry.port.get(), agent),
    });
    let local_wanted = context.local_port()?;
    Ok(Ports {
        local_wanted,
        local: seen.port,
        local_holder: holder(local_wanted, agent),
        models: models.collect(),
    })
}

fn holder(port: u16, agent: Option<u32>) -> Holder {
    match port_owner::find(port) {
        Some(owner) if Some(owner.pid) == agent => Holder::Agent,
        Some(owner) => Holder::Process { pid: owner.pid, program: owner.program },
        None => match port_owner::user_of(port) {
            Some(user) => Holder::User(user),
            None if answers(port) => Holder::Unknown,
            None => Holder::Nobody,
        },
    }
}

fn answers(port: u16) -> bool {
    TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), CONNECT_TIMEOUT).is_ok()
}

pub(super) async fn look(context: &Context, seen: &Seen) -> Machine {
    let roots = &context.roots;
    let mut free: Vec<(PathBuf, Option<u64>)> = Vec::new();
    let mut file_systems = Vec::new();
    for place in [&roots.data, &roots.state] {
        let file_system = disk::file_system(existing(place));
        // Places on one file system have the same space, which is shown once.
        if !file_systems.contains(&file_system) {
            file_systems.push(file_system);
            free.push((place.clone(), disk::free_bytes(existing(place)).ok().flatten()));
        }
    }
    let pid = seen.agent.unwrap_or_else(std::process::id);
    let mut models = Vec::new();
    let health = seen.health.iter().flat_map(|health| &health.models);
    for model in health.filter(|model| model.state == ModelState::Serving) {
        let folder = roots.models().join(model.model_id.to_string());
        if let Some(bytes) = memory_of(&folder).await {
            models.push((model.alias.to_string(), bytes));
        }
    }
    Machine {
        free,
        descriptors: process_view::descriptor_limit(pid),
        memory: memory::total_bytes(),
        models,
    }
}

/// Returns the nearest folder above `path` that exists.
fn existing(path: &Path) -> &Path {
    path.ancestors().find(|folder| folder.is_dir()).unwrap_or(path)
}

/// Returns the memory that the newest file in the folder of a model needs. Of a file that is no GGUF, that is its size: an
/// engine needs at least the model itself.
async fn memory_of(folder: &Path) -> Option<u64> {
    let mut versions = tokio::fs::read_dir(folder).await.ok()?;
    let mut newest = None;
    while let Ok(Some(version)) = versions.next_entry().await {
        let Ok(mut files) = tokio::fs::read_dir(version.path()).await else { continue };
        while let Ok(Some(file)) = files.next_entry().await {
            let changed = file.metadata().await.ok().and_then(|file| file.modified().ok());
            newest = newest.max(Some((changed, file.path())));
        }
    }
    let (_, path) = newest?;
    match model_file::look(&path).await {
        Ok(Ok(facts)) => Some(facts.memory_bytes),
        Ok(Err(_)) | Err(_) => Some(tokio::fs::metadata(&path).await.ok()?.len()),
    }
}
