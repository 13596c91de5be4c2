//! Reads the sources of a configuration: the file, the environment, the flags and the files with secrets.

use std::{
    collections::BTreeMap,
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use link_platform::fs;
use link_protocol::secret::Secret;

use crate::config::{
    Config,
    client_address::ClientAddress,
    fault::{CONTENT_SECRET_KEY, DATABASE_URL, Fault, PREFIX, Place, Unusable, variable},
    file::ConfigFile,
    layers::{self, Flag, Given},
};
use crate::content::Home;

/// The variable with the path of the configuration file.
const FILE_VARIABLE: &str = "LINK_BACKEND_CONFIG";
/// The system-wide configuration file.
const SYSTEM_FILE: &str = "/etc/link-backend/backend.toml";
/// The size limit of a file, in bytes.
const SIZE_LIMIT: u64 = 1024 * 1024;

/// A loaded configuration.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration file, if one was read.
    pub path: Option<PathBuf>,
    pub values: ConfigFile,
    /// The source of each key's value.
    pub places: BTreeMap<String, Place>,
    /// The URL of the database, unless the database is a file in the data folder.
    pub database_url: Option<Secret>,
    /// The location of model files.
    pub content: Home,
}

/// A configuration could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The configuration has faults.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// The given file cannot be read.
    #[error("failed to read the configuration")]
    Read(#[source] fs::FileError),
}

impl Loaded {
    /// Reads the file `named`, and merges it with the environment and `flags`. Without `named` and without a data
    /// folder, reads the default file.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn read(
        named: Option<PathBuf>,
        flags: Vec<(&'static str, Flag)>,
    ) -> Result<Self, LoadError> {
        let environment: BTreeMap<String, String> =
            std::env::vars_os().filter_map(|(name, value)| text_pair(name, value)).collect();
        let named = named.or_else(|| environment.get(FILE_VARIABLE).map(PathBuf::from));
        let has_data = flags.iter().any(|(key, _)| *key == "data")
            || environment.contains_key(&variable("data"));
        let path = named.or_else(|| if has_data { None } else { usual_file(&environment) });
        let file = match path.clone() {
            Some(path) => {
                let text = fs::read_limited(&path, SIZE_LIMIT).map_err(LoadError::Read)?;
                Some((path, text))
            }
            None => None,
        };
        let given = Given { file, environment, flags };
        let mut joined = layers::join(&given)?;
        if let Some(folder) = path.as_deref().and_then(Path::parent) {
            start_at(folder, &mut joined.values, &joined.places);
        }
        let unusable = |faults| Unusable { file: path.clone(), faults };
        let values = &joined.values;
        let url_file = ("database.url_file", values.database.url_file.as_deref());
        let database_url = secret(DATABASE_URL, url_file, &given.environment, &mut joined.places)
            .map_err(|fault| unusable(vec![fault]))?;
        let key_file = ("content.secret_key_file", values.content.secret_key_file.as_deref());
        let key = secret(CONTENT_SECRET_KEY, key_file, &given.environment, &mut joined.places)
            .map_err(|fault| unusable(vec![fault]))?;
        let content = values.content.home(key, &joined.places).map_err(unusable)?;
        Ok(Self { path, values: joined.values, places: joined.places, database_url, content })
    }

    /// Returns the data folder.
    ///
    /// # Errors
    /// [`Unusable`] if no data folder is configured.
    pub fn data(&self) -> Result<&Path, Unusable> {
        self.values.data.as_deref().ok_or_else(|| Unusable {
            file: self.path.clone(),
            faults: vec![Fault {
                key: "data".to_owned(),
                place: Place::Default,
                said:
                    "which folder holds everything? Give --data DIR or LINK_BACKEND_DATA, or set \
                       `data` in a configuration file"
                        .to_owned(),
            }],
        })
    }

    /// Returns the settings of a backend.
    ///
    /// # Errors
    /// [`Unusable`] if no data folder is configured, or if the owner's proof is a file although other machines can
    /// reach the address.
    pub fn config(&self) -> Result<Config, Unusable> {
        let behind_proxy = self.values.client_address == ClientAddress::Forwarded;
        let owner_proof = self.values.owner_proof;
        if let Some(said) = owner_proof.objection(self.values.listen, behind_proxy) {
            let key = "owner_proof".to_owned();
            let place = self.places.get(&key).cloned().unwrap_or(Place::Default);
            let faults = vec![Fault { key, place, said }];
            return Err(Unusable { file: self.path.clone(), faults });
        }
        let mut config = Config::new(self.data()?.to_owned());
        config.public_url.clone_from(&self.values.public_url);
        config.workspace_url.clone_from(&self.values.workspace_url);
        config.allowed_origins.clone_from(&self.values.allowed_origins);
        config.sharing = self.values.sharing.sharing();
        config.device_limit = self.values.device_limit;
        config.quota = self.values.quota.quota();
        config.disk_reserve = self.values.content.reserve_bytes();
        config.behind_proxy = behind_proxy;
        config.owner_proof = owner_proof;
        config.telemetry_kept = self.values.retention.telemetry_rows;
        config.logs_kept = self.values.retention.log_rows;
        config.retention = self.values.retention.kept();
        config.operation_rate = self.values.operations.devices_per_second;
        config.database_url.clone_from(&self.database_url);
        config.content.clone_from(&self.content);
        Ok(config)
    }
}

