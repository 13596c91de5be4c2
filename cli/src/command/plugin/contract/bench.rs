//! The engine under test: its process, where it listens, and the files around it.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "IO shell: the process and the files of the test"
)]

use std::{
    collections::BTreeMap,
    io::Read as _,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use link_client::{
    containment::{self, Starting},
    engine::{self, Ask, Place},
    local::proof,
};
use link_platform::{
    contain::{self, Contained, End, Look, Rules},
    fs::{self, FileError},
    private_socket,
    process::Program,
};
use link_protocol::{
    plugin::{ListensOn, Manifest, Method, Value, Values},
    secret::Secret,
    task::Task,
};

use super::TICK;

/// The name that the sample model has for clients.
const ALIAS: &str = "sample";
/// The length of the end of the log that is read, in bytes.
const LOG_END: u64 = 256 * 1024;
/// The number of log lines that a message quotes.
const LAST_LINES: usize = 3;
/// The most files of a folder that are compared.
const MOST: usize = 1024;

/// What is tested.
#[derive(Debug)]
pub(in crate::command::plugin) struct Setup<'a> {
    pub(in crate::command::plugin) manifest: &'a Manifest,
    /// The folder of the plugin.
    pub(in crate::command::plugin) folder: &'a Path,
    pub(in crate::command::plugin) program: PathBuf,
    pub(in crate::command::plugin) model: PathBuf,
    pub(in crate::command::plugin) task: Option<Task>,
    pub(in crate::command::plugin) settings: BTreeMap<String, Value>,
    pub(in crate::command::plugin) samples: Vec<Sample>,
    /// A private folder for the files of the test.
    pub(in crate::command::plugin) work: PathBuf,
    /// How long the engine may take until it is healthy.
    pub(in crate::command::plugin) patience: Duration,
}

/// A request that the engine answers with 200.
#[derive(Clone, Debug)]
pub(in crate::command::plugin) struct Sample {
    pub(in crate::command::plugin) method: Method,
    /// The path for clients.
    pub(in crate::command::plugin) path: String,
    /// The path at which the engine answers.
    pub(in crate::command::plugin) target: String,
    pub(in crate::command::plugin) content_type: String,
    pub(in crate::command::plugin) body: Vec<u8>,
    pub(in crate::command::plugin) metered: bool,
}

/// An engine under test.
#[derive(Debug)]
pub(in crate::command::plugin) struct Bench<'a> {
    setup: Setup<'a>,
    place: Place,
    base_path: String,
    secret: Secret,
    process: Option<Contained>,
    /// The files of the plugin's folder before the test.
    before: BTreeMap<PathBuf, Stamp>,
}

/// The size and the time of the last change of a file.
type Stamp = (u64, Option<SystemTime>);

