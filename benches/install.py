"""Measures first installations over loopback and prints Markdown tables: see scripts/bench-install.

Every installation has a home of its own, and what it made is taken away before the next. The kinds
take turns, so that what else the machine does falls on all of them alike.
"""

import argparse
import functools
import http.client
import http.server
import json
import os
import pathlib
import platform
import shutil
import socket
import ssl
import statistics
import subprocess
import tarfile
import threading
import time

POLL_SECONDS = 0.005
PATIENCE_SECONDS = 60
# What a login shell would have, and nothing that a proxy or a user of this machine has set.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "SHELL": "/bin/bash", "LANG": "C.UTF-8"}


class Backend:
    """A real backend and its first account."""

    def __init__(self, program, work, *more):
        self.process = subprocess.Popen(
            [program, "serve", "--data", work / "data", "--listen", "127.0.0.1:0",
             "--address-file", work / "address", *more],
            stdout=(work / "backend.log").open("wb"), stderr=subprocess.STDOUT)
        written = lambda: (work / "address").exists() and (work / "address").read_text().strip()
        self.address = wait(written).removeprefix("http://").rstrip("/")
        self.connection = http.client.HTTPConnection(self.address, timeout=PATIENCE_SECONDS)
        setup_token = (work / "data" / "setup-token").read_text().strip()
        self.token = None
        self.token = self.call("POST", "/api/v1/setup", {
            "setup_token": setup_token, "email": "bench@example.com",
            "password": "correct horse battery"})["access_token"]

    def call(self, method, path, body=None):
        headers = {"content-type": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        self.connection.request(method, path, json.dumps(body) if body else None, headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {text.decode()}")
        return json.loads(text) if text else None

    def registration_key(self):
        return self.call("POST", "/api/v1/keys", {"kind": "registration"})["key"]

    def a_device_is_online(self):
        return any(device["online"] for device in self.call("GET", "/api/v1/devices")["items"])


def wait(condition):
    """Returns what `condition` gives as soon as it gives something."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(POLL_SECONDS)
    raise SystemExit(f"nothing happened within {PATIENCE_SECONDS} s")


def serve(folder, work, tls):
    """Serves `folder` on loopback and returns its address."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    if tls:
        certificate, key = work / "certificate.pem", work / "key.pem"
        if not certificate.exists():
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                 "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
                 "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"


def addresses(folder, work):
    """The ways to fetch what is in `folder`."""
    return {"file": f"file://{folder}", "http": serve(folder, work, False),
            "https": serve(folder, work, True)}


def run(command, home, work, online=None, **variables):
    """Runs an installer in a new home. Returns after how many seconds it had ended and, where that
    can be asked, the device was online."""
    home.mkdir()
    for name in (".profile", ".bashrc"):
        (home / name).touch()
    environment = ENVIRONMENT | {"HOME": str(home), "CURL_CA_BUNDLE": str(work / "certificate.pem")}
    seconds = {}
    with (work / "said").open("wb") as said:
        began = time.monotonic()
        process = subprocess.Popen(command, env=environment | variables,
                                   stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def done():
        if process.poll():
            raise SystemExit(f"{command}: {process.returncode}\n{(work / 'said').read_text()}")
        if process.returncode == 0:
            seconds.setdefault("installer has ended", time.monotonic() - began)
        if online and "device is online" not in seconds and online():
            seconds["device is online"] = time.monotonic() - began
        return len(seconds) == (2 if online else 1)

    wait(done)
    return seconds


class Link:
    def __init__(self, work, backend):
        self.name = "Link"
        self.folder, self.work, self.backend = work / "release", work, backend
        self.archive = next(archive for archive in self.folder.glob("*.tar.gz")
                            if not archive.name.endswith("-backend.tar.gz"))
        with tarfile.open(self.archive) as tar:
            self.files = len(tar.getnames())
        self.home = work / "home-link"

    def install(self, source):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        return run(
            ["sh", self.folder / "install.sh"], self.home, self.work,
            self.backend.a_device_is_online, LINK_INSTALL_URL=source,
            LINK_BACKEND_URL=f"http://{self.backend.address}", LINK_LOCAL_PORT=str(port),
            LINK_REGISTRATION_KEY=self.backend.registration_key(), LINK_SERVICE="none")

    def remove(self):
        link = self.home / ".local/share/link/current/link"
        subprocess.run([link, "uninstall", "--yes"], check=True, capture_output=True,
                       stdin=subprocess.DEVNULL, env=ENVIRONMENT | {"HOME": str(self.home)})
        assert not self.backend.a_device_is_online(), "the device of the last run is still there"


class Uv:
    """uv's own script; its programs come from the package registry, packed as the script wants."""

    def __init__(self, work, script):
        lines = pathlib.Path(script).read_text().splitlines()
        version = next(line for line in lines if line.startswith("APP_VERSION=")).split('"')[1]
        self.name = f"uv {version}"
        self.script, self.work = script, work
        self.folder, wheel = work / "uv", work / "wheel"
        self.folder.mkdir()
        subprocess.run(
            ["python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
             "--only-binary", ":all:", "--root-user-action=ignore", "--target", wheel,
             f"uv=={version}"], check=True)
        name = f"uv-{platform.machine()}-unknown-linux-gnu"
        self.archive = self.folder / f"{name}.tar.gz"
        with tarfile.open(self.archive, "w:gz") as tar:
            for program in ("uv", "uvx"):
                tar.add(wheel / "bin" / program, f"{name}/{program}")
        self.files = 2
        self.home = work / "home-uv"

    def install(self, source):
        seconds = run(["sh", self.script], self.home, self.work, UV_DOWNLOAD_URL=source)
        assert (self.home / ".local/bin/uv").exists(), "uv is not where it was to be"
        return seconds

    def remove(self):
        pass


class Rustup:
    """rustup's own script, without a toolchain; the program is the same file under either name."""

    def __init__(self, work, script):
        program = shutil.which("rustup") or pathlib.Path.home() / ".cargo/bin/rustup"
        version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
        self.name = " ".join(version.stdout.split()[:2])
        self.script, self.work, self.folder = script, work, work / "rustup"
        self.archive = self.folder / f"dist/{platform.machine()}-unknown-linux-gnu/rustup-init"
        self.archive.parent.mkdir(parents=True)
        shutil.copy(program, self.archive)
        self.files = 1
        self.home = work / "home-rustup"

    def install(self, source):
        if not source.startswith("https:"):
            return None
        seconds = run(["sh", self.script, "-y", "--default-toolchain", "none"], self.home,
                      self.work, RUSTUP_UPDATE_ROOT=source)
        assert (self.home / ".cargo/bin/rustup").exists(), "rustup is not where it was to be"
        return seconds

    def remove(self):
        pass


def measure(kinds, runs, work):
    """Returns the seconds of each kind, transport and end."""
    sources = {kind.name: addresses(kind.folder, work) for kind in kinds}
    seconds = {}
    for turn in range(runs + 1):
        for kind in kinds:
            for transport, source in sources[kind.name].items():
                if (took := attempt(kind, source)) is None:
                    continue
                for end, value in took.items() if turn else ():
                    seconds.setdefault((kind.name, transport, end), []).append(value)
    return seconds


def attempt(kind, source):
    """Installs once, and takes away what is there even if that failed."""
    try:
        return kind.install(source)
    finally:
        if kind.home.exists():
            kind.remove()
            shutil.rmtree(kind.home)


def table(kinds, seconds, runs):
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                if line.startswith("model name")), platform.machine())
    print(f"{time.strftime('%Y-%m-%d', time.gmtime())}, {os.cpu_count()} cores ({cpu}), "
          f"Linux {platform.release()}, load {os.getloadavg()[0]:.1f} at the end; "
          f"{runs} runs each, one more not counted\n")
    print("| what | from | until | median | least | most | standard deviation |")
    print("|---|---|---|---|---|---|---|")
    for (name, transport, end), values in seconds.items():
        numbers = [statistics.median(values), min(values), max(values), statistics.pstdev(values)]
        print(f"| {name} | {transport} | {end} | "
              + " | ".join(f"{number * 1000:.0f} ms" for number in numbers) + " |")
    print("\n| what | download | files in it |\n|---|---|---|")
    for kind in kinds:
        print(f"| {kind.name} | {kind.archive.stat().st_size:,} bytes | {kind.files} |")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--work", type=pathlib.Path, required=True)
    arguments.add_argument("--backend", required=True)
    arguments.add_argument("--runs", type=int, default=10)
    arguments.add_argument("--uv")
    arguments.add_argument("--rustup")
    options = arguments.parse_args()
    backend = Backend(options.backend, options.work)
    try:
        kinds = [Link(options.work, backend)]
        kinds += [Uv(options.work, options.uv)] if options.uv else []
        kinds += [Rustup(options.work, options.rustup)] if options.rustup else []
        table(kinds, measure(kinds, options.runs, options.work), options.runs)
    finally:
        backend.process.terminate()
        backend.process.wait(timeout=PATIENCE_SECONDS)


if __name__ == "__main__":
    main()
