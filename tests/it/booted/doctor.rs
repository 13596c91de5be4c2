//! What `link doctor` says on a machine that boots, fault by fault: each is provoked, read, and undone. The texts, with
//! their cures and exit codes, are in `doctor.golden.txt`; `LINK_UPDATE_GOLDEN=1` writes them.
//!
//! `--fix` is tried wherever a finding offers it: once it changes something, the second time nothing.

use std::{fmt::Write as _, path::Path};

use link_tests::{booted::Flavour, engines::TINY_REPLY, machine::Ran, wait::until};

use super::{ALICE, Device};

const OLD: &str = env!("CARGO_PKG_VERSION");
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/it/booted/doctor.golden.txt");
const LINK: &str = "/home/alice/.local/bin/link";
/// The manager of alice's services, from outside of her logins.
const SERVICES: &str =
    "runuser -u alice -- env XDG_RUNTIME_DIR=/run/user/1000 systemctl --user --quiet";

/// A fault: how root provokes it, the words of `link doctor`, and how root undoes it.
struct Fault {
    name: &'static str,
    provoke: &'static str,
    doctor: &'static str,
    undo: &'static str,
    /// Whether `--fix` undoes it too, and all of it.
    is_fixable: bool,
    /// A part of what doctor says once it has noticed.
    shows: &'static str,
    /// The part of a device whose sound findings are noted too.
    also: &'static str,
}

impl Fault {
    const fn new(name: &'static str, provoke: &'static str, undo: &'static str) -> Self {
        let (doctor, shows, also) = ("LINK doctor", "", NONE);
        Self { name, provoke, doctor, undo, is_fixable: false, shows, also }
    }

    const fn fixable(self) -> Self {
        Self { is_fixable: true, ..self }
    }

    const fn shows(self, shows: &'static str) -> Self {
        Self { shows, ..self }
    }

    const fn asked(self, doctor: &'static str) -> Self {
        Self { doctor, ..self }
    }

    const fn also(self, also: &'static str) -> Self {
        Self { also, ..self }
    }
}

/// No finding contains it.
const NONE: &str = "\0";

const STOP: &str = "SERVICES stop link";
const RESTART: &str = "runuser -l alice -c 'LINK restart'";

/// Stops the agent, and answers in the place of its backend: the status and the body are the files /tmp/status and
/// /tmp/answer, and the `Date` is that of a clock that is `AHEAD` seconds ahead.
const ANSWER: &str = r#"SERVICES stop link && cp -p STATE/identity.json /tmp/identity.json && \
    sed -i 's|http://127.0.0.1:8000|http://127.0.0.1:8900|' STATE/identity.json && \
    echo '200 OK' >/tmp/status && echo '{"status": "ok", "version": "1.0.0"}' >/tmp/answer && \
    printf '%s\n' 'while read -r line && [ "${#line}" -gt 1 ]; do :; done' \
    'printf "HTTP/1.1 %s\r\nConnection: close\r\nDate: %s\r\n\r\n" "$(cat /tmp/status)" "$(LC_ALL=C date -u -d "$1 seconds" "+%a, %d %b %Y %T GMT")"' \
    'cat /tmp/answer' >/tmp/answers && \
    systemd-run --quiet --unit=answers systemd-socket-activate --accept --inetd -l 127.0.0.1:8900 /bin/sh /tmp/answers AHEAD && \
    timeout 10 sh -c 'until ss -ltn | grep -q :8900; do sleep 0.1; done'"#;
/// Undoes that.
const UNANSWERED: &str = "systemctl stop answers; cp -p /tmp/identity.json STATE/identity.json";

