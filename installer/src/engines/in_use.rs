//! The builds that are in use, of all engines.

#![expect(clippy::disallowed_methods, reason = "IO shell: lists the folders of the engines")]

use std::path::Path;

use link_platform::fs;
use link_protocol::{engine_index::is_build_name, system::EngineInUse};

use super::{CURRENT, ORIGIN, ORIGIN_LIMIT, Origin};

/// The size limit of the file that names the build in use, in bytes.
const NAME_LIMIT: u64 = 4096;

/// Returns the build in use of each engine in the folder of all engines, sorted by engine. An engine that cannot be
/// read is left out.
#[must_use]
pub fn in_use(engines: &Path) -> Vec<EngineInUse> {
    let folders = std::fs::read_dir(engines).into_iter().flatten().flatten();
    let mut found: Vec<_> = folders.filter_map(|folder| of_engine(&folder.path())).collect();
    found.sort_by(|one, other| one.engine.cmp(&other.engine));
    found
}

fn of_engine(folder: &Path) -> Option<EngineInUse> {
    let build = fs::read_limited(&folder.join(CURRENT), NAME_LIMIT).ok()?.trim().to_owned();
    let place = folder.join(&build);
    if !is_build_name(&build) || !place.is_dir() {
        return None;
    }
    let origin = fs::read_limited(&place.join(ORIGIN), ORIGIN_LIMIT).ok();
    let origin: Option<Origin> = origin.and_then(|text| serde_json::from_str(&text).ok());
    let engine = folder.file_name()?.to_string_lossy().into_owned();
    Some(EngineInUse { engine, build, why: origin.map(|origin| origin.why) })
}
