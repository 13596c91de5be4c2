"""Measures an idle agent and prints Markdown tables: see scripts/bench-agent.

Everything is read from /proc by this process, so that nothing is asked of the one that is measured.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import signal
import socket
import statistics
import subprocess
import time

from install import ENVIRONMENT, PATIENCE_SECONDS, Backend, wait

# Threads that a runtime keeps for a while after their work are gone by then.
SETTLE_SECONDS = 20
# Between two tries to connect to a port that is not taken yet.
RETRY_SECONDS = 0.0002
PASSWORD = "correct horse battery"
TAILSCALE = "https://github.com/tailscale/tailscale/issues"

# What others publish: name, RSS, PSS, threads or processes, start, source.
PUBLISHED = [
    ("tailscaled, typical", "about 40 MB", "–", "–", "–",
     f"a maintainer, 2026-07: {TAILSCALE}/15435"),
    ("tailscaled, in a container under load", "74.7 MB", "–", "–", "–",
     f"a user, 2023-03: {TAILSCALE}/7571"),
    ("thin-edge, tedge-agent alone", "8 MiB", "–", "1 process", "–",
     "https://github.com/thin-edge/thin-edge.io: docs/src/references/supported-platforms.md"),
    ("thin-edge, a gateway with mosquitto", "34 MiB", "–", "4 processes", "–", "the same"),
    ("Greengrass nucleus lite 2.5.0, idle, t3.small", "51.6 MB", "14.6 MB", "9 processes",
     "1,328 ms", "https://github.com/aws-greengrass/aws-greengrass-lite: benchmark/REPORT.md"),
]


class Process:
    """A process as /proc shows it."""

    def __init__(self, pid):
        self.pid = pid
        self.folder = pathlib.Path(f"/proc/{pid}")
        self.slept = {}

    def cpu_seconds(self):
        """User and system time of all its threads, those that have ended included."""
        # The clock of another process, as clock_getcpuclockid(3) makes its id; /proc/PID/stat
        # counts in ticks of 10 ms, and schedstat forgets threads that have ended.
        return time.clock_gettime((~self.pid << 3) | 2)

    def memory(self):
        """Kilobytes, by the names of /proc."""
        names = ("VmRSS", "Pss", "Private_Clean", "Private_Dirty", "Anonymous")
        found = {}
        for file in ("status", "smaps_rollup"):
            for line in (self.folder / file).read_text().splitlines():
                name, _, value = line.partition(":")
                if name in names:
                    found[name] = int(value.split()[0])
        return found

    def count_sleeps(self):
        """Notes how often each thread has gone to sleep, and so was woken."""
        for task in (self.folder / "task").iterdir():
            try:
                status = (task / "status").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            line = next(line for line in status.splitlines() if line.startswith("voluntary"))
            self.slept[task.name] = int(line.split()[1])
        return sum(self.slept.values())

    def threads(self):
        tasks = (self.folder / "task").iterdir()
        return sorted((task / "comm").read_text().strip() for task in tasks)

    def mappings(self):
        """Kilobytes in memory of each kind of mapping: all, and those that no file can give back.

        Not Private_Dirty: it counts a program that was copied a moment ago as written to.
        """
        kinds, kind = {}, None
        for line in (self.folder / "smaps").read_text().splitlines():
            words = line.split()
            if not words[0].endswith(":"):
                kind = kind_of(words[5] if len(words) > 5 else "", words[1],
                               os.readlink(self.folder / "exe"))
            elif words[0] in ("Rss:", "Anonymous:"):
                kinds.setdefault(kind, [0, 0])[words[0] != "Rss:"] += int(words[1])
        return {kind: sizes for kind, sizes in kinds.items() if sizes[0]}


def kind_of(name, rights, program):
    if name == program:
        return "program: code and constants" if "w" not in rights else "program: variables"
    if name in ("[heap]", "[stack]"):
        return {"[heap]": "heap of the main thread", "[stack]": "stack of the main thread"}[name]
    if name.startswith("/"):
        return "libraries" if ".so" in name else "other files"
    return "anonymous: heaps and stacks of threads, variables"


def free_ports(count):
    taken = [socket.socket() for _ in range(count)]
    for one in taken:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    return ports


class Link:
    def __init__(self, work, programs):
        self.programs, self.home = programs, work / "home"
        self.port, router = free_ports(2)
        self.backend = Backend(programs["link-backend"], work,
                               "--zenoh-listen", f"tls/127.0.0.1:{router}")
        self.environment = ENVIRONMENT | {
            "HOME": str(work), "LINK_HOME": str(self.home), "LINK_LOCAL_PORT": str(self.port),
            "LINK_BACKEND_URL": f"http://{self.backend.address}"}
        self.said = work / "agent.log"
        self.log = self.said.open("wb")
        self.process = None

    def link(self, *arguments, stdin="", **variables):
        ran = subprocess.run([self.programs["link"], *arguments, "--quiet"], input=stdin,
                             env=self.environment | variables, capture_output=True, text=True)
        if ran.returncode:
            raise SystemExit(f"link {arguments}: {ran.returncode}\n{ran.stderr}")

    def set_up(self, model):
        """Leaves a registered device with one model that is not served, its agent running."""
        self.link("register", LINK_REGISTRATION_KEY=self.backend.registration_key())
        self.start()
        wait(self.connected)
        self.link("login", "--email", "bench@example.com", "--password-stdin", stdin=PASSWORD)
        self.link("model", "add", str(model), "--name", "chat")
        self.link("model", "deploy", "chat", "--wait")

    def reach_by(self, transport):
        """Chooses the transport of every later start."""
        (self.home / "config").mkdir(exist_ok=True)
        (self.home / "config/agent.json").write_text(json.dumps(
            {"schema_version": "2.1", "transport": {"type": transport}}))

    def start(self):
        """Starts the agent; returns the seconds until /healthz said 200, and the CPU seconds."""
        began = time.monotonic()
        self.process = subprocess.Popen(
            [self.programs["link-agent"]], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log)
        while not self.is_well():
            if self.process.poll() is not None or time.monotonic() > began + PATIENCE_SECONDS:
                raise SystemExit(f"the agent does not start:\n{self.said.read_text()}")
            time.sleep(RETRY_SECONDS)
        return time.monotonic() - began, Process(self.process.pid).cpu_seconds()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=PATIENCE_SECONDS)

    def is_well(self):
        return self.get("/healthz").startswith(b"HTTP/1.1 200 ")

    def get(self, path):
        """One request; nothing when the port is not taken. Costs less than a client library."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS) as stream:
                stream.sendall(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\n"
                               "connection: close\r\n\r\n".encode())
                answer = b""
                while part := stream.recv(65536):
                    answer += part
                return answer
        except (ConnectionRefusedError, ConnectionResetError):
            return b""

    def health(self):
        return json.loads(self.get("/healthz").split(b"\r\n\r\n", 1)[1])

    def connected(self):
        return self.health()["transport"]["state"] == "connected"