fn text_pair(name: std::ffi::OsString, value: std::ffi::OsString) -> Option<(String, String)> {
    let name = name.into_string().ok()?;
    let is_ours = name.starts_with(PREFIX) || name == "HOME" || name == "XDG_CONFIG_HOME";
    // A variable that is not valid text becomes a fault when it is parsed.
    is_ours.then(|| (name, value.to_string_lossy().into_owned()))
}

/// Returns the path of the user's configuration file, or of the system-wide one.
fn usual_file(environment: &BTreeMap<String, String>) -> Option<PathBuf> {
    let absolute =
        |name: &str| environment.get(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let folder =
        absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    let users = folder.map(|folder| folder.join("link-backend/backend.toml"));
    users.into_iter().chain([PathBuf::from(SYSTEM_FILE)]).find(|path| path.is_file())
}

/// Resolves relative paths in the file against the file's folder instead of the working folder.
fn start_at(folder: &Path, values: &mut ConfigFile, places: &BTreeMap<String, Place>) {
    let paths = [
        ("data", &mut values.data),
        ("address_file", &mut values.address_file),
        ("database.url_file", &mut values.database.url_file),
        ("content.secret_key_file", &mut values.content.secret_key_file),
        ("zenoh.files", &mut values.zenoh.files),
        ("zenoh.certificate_file", &mut values.zenoh.certificate_file),
        ("zenoh.key_file", &mut values.zenoh.key_file),
        ("zenoh.authority_file", &mut values.zenoh.authority_file),
    ];
    for (key, path) in paths {
        if places.get(key) == Some(&Place::File)
            && let Some(path) = path
        {
            *path = folder.join(&path);
        }
    }
}

/// Returns the secret `key`, from the environment or from the first line of the file that another key names.
fn secret(
    key: &str,
    (file_key, file): (&str, Option<&Path>),
    environment: &BTreeMap<String, String>,
    places: &mut BTreeMap<String, Place>,
) -> Result<Option<Secret>, Fault> {
    let name = variable(key);
    if let Some(text) = environment.get(&name).filter(|text| !text.is_empty()) {
        places.insert(key.to_owned(), Place::Environment(name));
        return Ok(Some(Secret::new(text)));
    }
    let Some(file) = file else { return Ok(None) };
    secret_file(file).map(Some).map_err(|said| Fault {
        key: file_key.to_owned(),
        place: places.get(file_key).cloned().unwrap_or(Place::Default),
        said,
    })
}

/// Reads the first line of a private file. Refuses a file that others can read.
fn secret_file(path: &Path) -> Result<Secret, String> {
    let shown = path.display();
    let read = |error: io::Error| format!("cannot read `{shown}`: {error}");
    let mode = std::fs::metadata(path).map_err(read)?.permissions().mode();
    if mode & 0o007 != 0 {
        return Err(format!(
            "everybody on this machine may read `{shown}`: run `chmod 600 {shown}`, and change the \
             password if others have an account here"
        ));
    }
    let text = fs::read_limited(path, SIZE_LIMIT)
        .map_err(|error| format!("cannot read `{shown}`: {error}"))?;
    match text.lines().next().map(str::trim) {
        Some(line) if !line.is_empty() => Ok(Secret::new(line)),
        Some(_) | None => Err(format!("`{shown}` is empty")),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "makes the files that are read")]
mod tests {
    use super::*;

    fn written(mode: u32, text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("url");
        fs::write_private(&path, text.as_bytes()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    #[test]
    fn a_secret_that_everybody_can_read_is_refused_with_what_to_do() {
        let (_folder, path) = written(0o644, "postgres://ada:hunter2@db/link\n");
        let said = secret_file(&path).unwrap_err();
        assert!(said.contains("chmod 600") && !said.contains("hunter2"), "{said}");
        let (_folder, path) = written(0o640, "postgres://ada:hunter2@db/link\n");
        assert_eq!(secret_file(&path).unwrap().expose(), "postgres://ada:hunter2@db/link");
        let (_folder, path) = written(0o600, "\n");
        assert!(secret_file(&path).unwrap_err().contains("is empty"));
    }
}