/// What can be provoked and undone again, in any order.
const FAULTS: [Fault; 48] = [
    Fault::new("a stopped agent", STOP, RESTART).fixable(),
    Fault::new(
        "a start file without the command's folder",
        "mv HOME/.profile /tmp/profile && mv HOME/.bashrc /tmp/bashrc && \
         runuser -u alice -- touch HOME/.profile",
        "mv /tmp/profile HOME/.profile; mv /tmp/bashrc HOME/.bashrc",
    )
    .fixable(),
    Fault::new(
        "a shell that finds no `link` at all",
        "mv /usr/bin/link /tmp/other-link && mv HOME/.profile /tmp/profile && \
         mv HOME/.bashrc /tmp/bashrc && runuser -u alice -- touch HOME/.profile",
        "mv /tmp/profile HOME/.profile; mv /tmp/bashrc HOME/.bashrc; mv /tmp/other-link /usr/bin/link",
    )
    .fixable(),
    Fault::new("a shell that cannot be asked", "true", "true").asked("SHELL=/bin/fsh LINK doctor"),
    Fault::new(
        "a folder that others may enter",
        "chmod 755 HOME/.local/state/link",
        "chmod 700 HOME/.local/state/link",
    )
    .fixable(),
    Fault::new(
        "a folder that cannot be written",
        "runuser -u alice -- mkdir -p HOME/.config/link && chmod 500 HOME/.config/link",
        "chmod 700 HOME/.config/link",
    ),
    Fault::new(
        "a faulty configuration",
        "echo '{\"schema_version\": \"2.1\", \"local_api\": {\"port\": 70000}}' >HOME/.config/link/agent.json",
        "rm HOME/.config/link/agent.json",
    ),
    Fault::new(
        "a stopped agent with a faulty configuration",
        "SERVICES stop link && echo '{\"transport\": 3}' >HOME/.config/link/agent.json",
        "rm HOME/.config/link/agent.json; RESTART",
    ),
    Fault::new(
        "a router that does not answer",
        "echo '{\"schema_version\": \"2.1\", \"transport\": {\"type\": \"zenoh\", \"fallback\": true}}' \
         >HOME/.config/link/agent.json && chown alice HOME/.config/link/agent.json && RESTART",
        "rm HOME/.config/link/agent.json; RESTART",
    )
    .shows("over HTTP, because its zenoh router"),
    Fault::new(
        "a machine that is not registered",
        "SERVICES stop link && mv STATE/identity.json /tmp/identity.json",
        "mv /tmp/identity.json STATE/identity.json; RESTART",
    ),
    Fault::new(
        "an agent beside its service",
        "SERVICES stop link && \
         runuser -l alice -c 'setsid -f DATA/guard/link-guard </dev/null >/dev/null 2>&1' && \
         timeout 20 sh -c 'until runuser -l alice -c \"LINK status >/dev/null\"; do sleep 0.2; done'",
        "RESTART",
    )
    .shows("its service did not start it"),
    Fault::new(
        "an agent of the former device",
        "cp -p STATE/identity.json /tmp/identity.json && \
         sed -i 's/dev_[0-9a-f]\\{8\\}/dev_00000000/' STATE/identity.json",
        "cp -p /tmp/identity.json STATE/identity.json && RESTART",
    )
    .shows("former device"),
    Fault::new(
        "an agent that is older than what is installed",
        "cp -a DATA/versions/VERSION DATA/versions/9.9.9 && cp -a DATA/current /tmp/current && \
         ln -sfn versions/9.9.9 DATA/current",
        "cp -a --remove-destination -T /tmp/current DATA/current && rm -r DATA/versions/9.9.9",
    ),
    Fault::new(
        "an agent that does not answer",
        "kill -STOP $(cat STATE/agent.pid)",
        "kill -CONT $(cat STATE/agent.pid)",
    )
    .shows("does not answer"),
    Fault::new(
        "an engine that hangs",
        "pkill -STOP -x llama-server",
        "pkill -CONT -x llama-server",
    )
    .shows("engine of `tiny` does not answer"),
    Fault::new(
        "a changed program",
        "cp -p DATA/guard/link-guard /tmp/ && cp -p DATA/guard/link-guard DATA/guard/new && \
         echo more >>DATA/guard/new && mv DATA/guard/new DATA/guard/link-guard",
        "mv /tmp/link-guard DATA/guard/link-guard",
    ),
    Fault::new(
        "a damaged receipt",
        "cp -p DATA/receipt.json /tmp/ && echo '{' >DATA/receipt.json",
        "cp /tmp/receipt.json DATA/receipt.json",
    ),
    Fault::new(
        "a receipt without the version in use",
        "cp -p DATA/receipt.json /tmp/ && sed -i 's/\"VERSION\"/\"0.0.9\"/g' DATA/receipt.json",
        "cp /tmp/receipt.json DATA/receipt.json",
    ),
    Fault::new(
        "no receipt",
        "mv DATA/receipt.json /tmp/",
        "mv /tmp/receipt.json DATA/receipt.json",
    ),
    Fault::new(
        "the port of a stopped agent, held by bob",
        "SERVICES stop link && TAKE 20505",
        "systemctl stop taken && RESTART",
    ),
    Fault::new(
        "the port of a stopped agent, held by a program of alice's",
        "SERVICES stop link && TAKE_FOR_ALICE 20505",
        "systemctl stop taken && RESTART",
    ),
    Fault::new(
        "a port that is free again",
        "SERVICES stop link && TAKE 20505 && SERVICES start link && \
         until runuser -l alice -c 'LINK status'; do sleep 0.2; done && systemctl stop taken",
        "RESTART",
    ),
    Fault::new(
        "an agent beside whoever holds its port",
        "SERVICES stop link && TAKE 20505 && SERVICES start link",
        "systemctl stop taken && RESTART",
    ),
    Fault::new(
        "the port of a model, held by bob",
        "SERVICES stop link && TAKE 8080 && SERVICES start link",
        "systemctl stop taken && RESTART",
    ),
    Fault::new(
        "an engine that does not run on this processor",
        "mv ENGINE/llama-server /tmp/ && printf '#!/bin/sh\\nkill -ILL $$\\n' >ENGINE/llama-server && \
         chmod 755 ENGINE/llama-server",
        "mv /tmp/llama-server ENGINE/llama-server",
    ),
    Fault::new(
        "a model that is being loaded",
        "mv ENGINE/llama-server /tmp/ && chmod 755 /tmp/llama-server && \
         printf '#!/bin/sh\\ncase $* in *--version*) echo version: 10068; exit ;; esac\\nexec sleep 1000\\n' \
         >ENGINE/llama-server && chmod 755 ENGINE/llama-server && RESTART",
        "mv /tmp/llama-server ENGINE/llama-server && RESTART",
    )
    .shows("is being loaded"),
    Fault::new(
        "a model that nobody serves",
        "runuser -l alice -c 'LINK model stop tiny'",
        "runuser -l alice -c 'LINK model serve tiny'",
    )
    .also("models:")
    .shows("0 of 1 served"),
    Fault::new("a missing engine", "mv ENGINE /tmp/engine", "mv /tmp/engine ENGINE"),
    Fault::new(
        "an unusable plugin",
        "runuser -u alice -- mkdir -p DATA/plugins/mine",
        "rmdir DATA/plugins/mine",
    ),
    Fault::new(
        "a stopped backend of this user",
        "SERVICES stop link-backend",
        "SERVICES start link-backend",
    ),
    Fault::new(
        "few descriptors",
        "mkdir -p HOME/.config/systemd/user/link.service.d && \
         printf '[Service]\\nLimitNOFILE=256\\n' >HOME/.config/systemd/user/link.service.d/limit.conf && \
         SERVICES daemon-reload && RESTART",
        "rm -r HOME/.config/systemd/user/link.service.d && SERVICES daemon-reload && RESTART",
    ),
    Fault::new(
        "little memory",
        "echo 'MemTotal: 100 kB' >/tmp/meminfo && mount --bind /tmp/meminfo /proc/meminfo",
        "umount /proc/meminfo",
    ),
    Fault::new("a clock that is behind", "ANSWER +630", "UNANSWERED; RESTART"),
    Fault::new("a clock that is ahead", "ANSWER -630", "UNANSWERED; RESTART"),
    Fault::new(
        "a network that asks for a login",
        "ANSWER +0 && echo 'please log in' >/tmp/answer",
        "UNANSWERED; RESTART",
    ),
    Fault::new(
        "a backend that is not ready",
        "ANSWER +0 && echo '503 Service Unavailable' >/tmp/status && \
         echo '{\"type\": \"urn:link:problem:not-ready\", \"title\": \"not ready\", \"status\": 503, \
         \"code\": \"not-ready\", \"detail\": \"the database does not answer\"}' >/tmp/answer",
        "UNANSWERED; RESTART",
    ),
    Fault::new(
        "a certificate of an unknown issuer",
        "SERVICES stop link && cp -p STATE/identity.json /tmp/identity.json && \
         sed -i 's|http://127.0.0.1:8000|https://backend.example.test|' STATE/identity.json && \
         sed '/END CERT/q' /etc/ssl/certs/ca-certificates.crt >/tmp/bundle && \
         mount --bind /tmp/bundle /etc/ssl/certs/ca-certificates.crt",
        "umount /etc/ssl/certs/ca-certificates.crt; cp -p /tmp/identity.json STATE/identity.json; RESTART",
    ),
    Fault::new(
        "a proxy of the agent",
        "mkdir -p HOME/.config/systemd/user/link.service.d && \
         printf '[Service]\\nEnvironment=HTTPS_PROXY=http://ada:canary-7391@proxy.example:3128\\n' \
         >HOME/.config/systemd/user/link.service.d/proxy.conf && SERVICES daemon-reload && RESTART",
        "rm -r HOME/.config/systemd/user/link.service.d && SERVICES daemon-reload && RESTART",
    )
    .also("proxy:"),
    Fault::new("a proxy of this shell alone", "true", "true")
        .asked("HTTPS_PROXY=http://ada:canary-7391@proxy.example:3128 LINK doctor"),
    Fault::new("a page that is not on the allowlist", "true", "true")
        .asked("LINK doctor --origin https://app.example"),
    Fault::new(
        "an allowlist that is older than the account's",
        "runuser -l alice -c 'LINK allowlist add https://app.example'",
        "runuser -l alice -c 'LINK allowlist remove https://app.example'",
    )
    .asked("LINK doctor --origin https://app.example")
    .fixable(),
    Fault::new("a page without https", "true", "true")
        .asked("LINK doctor --origin http://intranet.example"),
    Fault::new("a page of the internet without https", "true", "true")
        .asked("LINK doctor --origin http://203.0.113.7"),
    Fault::new("a page of this machine", "true", "true")
        .asked("LINK doctor --origin http://127.0.0.1:8000")
        .also("origin:"),
    Fault::new(
        "a page of the local network",
        "cp /etc/hosts /tmp/hosts && echo '192.168.7.7 intranet.example' >>/etc/hosts",
        "cat /tmp/hosts >/etc/hosts",
    )
    .asked("LINK doctor --origin https://intranet.example")
    .also("origin:"),
    Fault::new("a page of the internet", "true", "true")
        .asked("LINK doctor --origin https://203.0.113.7")
        .also("origin:"),
    Fault::new(
        "a page of somebody who is not logged in",
        "mv HOME/.config/link/credentials.json /tmp/credentials.json",
        "mv /tmp/credentials.json HOME/.config/link/credentials.json",
    )
    .asked("LINK doctor --origin https://other.example"),
    Fault::new(
        "a model without web pages",
        "runuser -l alice -c 'LINK model deploy tiny --serve --wait --no-cors'",
        "runuser -l alice -c 'LINK model deploy tiny --serve --wait --cors'",
    )
    .asked("LINK doctor --origin http://127.0.0.1:8000"),
];