def observe(pid, seconds):
    """Lets a process settle and watches it for some time."""
    process = Process(pid)
    time.sleep(SETTLE_SECONDS)
    cpu, sleeps, began = process.cpu_seconds(), process.count_sleeps(), time.monotonic()
    while time.monotonic() < began + seconds:
        # A thread that ends in between loses less than a second of its count.
        time.sleep(1)
        process.count_sleeps()
    passed = time.monotonic() - began
    return {
        "memory": process.memory(), "threads": process.threads(), "mappings": process.mappings(),
        "cpu": (process.cpu_seconds() - cpu) / passed * 3600,
        "wakes": (process.count_sleeps() - sleeps) / passed,
    }


def observe_mender(program, work, seconds):
    """mender-client's daemon, whose server cannot be reached."""
    data = work / "mender-data"
    data.mkdir()
    (work / "mender.conf").write_text(json.dumps(
        {"Servers": [{"ServerURL": "https://127.0.0.1:9"}], "DBus": {"Enabled": False}}))
    with (work / "mender.log").open("wb") as log:
        process = subprocess.Popen(
            [program, "--config", work / "mender.conf", "--fallback-config", work / "none.conf",
             "--data", data, "--no-syslog", "daemon"],
            env=ENVIRONMENT, cwd=work, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        return observe(process.pid, seconds)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_SECONDS)


def megabytes(kilobytes):
    return f"{kilobytes * 1024 / 1e6:.1f} MB"


def milliseconds(values):
    numbers = [statistics.median(values), min(values), max(values)]
    return " | ".join(f"{number * 1000:.0f} ms" for number in numbers)


def version(program):
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return said.stdout.split("\n")[0].split("\t")[0]


