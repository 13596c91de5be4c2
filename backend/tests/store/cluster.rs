//! A private PostgreSQL server in a temporary folder, on a Unix socket, with a password. Dropping the value ends the
//! server and deletes the folder. The server also ends when the test is killed.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "starts, awaits and ends a server, and says when it cannot"
)]

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tempfile::TempDir;

/// Set if PostgreSQL must be installed and all tests must run on it.
pub(crate) const REQUIRED: &str = "LINK_TEST_POSTGRES";

const USER: &str = "link";
const PASSWORD: &str = "correct-horse";
const START_DEADLINE: Duration = Duration::from_secs(60);

/// A running server.
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: TempDir,
    server: Option<Child>,
}

/// A database of a server. Dropping the value drops the database and closes its connections.
pub(crate) struct Database {
    /// The URL of the database `postgres` on the same server.
    server: String,
    name: String,
}

impl Cluster {
    /// Starts a server. Returns `None` if PostgreSQL is neither installed nor required.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            assert!(!required(), "{REQUIRED} is set; install PostgreSQL: scripts/prepare postgres");
            eprintln!(
                "skipped: PostgreSQL is not installed; `scripts/prepare postgres` installs it"
            );
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        if is_root() {
            ran(Command::new("chown").arg("postgres").arg(folder.path()));
        }
        let password = folder.path().join("password");
        fs::write(&password, PASSWORD).unwrap();
        let mut cluster = Self { programs, folder, server: None };
        ran(cluster
            .program("initdb")
            .args(["--no-sync", "--encoding=UTF8", "--locale=C", "--auth=password"])
            .arg(format!("--username={USER}"))
            .arg(format!("--pwfile={}", password.display()))
            .arg(cluster.data()));
        cluster.resume();
        Some(cluster)
    }

    /// Restarts the server after it ended.
    pub(crate) fn resume(&mut self) {
        let log = fs::File::create(self.folder.path().join("log")).unwrap();
        let server = self
            .program("postgres")
            .arg("-D")
            .arg(self.data())
            .args(["-c", "listen_addresses=", "-c", "max_wal_size=256MB"])
            .args(["-c", "max_connections=200", "-c", "shared_buffers=32MB"])
            // The machine does not crash, so the operating system keeps the writes of a killed server.
            .args(["-c", "fsync=off", "-c", "full_page_writes=off"])
            .arg("-c")
            .arg(format!("unix_socket_directories={}", self.folder.path().display()))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.server = Some(server);
        let since = Instant::now();
        while !self.answers() {
            let ended = self.server.as_mut().unwrap().try_wait().unwrap();
            assert!(ended.is_none() && since.elapsed() < START_DEADLINE, "{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the server: `INT` shuts it down, `KILL` crashes it.
    pub(crate) fn end(&mut self, signal: &str) {
        if let Some(mut server) = self.server.take() {
            ran(Command::new("kill").arg(format!("-{signal}")).arg(server.id().to_string()));
            server.wait().unwrap();
            self.wait_for_the_last_process();
        }
    }

    /// Waits for the remaining processes of a killed server. Until the last one has ended, a new server finds their
    /// shared memory and does not start.
    fn wait_for_the_last_process(&self) {
        let data = fs::canonicalize(self.data()).unwrap();
        let is_of_it = |process: fs::DirEntry| {
            fs::read_link(process.path().join("cwd")).is_ok_and(|folder| folder == data)
        };
        let since = Instant::now();
        while fs::read_dir("/proc").unwrap().flatten().any(is_of_it) {
            assert!(since.elapsed() < START_DEADLINE, "processes of the server are left");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the URL of the database `postgres`.
    pub(crate) fn url(&self) -> String {
        let socket = self.folder.path().display();
        format!("postgres://{USER}:{PASSWORD}@localhost/postgres?host={socket}")
    }

    fn answers(&self) -> bool {
        let status =
            self.program("pg_isready").arg("-q").arg("-h").arg(self.folder.path()).status();
        status.is_ok_and(|status| status.success())
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Returns a command for a PostgreSQL program. It does not run as root, and ends with this test.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "QUIT"]).env_clear().env("PATH", "/usr/bin:/bin");
        if is_root() {
            command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]);
        }
        command.arg(self.programs.join(name)).current_dir("/").stdin(Stdio::null());
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            // SIGQUIT ends the server at once. Its data is not needed any more.
            drop(Command::new("kill").arg("-QUIT").arg(server.id().to_string()).status());
            drop(server.wait());
        }
    }
}

impl Database {
    /// Creates a database on the server with the URL `server`.
    pub(crate) async fn create(server: &str) -> Self {
        let name = format!("link_{}", uuid::Uuid::now_v7().simple());
        Self::administer(server, format!("CREATE DATABASE {name}")).await;
        Self { server: server.to_owned(), name }
    }

    /// Returns the URL of the database.
    pub(crate) fn url(&self) -> String {
        self.server.replacen("/postgres?", &format!("/{}?", self.name), 1)
    }

    async fn administer(server: &str, statement: String) {
        let mut connection = PgConnection::connect(server).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let server = self.server.clone();
        let statement = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        // Uses its own runtime, because the value may be dropped on the runtime of the test.
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(Self::administer(&server, statement));
        });
        thread.join().unwrap();
    }
}

pub(crate) fn required() -> bool {
    std::env::var_os(REQUIRED).is_some_and(|value| value == "1")
}

/// Returns the folder of PostgreSQL's programs: Debian's newest, or that of `initdb` on PATH.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path())))
        .max();
    let debian = newest.map(|(_, folder)| folder.join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    debian.into_iter().chain(std::env::split_paths(&path)).find(|it| it.join("initdb").exists())
}

fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0
}

fn ran(command: &mut Command) -> ExitStatus {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {said}", command.get_program());
    output.status
}