#[tokio::test]
async fn each_fault_is_named_with_its_cure() {
    let Some(device) = Device::fresh(Flavour::Systemd).await else { return };
    device.serves().await;
    let mut told = String::new();
    note(&mut told, "a healthy machine", "", &device.doctor("LINK doctor").await);
    for fault in &FAULTS {
        device.provokes(fault, &mut told).await;
    }
    device.has_no_linger(&mut told).await;
    device.has_little_room(&mut told).await;
    device.is_forgotten(&mut told).await;

    if std::env::var_os("LINK_UPDATE_GOLDEN").is_some() {
        std::fs::write(GOLDEN, &told).unwrap();
    }
    let committed = std::fs::read_to_string(Path::new(GOLDEN)).unwrap();
    assert_eq!(told, committed, "run with LINK_UPDATE_GOLDEN=1 if the change is meant");
    assert!(!told.contains("canary"), "a password of a proxy");
}

impl Device {
    /// Installs Link, starts a backend of alice's own, and serves the tiny model.
    async fn serves(&self) {
        let keys = self.install_with_backend().await;
        let lines = format!(
            "{keys}; cd && link up && curl -fsS https://get.example.test/tiny.gguf -o tiny.gguf && \
             link run ./tiny.gguf \"Hello?\""
        );
        let ran = self.machine.login(ALICE, &lines).await;
        assert!(ran.code == Some(0) && ran.stdout.contains(TINY_REPLY.trim()), "{ran:?}");
        self.is_well().await;
    }