def row(name, seen, start="–"):
    memory = seen["memory"]
    sizes = (memory["VmRSS"], memory["Pss"], memory["Private_Clean"] + memory["Private_Dirty"],
             memory["Anonymous"])
    print(f"| {name} | " + " | ".join(map(megabytes, sizes))
          + f" | {len(seen['threads'])} | {seen['cpu']:.2f} s | {seen['wakes']:.1f} | {start} "
          "| measured |")


def heading(seconds):
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                if line.startswith("model name")), platform.machine())
    print(f"{time.strftime('%Y-%m-%d', time.gmtime())}, {os.cpu_count()} cores ({cpu}), "
          f"Linux {platform.release()}, load {os.getloadavg()[0]:.1f} at the end; "
          f"{SETTLE_SECONDS} s to settle, then counted for {seconds} s\n")


def tables(agent, link, zenoh, deployed, mender, starts, seconds):
    heading(seconds)
    print("| what | RSS | PSS | private | anonymous | threads | CPU per hour | wake-ups per "
          "second | start to /healthz | source |\n|---|---|---|---|---|---|---|---|---|---|")
    took = statistics.median(seconds for seconds, _ in starts)
    row(f"{version(agent)}, HTTP", link, f"{took * 1000:.0f} ms")
    row(f"{version(agent)}, zenoh over TLS", zenoh)
    for name, seen in mender.items():
        row(name, seen)
    for name, resident, shared, threads, start, source in PUBLISHED:
        print(f"| {name} | {resident} | {shared} | – | – | {threads} | – | – | {start} "
              f"| published: {source} |")
    print(f"\nThe agent that had just downloaded the model: {megabytes(deployed['VmRSS'])} RSS, "
          f"{megabytes(deployed['Anonymous'])} anonymous.\n")
    print(f"| {len(starts)} starts | median | least | most |\n|---|---|---|---|")
    print(f"| exec to the first 200 of /healthz | {milliseconds([took for took, _ in starts])} |")
    print(f"| CPU time until then | {milliseconds([cpu for _, cpu in starts])} |")
    for transport, seen in (("HTTP", link), ("zenoh", zenoh)):
        print(f"\n| what of the agent is in memory, {transport} | in memory | anonymous |\n"
              "|---|---|---|")
        for kind, (resident, anonymous) in sorted(seen["mappings"].items()):
            print(f"| {kind} | {megabytes(resident)} | {megabytes(anonymous)} |")
    print(f"\nThreads: {', '.join(link['threads'])}.")


def find(folders):
    """The programs, each in the first of `folders` that has it."""
    found = {name: shutil.which(name, path=folders) for name in
             ("link", "link-agent", "link-backend")}
    missing = [name for name, path in found.items() if not path]
    if missing:
        raise SystemExit(f"{', '.join(missing)}: not in {folders}; build it with --build")
    return {name: os.path.abspath(path) for name, path in found.items()}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--work", type=pathlib.Path, required=True)
    arguments.add_argument("--programs", required=True)
    arguments.add_argument("--model", type=pathlib.Path, required=True)
    arguments.add_argument("--mender")
    arguments.add_argument("--seconds", type=int, default=120)
    arguments.add_argument("--starts", type=int, default=10)
    options = arguments.parse_args()
    programs = find(options.programs)
    link = Link(options.work, programs)
    try:
        link.set_up(options.model)
        deployed = Process(link.process.pid).memory()
        starts = []
        for _ in range(options.starts + 1):
            link.stop()
            starts.append(link.start())
        wait(link.connected)
        assert [model["state"] for model in link.health()["models"]] == ["not_serving"]
        seen = observe(link.process.pid, options.seconds)
        assert link.connected(), "the agent has lost its backend"
        link.stop()
        link.reach_by("zenoh")
        link.start()
        wait(link.connected)
        over_zenoh = observe(link.process.pid, options.seconds)
        assert link.connected(), "the agent has lost its router"
        mender = {}
        if options.mender:
            name = f"mender-client {version(options.mender)}, no server"
            mender[name] = observe_mender(options.mender, options.work, options.seconds)
        tables(programs["link-agent"], seen, over_zenoh, deployed, mender, starts[1:], options.seconds)
    finally:
        if link.process and link.process.poll() is None:
            link.stop()
        link.backend.process.terminate()
        link.backend.process.wait(timeout=PATIENCE_SECONDS)


if __name__ == "__main__":
    main()
