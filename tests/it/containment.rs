//! Engines that misbehave: none of their processes outlives them, and what they print is bounded.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use link_platform::{
    contain::{self, Access, Contained, End, Files, Look, Rules},
    process::Program,
};
use link_tests::program;

/// How long a slow machine may take for a step.
const PATIENCE: Duration = Duration::from_secs(60);

/// A hostile program and its files.
struct Stage {
    dir: tempfile::TempDir,
    contained: Contained,
}

impl Stage {
    fn start(script: &str, rules: &Rules) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let script = format!("cd {}\n{script}", dir.path().display());
        let program = Program {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            env: vec![("MARK".into(), dir.path().into())],
            log: Some(dir.path().join("log")),
        };
        let agent = program::path("link-agent");
        Self { contained: Contained::start(Some(&agent), &program, rules).unwrap(), dir }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Waits until the program has written a file, and returns what is in it.
    fn wait_for(&mut self, name: &str) -> String {
        let path = self.file(name);
        wait(|| {
            let _runs = self.contained.look().unwrap();
            std::fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'))
        })
    }

    fn end(&mut self) -> End {
        wait(|| match self.contained.look().unwrap() {
            Look::Runs => None,
            Look::Ended(end) => Some(end),
        })
    }

    /// Returns the processes that the program has started, at any depth.
    fn processes(&self) -> BTreeSet<u32> {
        marked(self.dir.path())
    }
}