impl<'a> Bench<'a> {
    /// Prepares the files. Nothing runs yet. `port` is free, for an engine that listens on no socket.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(in crate::command::plugin) fn new(
        mut setup: Setup<'a>,
        port: u16,
    ) -> Result<Self, FileError> {
        // The engine starts in another folder.
        for path in [&mut setup.program, &mut setup.model, &mut setup.work] {
            if let Ok(absolute) = std::path::absolute(&*path) {
                *path = absolute;
            }
        }
        let (run, temporary) = (setup.work.join("run"), setup.work.join("tmp"));
        for folder in [&setup.work, &run, &temporary] {
            fs::create_private_dir(folder)?;
        }
        let socket = run.join("engine.sock");
        let takes_sockets = setup.manifest.adapter.launch.listens_on == ListensOn::Socket;
        let place = if takes_sockets && private_socket::can_stand_at(&socket) {
            Place::Socket(socket)
        } else {
            Place::Port(port)
        };
        let secret = Secret::new(proof::nonce());
        fs::write_private(&run.join("secret"), secret.expose().as_bytes())?;
        let base_path = match setup.manifest.adapter.launch.has_base_path() {
            true => format!("/{}", proof::nonce()),
            false => String::new(),
        };
        for sample in &mut setup.samples {
            sample.target.insert_str(0, &base_path);
        }
        let before = stamps(setup.folder);
        Ok(Self { setup, place, base_path, secret, process: None, before })
    }

    pub(super) fn manifest(&self) -> &Manifest {
        self.setup.manifest
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    pub(super) fn secret(&self) -> &Secret {
        &self.secret
    }

    pub(super) fn samples(&self) -> &[Sample] {
        &self.setup.samples
    }

    /// Returns the path of the engine below which `path` lies.
    pub(super) fn below(&self, path: &str) -> String {
        format!("{}{path}", self.base_path)
    }

    /// Checks that the sample model has the format of the plugin's models.
    pub(super) fn takes_the_model(&self) -> Result<(), String> {
        let files = &self.setup.manifest.adapter.model;
        let mut head = Vec::new();
        std::fs::File::open(&self.setup.model)
            .and_then(|file| file.take(files.head_len()).read_to_end(&mut head))
            .map_err(|error| format!("`{}` cannot be read: {error}", self.setup.model.display()))?;
        if files.fits(&head) {
            return Ok(());
        }
        Err(format!("`{}` is no {}", self.setup.model.display(), files.format))
    }

    /// Starts the engine unless it runs, and waits until it is healthy.
    pub(super) async fn run(&mut self) -> Result<(), String> {
        if self.process.is_some() && self.ended().is_none() {
            return Ok(());
        }
        if let Place::Socket(path) = &self.place {
            fs::remove_file(path).map_err(|error| error.to_string())?;
        }
        self.process = None;
        let program = self.program();
        let path = program.path.display().to_string();
        let supervisor = contain::supervisor();
        let process = Contained::start(supervisor.as_deref(), &program, &self.rules());
        let process = process.map_err(|error| format!("`{path}` cannot be started: {error}"))?;
        self.process = Some(process);
        let deadline = Instant::now() + self.setup.patience;
        let health = self.below(&self.setup.manifest.adapter.health.path);
        let mut last = "it does not answer".to_owned();
        while Instant::now() < deadline {
            if let Some(how) = self.ended() {
                return Err(how);
            }
            let ask = Ask::get(&health, None);
            match engine::ask(&self.place, ask, Duration::from_secs(2)).await {
                Ok(told) if told.status == 200 => return Ok(()),
                Ok(told) => last = format!("`{health}` answers {}", told.status),
                Err(_silent) => {}
            }
            tokio::time::sleep(TICK).await;
        }
        self.kill();
        let seconds = self.setup.patience.as_secs();
        Err(format!("the engine was not healthy within {seconds} s: {last}"))
    }

    /// Returns how the engine ended, if it has been started and has ended.
    pub(super) fn ended(&mut self) -> Option<String> {
        let end = match self.process.as_mut()?.look().ok()? {
            Look::Runs => return None,
            Look::Ended(end) => end,
        };
        let status = match end {
            End { reason: Some(reason), .. } => reason,
            End { how, reason: None } => how,
        };
        let log = self.log();
        let lines: Vec<&str> =
            log.lines().map(contain::without_time).filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("; ");
        let last = last.replace(self.secret.expose(), "[the secret]");
        let last = if last.is_empty() { last } else { format!(": {last}") };
        Some(format!("the engine ended ({status}){last}"))
    }

    /// Asks the engine to end.
    pub(super) fn terminate(&mut self) {
        if let Some(process) = &mut self.process {
            process.terminate();
        }
    }

    pub(super) fn kill(&mut self) {
        self.process = None;
    }

    /// Returns the end of what the engine printed.
    pub(super) fn log(&self) -> String {
        fs::read_end(&self.log_file(), LOG_END).unwrap_or_default()
    }

    /// Checks that the engine left no file behind.
    pub(super) fn left_files(&mut self) -> Result<(), String> {
        self.kill();
        let own = ["secret", "engine.sock"];
        for (folder, known) in [("run", &own[..]), ("tmp", &own[..0])] {
            let left = stamps(&self.setup.work.join(folder)).into_keys().find(|path| {
                let name = path.file_name().unwrap_or_default();
                !known.iter().any(|known| name == *known)
            });
            if let Some(left) = left {
                let name = left.file_name().unwrap_or_default().display().to_string();
                let place = if folder == "tmp" { "TMPDIR" } else { "the folder of its socket" };
                return Err(format!("the engine leaves `{name}` in {place}"));
            }
        }
        let after = stamps(self.setup.folder);
        let changed = after.iter().find(|(path, stamp)| self.before.get(*path) != Some(*stamp));
        let gone = self.before.keys().find(|path| !after.contains_key(*path));
        match changed.map(|(path, _)| path).or(gone) {
            Some(path) => Err(format!("the engine changes `{}`", path.display())),
            None => Ok(()),
        }
    }

    fn program(&self) -> Program {
        let Setup { manifest, program, model, task, settings, work, .. } = &self.setup;
        let launch = &manifest.adapter.launch;
        let mut values = Values {
            paths: [("model", model.clone()), ("secret_file", work.join("run/secret"))].into(),
            texts: [("alias", ALIAS.to_owned()), ("base_path", self.base_path.clone())].into(),
            settings: settings.clone(),
            task: *task,
        };
        if let Some(folder) = program.parent() {
            values.paths.insert("folder", folder.to_owned());
        }
        match &self.place {
            Place::Socket(path) => drop(values.paths.insert("socket", path.clone())),
            Place::Port(port) => drop(values.texts.insert("port", port.to_string())),
        }
        let mut env = launch.environment(&values);
        env.extend(containment::environment(&work.join("tmp")));
        let (path, args) = (program.clone(), launch.arguments(&values));
        Program { path, args, env, log: Some(self.log_file()) }
    }

    /// Returns the rules under which the agent would run the engine.
    fn rules(&self) -> Rules {
        let Setup { program, model, work, .. } = &self.setup;
        let starting = Starting {
            executable: program,
            model,
            model_bytes: fs::size(model).unwrap_or_default(),
            folder: &work.join("run"),
            work: &work.join("tmp"),
            port: match &self.place {
                Place::Socket(_) => None,
                Place::Port(port) => Some(*port),
            },
        };
        starting.rules(None)
    }

    fn log_file(&self) -> PathBuf {
        self.setup.work.join("engine.log")
    }

    /// Ends the engine, and deletes the files of the test.
    ///
    /// # Errors
    /// If the folder cannot be deleted.
    pub(super) fn close(mut self) -> Result<(), FileError> {
        self.kill();
        fs::remove_dir(&self.setup.work)
    }
}

impl Sample {
    /// Returns the request as the engine gets it.
    pub(super) fn ask<'a>(&'a self, secret: Option<&'a Secret>) -> Ask<'a> {
        let Self { method, target, content_type, body, .. } = self;
        Ask { method: *method, path: target, secret, content_type, body: body.clone() }
    }
}

/// Returns the files in a folder, with the time of their last change.
fn stamps(folder: &Path) -> BTreeMap<PathBuf, Stamp> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    let stamp = |entry: std::fs::DirEntry| {
        let found = entry.metadata().ok()?;
        Some((entry.path(), (found.len(), found.modified().ok())))
    };
    entries.filter_map(stamp).collect()
}