    async fn provokes(&self, fault: &Fault, told: &mut String) {
        self.does(fault.provoke).await;
        let words = fault.doctor;
        let before = told.len();
        // What an agent reports about its models and its connection follows a start after a while.
        let ran = self.settled(words, fault.shows).await;
        note(told, fault.name, fault.also, &ran);
        let offers = told[before..].contains("--fix is offered");
        assert!(offers || !fault.is_fixable, "{}: {ran:?}", fault.name);
        if fault.is_fixable {
            let fixed = self.doctor(&format!("{words} --fix")).await;
            assert!(fixed.stdout.contains("fixed    "), "{}: {fixed:?}", fault.name);
            let again = self.doctor(&format!("{words} --fix")).await;
            assert!(!again.stdout.contains("fixed    "), "{}: {again:?}", fault.name);
        }
        self.does(fault.undo).await;
        self.is_well().await;
    }

    /// Ends with the login, unless the manager of alice's services lingers.
    async fn has_no_linger(&self, told: &mut String) {
        self.does("loginctl disable-linger alice").await;
        let line =
            "for i in $(seq 100); do link status >/dev/null && break; sleep 0.2; done; link doctor";
        let ran = self.machine.login(ALICE, line).await;
        note(told, "a service until the logout", NONE, &ran);
        self.does("loginctl enable-linger alice").await;
        self.is_well().await;
    }