/// Returns the processes with the mark of a stage in their environment, except the supervisor.
fn marked(mark: &Path) -> BTreeSet<u32> {
    let mark = format!("MARK={}\0", mark.display());
    let of = |entry: std::fs::DirEntry| {
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let words = std::fs::read(entry.path().join("cmdline")).ok()?;
        let is_marked = environment.windows(mark.len()).any(|text| text == mark.as_bytes());
        let supervises = words.split(|byte| *byte == 0).nth(1) == Some(b"contain");
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        (is_marked && !supervises).then_some(pid)
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(of).collect()
}

fn wait<T>(mut ready: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(Instant::now() < deadline, "nothing happened");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a grandchild in a session of its own, whose parent ends at once, and one that ignores SIGTERM.
const ESCAPE: &str = "
(setsid sh -c 'sleep 1000 & sleep 1000' &)
(trap '' TERM; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &)
";

#[test]
fn no_process_is_left_when_the_program_ends() {
    let mut stage = Stage::start(&format!("{ESCAPE} sleep 0.3; exit 3"), &Rules::default());
    let end = stage.end();
    assert_eq!(end, End { how: "exit status: 3".to_owned(), reason: None });
    assert_eq!(stage.processes(), BTreeSet::new());
}

#[test]
fn no_process_is_left_when_the_program_crashes() {
    let mut stage = Stage::start(&format!("{ESCAPE} sleep 0.3; kill -SEGV $$"), &Rules::default());
    let end = stage.end();
    assert!(end.how.starts_with("signal: 11"), "{end:?}");
    assert_eq!(stage.processes(), BTreeSet::new());
}

#[test]
fn no_process_is_left_when_the_program_is_stopped_or_killed() {
    for kill in [false, true] {
        let script = format!("{ESCAPE} echo yes > ready; sleep 1000");
        let mut stage = Stage::start(&script, &Rules::default());
        stage.wait_for("ready");
        wait(|| (stage.processes().len() >= 5).then_some(()));
        if kill {
            stage.contained.kill();
        } else {
            stage.contained.terminate();
        }
        let end = stage.end();
        assert!(end.how.starts_with(if kill { "signal: 9" } else { "signal: 15" }), "{end:?}");
        assert_eq!(stage.processes(), BTreeSet::new());
    }
}

#[test]
fn no_process_is_left_when_the_program_is_forgotten() {
    let mut stage = Stage::start(&format!("{ESCAPE} echo yes > ready; wait"), &Rules::default());
    stage.wait_for("ready");
    let Stage { dir, contained } = stage;
    drop(contained);
    assert_eq!(marked(dir.path()), BTreeSet::new());
}

#[test]
fn a_program_with_too_many_processes_is_ended_with_all_of_them() {
    let rules = Rules { processes: 40, ..Rules::default() };
    // Each process starts two more, eight times.
    let script = "f() { [ $1 = 0 ] || { f $(($1 - 1)) & f $(($1 - 1)) & }; sleep 1000; }\nf 8";
    let mut stage = Stage::start(script, &rules);
    let end = stage.end();
    let reason = end.reason.unwrap();
    assert_eq!(reason, "it had more than 40 processes at once");
    assert_eq!(stage.processes(), BTreeSet::new());
}

#[test]
fn a_program_that_cannot_be_started_says_why() {
    let agent = program::path("link-agent");
    let program = Program { path: "/no/engine".into(), args: vec![], env: vec![], log: None };
    let mut contained = Contained::start(Some(&agent), &program, &Rules::default()).unwrap();
    let end = wait(|| match contained.look().unwrap() {
        Look::Runs => None,
        Look::Ended(end) => Some(end),
    });
    assert!(end.reason.unwrap().contains("No such file or directory"));
    assert_eq!(contained.id(), None);
}

#[test]
fn a_flood_of_output_holds_up_nobody_and_fills_no_disk() {
    // 64 MiB of lines, a line of 64 MiB, and a last word.
    let script = "
yes flood | head -c 67108864
head -c 67108864 /dev/zero | tr '\\0' x >&2
echo
sleep 20
echo the last word
echo yes > ready
wait
";
    let mut stage = Stage::start(script, &Rules::default());
    let (mut most, pid) = (
        0,
        wait(|| {
            let _runs = stage.contained.look().unwrap();
            stage.contained.id()
        }),
    );
    let supervisor = parent_of(pid);
    wait(|| {
        most = most.max(resident(supervisor));
        let _runs = stage.contained.look().unwrap();
        stage.file("ready").exists().then_some(())
    });
    assert!(most < 64 * 1024, "the supervisor needs {most} KiB");
    stage.end();
    let log = std::fs::read_to_string(stage.file("log")).unwrap();
    assert!(log.len() < 4 << 20, "{}", log.len());
    let first = log.lines().next().map(contain::without_time);
    assert!(first == Some("flood") && log.ends_with("the last word\n"), "{first:?}");
    assert!(log.contains("bytes were dropped, above 64 KiB per second]"), "no count");
    assert!(log.lines().all(|line| line.len() < 20_000));
}

/// Returns rules under which a program reaches the files of `files` only, with the Landlock rules up to `landlock`.
fn confined(files: Files, landlock: u8) -> Rules {
    Rules { access: Access { landlock, ..Access::only(files) }, ..Rules::default() }
}

/// The newest Landlock rules, and those of Debian 12.
const LANDLOCK: [u8; 2] = [u8::MAX, 2];

/// Says why a test has nothing to look at. With `LINK_TEST_FULL`, a test must not pass for that reason.
#[expect(clippy::print_stderr, reason = "the reader of a test's output learns why")]
pub(crate) fn lacks(has: bool, what: &str) -> bool {
    if !has {
        let is_full = std::env::var_os("LINK_TEST_FULL").is_some();
        assert!(!is_full, "this kernel does not refuse {what}, so the test looks at nothing");
        eprintln!("skipped: this kernel does not refuse {what}");
    }
    !has
}

#[test]
fn a_program_reads_and_writes_no_files_of_others() {
    if lacks(contain::support().files, "files") {
        return;
    }
    // Not where temporary files may be in memory: what stands in `/dev` may be listed, and so may `/dev/shm`.
    let outside = tempfile::tempdir_in("/tmp").unwrap();
    let at = |name: &str| outside.path().join(name);
    std::fs::write(at("secret"), "the secret").unwrap();
    std::fs::write(at("precious"), "precious").unwrap();
    std::fs::write(at("model"), "the model").unwrap();
    let script = format!(
        "cd {0}
        cat {1}/secret; ls {1}; cat ~/.profile /etc/shadow
        echo broken > {1}/precious; rm {1}/precious; mv {1}/precious .; ln {1}/secret here
        perl -e 'truncate($ARGV[0], 0)' {1}/precious
        ln -s {1}/secret link; cat link
        cat /proc/$PPID/environ | tr '\\0' '\\n'; ls /proc/$PPID/fd /proc/$PPID/cwd/
        touch {1}/new /tmp/link-contained /dev/shm/link-contained
        cat {1}/model > copy; echo more > /dev/null; pwd > folder
        echo done >> folder; sleep 1000",
        "$TMPDIR",
        outside.path().display(),
    );
    for landlock in LANDLOCK {
        let own = tempfile::tempdir_in("/tmp").unwrap();
        let files = Files { read: vec![at("model")], write: vec![own.path().to_owned()] };
        let program = Program {
            path: "/bin/sh".into(),
            args: vec!["-c".into(), script.clone().into()],
            env: vec![
                ("TMPDIR".into(), own.path().into()),
                ("LINK_CANARY".into(), "canary".into()),
            ],
            log: Some(outside.path().join("log")),
        };
        let agent = program::path("link-agent");
        let rules = confined(files, landlock);
        let mut contained = Contained::start(Some(&agent), &program, &rules).unwrap();
        let read = |name: &str| std::fs::read_to_string(own.path().join(name)).ok();
        wait(|| {
            let look = contained.look().unwrap();
            assert_eq!(look, Look::Runs);
            read("folder").filter(|text| text.ends_with("done\n"))
        });
        assert_eq!(read("copy").as_deref(), Some("the model"));
        assert_eq!(read("folder").unwrap(), format!("{}\ndone\n", own.path().display()));
        let left = |name: &str| std::fs::read_to_string(at(name)).unwrap();
        assert_eq!((&*left("precious"), &*left("secret")), ("precious", "the secret"));
        let mut names: Vec<_> = std::fs::read_dir(outside.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["log", "model", "precious", "secret"]);
        assert!(!Path::new("/tmp/link-contained").exists());
        assert!(!Path::new("/dev/shm/link-contained").exists());
        drop(contained);
        let log = left("log");
        for secret in ["the secret", "canary", "precious\n"] {
            assert!(!log.contains(secret), "{log}");
        }
        assert!(log.contains("Permission denied"), "{log}");
        std::fs::remove_file(at("log")).unwrap();
    }
}

#[test]
fn a_program_opens_no_connections_and_no_other_port() {
    if lacks(contain::support().connections, "connections") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let datagrams = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let socket = dir.path().join("socket");
    let local = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let port = |address: std::net::SocketAddr| address.port();
    let own = link_tests::device::free_port().get();
    let script = "
        use IO::Socket::INET; use IO::Socket::UNIX; use Socket;
        my ($tcp, $udp, $unix, $own, $folder) = @ARGV;
        $| = 1;
        print 'tcp ', (IO::Socket::INET->new(PeerAddr => \"127.0.0.1:$tcp\") ? 'open' : $!), \"\\n\";
        my $sent = socket(my $s, PF_INET, SOCK_DGRAM, 0)
            && send($s, 'x', 0, sockaddr_in($udp, inet_aton('127.0.0.1')));
        print 'udp ', ($sent ? 'open' : $!), \"\\n\";
        print 'unix ', (IO::Socket::UNIX->new(Peer => $unix) ? 'open' : $!), \"\\n\";
        socket(my $fast, PF_INET, SOCK_STREAM, 0);
        my $sent = send($fast, 'x', 0x20000000, sockaddr_in($tcp, inet_aton('127.0.0.1')));
        print 'fast ', ($sent ? 'open' : $!), \"\\n\";
        my $raw = socket(my $r, PF_INET, SOCK_RAW, 1);
        print 'raw ', ($raw ? 'open' : $!), \"\\n\";
        my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1:$own\");
        print 'listen ', ($l ? 'open' : $!), \"\\n\";
        my $o = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1:0');
        print 'other ', ($o ? 'open' : $!), \"\\n\";
        open(my $f, '>', \"$folder/ready\"); print $f \"done\\n\"; close $f;
        sleep 1000;
    ";
    let ports = contain::support().ports;
    for landlock in LANDLOCK {
        let args = [
            port(listener.local_addr().unwrap()).to_string(),
            port(datagrams.local_addr().unwrap()).to_string(),
            socket.display().to_string(),
            own.to_string(),
            dir.path().display().to_string(),
        ];
        let mut words = vec!["-e".into(), script.into()];
        words.extend(args.map(Into::into));
        let log = dir.path().join("log");
        let program = Program {
            path: "/usr/bin/perl".into(),
            args: words,
            env: vec![],
            log: Some(log.clone()),
        };
        let files = Files { read: vec![], write: vec![dir.path().to_owned()] };
        let mut rules = confined(files, landlock);
        rules.access.port = Some(own);
        let agent = program::path("link-agent");
        let mut contained = Contained::start(Some(&agent), &program, &rules).unwrap();
        wait(|| {
            let look = contained.look().unwrap();
            assert_eq!(look, Look::Runs, "{}", std::fs::read_to_string(&log).unwrap());
            dir.path().join("ready").exists().then_some(())
        });
        drop(contained);
        let said = std::fs::read_to_string(&log).unwrap();
        for kind in ["tcp", "udp", "unix", "fast", "raw"] {
            assert!(said.contains(&format!("{kind} Permission denied\n")), "{said}");
        }
        assert!(said.contains("listen open\n"), "{said}");
        if ports && landlock > 3 {
            assert!(said.contains("other Permission denied\n"), "{said}");
        }
        std::fs::remove_file(&log).unwrap();
        std::fs::remove_file(dir.path().join("ready")).unwrap();
    }
    listener.set_nonblocking(true).unwrap();
    local.set_nonblocking(true).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err() && local.accept().is_err());
    assert!(datagrams.recv(&mut [0]).is_err());
}

/// The engine that most devices have, with the rules of this kernel and with those of Debian 12: it serves, and writes a log
/// only where it may.
#[test]
fn llama_server_serves_and_writes_where_it_may() {
    if lacks(contain::support().files, "files") {
        return;
    }
    let engines = link_tests::engines::folder();
    for (landlock, may_write) in LANDLOCK.into_iter().flat_map(|one| [(one, true), (one, false)]) {
        let own = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let model = outside.path().join("tiny.gguf");
        std::fs::write(&model, link_tests::engines::model("tiny.gguf")).unwrap();
        let log = outside.path().join("llama.log");
        let port = link_tests::device::free_port().get();
        let mut files = Files {
            read: vec![engines.join("llama").canonicalize().unwrap(), model.clone()],
            write: vec![own.path().to_owned()],
        };
        files.write.extend(may_write.then(|| outside.path().to_owned()));
        let number = port.to_string();
        let words = ["--host", "127.0.0.1", "--port", &number, "--log-file"].map(Into::into);
        let program = Program {
            path: engines.join("llama/llama-server").canonicalize().unwrap(),
            args: words
                .into_iter()
                .chain([log.clone().into(), "-m".into(), model.into()])
                .collect(),
            env: vec![],
            log: Some(own.path().join("printed")),
        };
        let mut rules = confined(files, landlock);
        rules.access.port = Some(port);
        let agent = program::path("link-agent");
        let mut contained = Contained::start(Some(&agent), &program, &rules).unwrap();
        let health = wait(|| {
            let printed = std::fs::read_to_string(own.path().join("printed"));
            assert_eq!(contained.look().unwrap(), Look::Runs, "{printed:?}");
            health(port).filter(|answer| answer.contains("200 OK"))
        });
        assert!(health.contains("\"status\":\"ok\""), "{health}");
        assert_eq!(log.exists(), may_write, "{landlock}");
    }
}

/// Asks an engine whether it is healthy. None if nobody listens yet.
fn health(port: u16) -> Option<String> {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.write_all(b"GET /health HTTP/1.0\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

#[test]
fn a_program_signals_no_other_program() {
    if lacks(contain::support().signals, "signals") {
        return;
    }
    let own = tempfile::tempdir().unwrap();
    let files = Files { read: vec![], write: vec![own.path().to_owned()] };
    let this = std::process::id();
    // The kernel would end a program that goes beyond its limit of processor time.
    let script = format!(
        "prlimit --pid {this} --cpu=1000000:1000000; echo $? > limits; prlimit --cpu=1000000 && echo own >> limits; \
         kill -KILL $PPID {this}; echo $? > code; sleep 1000"
    );
    let program = Program {
        path: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![],
        log: None,
    };
    let agent = program::path("link-agent");
    let rules = confined(files, u8::MAX);
    let mut contained = Contained::start(Some(&agent), &program, &rules).unwrap();
    let code = wait(|| {
        assert_eq!(contained.look().unwrap(), Look::Runs);
        let code = std::fs::read_to_string(own.path().join("code")).ok();
        code.filter(|code| code.ends_with('\n'))
    });
    assert_eq!(code, "1\n");
    assert_eq!(std::fs::read_to_string(own.path().join("limits")).unwrap(), "1\nown\n");
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    assert!(!limits.contains("1000000 "), "{limits}");
}

#[test]
fn a_program_that_eats_memory_is_ended_with_the_reason() {
    let rules = Rules { memory: Some(100 << 20), ..Rules::default() };
    // A child that has a mapped file of any size, and one that takes more and more.
    let script = "perl -e 'my @all; while (1) { push @all, \"a\" x (1 << 20); select undef, undef, undef, 0.005 }' & wait";
    let mut stage = Stage::start(script, &rules);
    let end = stage.end();
    let reason = end.reason.unwrap();
    assert!(
        reason.starts_with("it used ") && reason.ends_with("and 100 MiB are allowed"),
        "{reason}"
    );
    assert_eq!(stage.processes(), BTreeSet::new());
}

fn parent_of(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Returns the memory of a process, in KiB.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