    async fn has_little_room(&self, told: &mut String) {
        self.does(
            "mount -t tmpfs -o size=1500m,mode=700,uid=1000 tmpfs /mnt && cp -a DATA/. /mnt && \
             fallocate -l $(($(stat -f -c '%a * %S' /mnt) - 700 * 1000 * 1000)) /mnt/filler && \
             mount --bind /mnt DATA",
        )
        .await;
        note(told, "little space", NONE, &self.doctor("LINK doctor").await);
        self.does("fallocate -l $(($(stat -f -c '%a * %S' /mnt) - 1024 * 1024)) /mnt/filler2")
            .await;
        note(told, "hardly any space", NONE, &self.doctor("LINK doctor").await);
        self.does("umount DATA && umount /mnt").await;
        self.is_well().await;
    }

    /// The owner removes the device, then the whole installation is stopped and purged.
    async fn is_forgotten(&self, told: &mut String) {
        self.does("runuser -l alice -c 'LINK device remove testbox --yes'").await;
        let removed = self.settled("LINK doctor", "no longer knows").await;
        note(told, "a device that its backend has removed", NONE, &removed);
        self.does("SERVICES stop link && echo '{' >HOME/.local/state/link/identity.json").await;
        note(told, "an unusable identity", NONE, &self.doctor("LINK doctor").await);
        self.does("rm HOME/.local/state/link/identity.json").await;
    }

    /// Runs `link doctor` as alice until it shows a text, and says the same twice.
    async fn settled(&self, words: &str, shows: &str) -> Ran {
        let last = tokio::sync::Mutex::new(String::new());
        until(&format!("doctor to say the same again, with `{shows}`"), || async {
            let ran = self.doctor(words).await;
            let mut last = last.lock().await;
            let found: Vec<_> = findings(&ran.stdout).into_iter().map(steady).collect();
            let found = found.join("\n");
            let is_same = *last == found && found.contains(shows);
            let is_loading = found.contains("is being loaded") && shows != "is being loaded";
            let is_same = is_same && !is_loading;
            *last = found;
            is_same.then_some(ran)
        })
        .await
    }

    async fn doctor(&self, words: &str) -> Ran {
        self.machine.user(ALICE, &filled(words)).await
    }

    async fn is_well(&self) {
        until("doctor to find nothing", || async {
            let ran = self.doctor("LINK doctor").await;
            let is_fine = |line: &str| line.starts_with("ok ") || line.starts_with("skipped ");
            let is_well =
                ran.code == Some(0) && findings(&ran.stdout).iter().all(|line| is_fine(line));
            is_well.then_some(())
        })
        .await;
    }

    /// Runs a line as root.
    async fn does(&self, line: &str) {
        let ran = self.machine.root(&filled(line)).await;
        assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    }
}

/// Replaces the words in capitals.
fn filled(line: &str) -> String {
    line.replace("UNANSWERED", UNANSWERED)
        .replace("ANSWER +630", &ANSWER.replace("AHEAD", "+630"))
        .replace("ANSWER -630", &ANSWER.replace("AHEAD", "-630"))
        .replace("ANSWER +0", &ANSWER.replace("AHEAD", "+0"))
        .replace("RESTART", RESTART)
        .replace("SERVICES", SERVICES)
        .replace("TAKE_FOR_ALICE 20505", &taken("alice", 20505))
        .replace("TAKE 20505", &taken("bob", 20505))
        .replace("TAKE 8080", &taken("bob", 8080))
        .replace("VERSION", OLD)
        .replace("STATE", "HOME/.local/state/link")
        .replace("ENGINE", "DATA/engines/llama-server/b10068")
        .replace("DATA", "HOME/.local/share/link")
        .replace("LINK ", &format!("{LINK} "))
        .replace("HOME", "/home/alice")
}

/// Lets a user listen on a port, and waits until they do.
fn taken(user: &str, port: u16) -> String {
    format!(
        "systemd-run --quiet --uid={user} --unit=taken systemd-socket-activate -l 127.0.0.1:{port} /bin/sleep 1000 && \
         timeout 10 sh -c 'until ss -ltn | grep -q :{port}; do sleep 0.1; done'"
    )
}

/// Returns the findings with their cures, but not what the kernel of the host does not refuse to engines: a container has
/// less than a machine.
fn findings(printed: &str) -> Vec<&str> {
    const OF_THE_HOST: [&str; 2] =
        ["this system does not keep engines from", "install plugins only if you trust"];
    let findings = printed.split("\n\n").next().unwrap_or_default().lines();
    findings.filter(|line| !OF_THE_HOST.iter().any(|part| line.contains(part))).collect()
}

/// Adds what doctor said, without what differs from one run to the next. Of what is fine, adds only the lines of one area.
fn note(told: &mut String, name: &str, area: &str, ran: &Ran) {
    let is_shown = |line: &&str| !line.starts_with("ok ") || line.contains(area);
    let lines: Vec<_> = findings(&ran.stdout).into_iter().filter(is_shown).map(steady).collect();
    let code = ran.code.unwrap_or(-1);
    let fix = if ran.stdout.contains("doctor --fix` fixes") { ", --fix is offered" } else { "" };
    writeln!(told, "# {name} (exit code {code}{fix})\n{}\n", lines.join("\n")).unwrap();
}

/// Replaces the version, ids, sizes, ports of the moment and process ids.
fn steady(line: &str) -> String {
    /// The numbers that are part of a fault.
    const MEANT: [&str; 11] =
        ["0", "1", "10068", "127", "20505", "256", "700", "7391", "8000", "8080", "9"];
    let mut line = line.replace(OLD, "VERSION");
    for prefix in ["dev_", "mdl_"] {
        while let Some(at) = line.find(prefix).filter(|at| line.len() >= at + prefix.len() + 32) {
            line.replace_range(
                at..at + prefix.len() + 32,
                if prefix == "dev_" { "DEVICE" } else { "MODEL" },
            );
        }
    }
    if let Some(at) = line.find("/.new-") {
        line.replace_range(at + "/.new-".len()..at + "/.new-".len() + 6, "NAME");
    }
    let (mut steady, mut number) = (String::new(), String::new());
    for c in line.chars().chain(['\n']) {
        if c.is_ascii_digit() {
            number.push(c);
            continue;
        }
        // The pause before the next start grows.
        let is_pause = steady.ends_with("restarting in ");
        let is_meant = number.is_empty() || (MEANT.contains(&number.as_str()) && !is_pause);
        steady.push_str(if is_meant { &number } else { "N" });
        number.clear();
        steady.push(c);
    }
    steady.trim_end().to_owned()
}
