"""Measures a real backend with simulated devices, and two brokers beside it; prints the tables of
benches/README.md.

  usage: backend.py --work DIR --programs DIRS [--devices N] [--zenoh-devices N] [--seconds N]
                    [--fast-disk DIR]
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import shutil
import socket
import subprocess
import time
import urllib.request

PASSWORD = "correct horse battery"
EMAIL = "owner@example.org"


def find(name, folders):
    for folder in folders.split(":"):
        if os.access(f"{folder}/{name}", os.X_OK):
            return f"{folder}/{name}"
    raise SystemExit(f"bench-backend: there is no {name} in {folders}")


def wait_for(what, look, patience=60):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise SystemExit(f"bench-backend: waited in vain for {what}")


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def syncs_per_second(folder):
    """How often this disk makes 4 KB durable, one after another."""
    path = pathlib.Path(folder) / "sync"
    file = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    start, count = time.monotonic(), 0
    while time.monotonic() - start < 2:
        os.write(file, b"x" * 4096)
        os.fdatasync(file)
        count += 1
    os.close(file)
    path.unlink()
    return count / (time.monotonic() - start)


class Backend:
    """A backend in a folder of its own, with an owner and a fleet key. `beside` has them already on the
    same database."""

    def __init__(self, folder, programs, *more, database=None, beside=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.load = find("link-load", programs)
        self.address, data = self.folder / "address", self.folder / "data"
        self.command = [
            find("link-backend", programs), "--log", "warn", "serve", "--data", data, "--listen",
            "127.0.0.1:0", "--address-file", self.address, "--device-limit", "100000", *more]
        self.environment = os.environ | ({"LINK_BACKEND_DATABASE_URL": database} if database else {})
        self.start()
        if beside:
            for name in ("key", "password"):
                shutil.copy(beside.folder / name, self.folder / name)
            return
        token = (data / "setup-token").read_text().strip()
        answer = self.post("/api/v1/setup", None, setup_token=token, email=EMAIL, password=PASSWORD)
        key = self.post("/api/v1/keys", answer["access_token"], kind="fleet")["key"]
        for name, secret in (("key", key), ("password", PASSWORD)):
            with open(self.folder / name, "w", encoding="ascii",
                      opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(secret + "\n")

    def start(self):
        """Starts the backend, also again after a stop."""
        self.address.unlink(missing_ok=True)
        with open(self.folder / "log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stderr=log)
        text = wait_for("the backend",
                        lambda: self.address.exists() and self.address.read_text().strip())
        self.url = f"http://{text}"

    def post(self, path, token, **body):
        headers = {"content-type": "application/json"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        # What hashes a password is limited for each address, and says when the next one is admitted.
        for _ in range(10):
            try:
                with urllib.request.urlopen(request) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as refused:
                if refused.code != 429:
                    raise
                time.sleep(int(refused.headers["retry-after"]))
        raise TimeoutError(f"{path} is refused again and again")

    def login(self):
        """Returns an access token of the owner."""
        answer = self.post("/api/v1/auth/login", None, email=EMAIL, password=PASSWORD)
        return answer["access_token"]

    def hold(self, devices, seconds):
        """Starts the program that keeps so many devices online for so long."""
        command = [self.load, "hold", "--backend", self.url, "--identities",
                   self.folder / "devices", "--fleet-key-file", self.folder / "key", "--devices",
                   str(devices), "--processes", str(-(-devices // 8000)), "--seconds",
                   str(seconds), "--pid", str(self.process.pid)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def online(self, token):
        """Returns how many devices are online."""
        request = urllib.request.Request(f"{self.url}/api/v1/summary",
                                         headers={"authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["devices"]["online"]

    def run(self, action, devices, *more):
        processes = -(-devices // 8000)
        command = [self.load, action, "--backend", self.url, "--identities",
                   self.folder / "devices", "--fleet-key-file", self.folder / "key", "--devices",
                   str(devices), "--processes", str(processes), "--pid", str(self.process.pid),
                   "--json", *more]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            print(f"(failed: link-load {action} with {devices} devices)\n", flush=True)
            return None
        return json.loads(done.stdout)

    def commands(self, devices, *more):
        return self.run("commands", devices, "--email", EMAIL, "--password-file",
                        self.folder / "password", *more)

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


def mb(number):
    return f"{number / 1e6:.1f} MB"


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def head(*cells):
    row(*cells)
    row(*("---" for _ in cells))


def measure(backend, where, options, over="http"):
    rate = ["--seconds", str(options.seconds), "--over", over]
    fast = backend.commands(1000, "--callers", "64", *rate)
    calm = backend.commands(1000, "--callers", "8", "--rate", "20", *rate)
    kinds = ("log", "system") if over == "http" else ()
    reports = {kind: backend.run("reports", 1000, "--kind", kind, "--senders", "32", *rate)
               for kind in kinds}
    head("on " + where, "per second", "p50", "p99", "refused", "CPU time of the backend")
    for name, found in (("repairs accepted and acknowledged, 64 callers", fast),
                        ("repairs at 20 per second", calm)):
        if found:
            times = found["acknowledged_after"]
            row(name, f"{found['acknowledged_per_second']:.0f}", f"{times['p50_us'] / 1e3:.1f} ms",
                f"{times['p99_us'] / 1e3:.1f} ms", found["refused"], f"{found['cpu_ms']} ms")
    for kind, found in reports.items():
        if found:
            times = found["taken_after"]
            row(f"{kind} reports, 32 senders", f"{found['taken_per_second']:.0f}",
                f"{times['p50_us'] / 1e3:.1f} ms", f"{times['p99_us'] / 1e3:.1f} ms",
                sum(found["refused"].values()), f"{found['cpu_ms']} ms")
    print()


def brokers(options):
    here = pathlib.Path(__file__).parent
    found = []
    for kind, program in (("mqtt", "mosquitto"), ("nats", "nats-server")):
        path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin")
        if not path:
            print(f"({program} is not here; it is left out)\n")
            continue
        folder, port = pathlib.Path(options.work) / kind, free_port()
        folder.mkdir()
        if kind == "mqtt":
            (folder / "conf").write_text(
                f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
                f"persistence_location {folder}/\nmax_connections -1\nlog_dest none\n"
                "user root\nmax_queued_messages 0\n")
            command = [path, "-c", folder / "conf"]
        else:
            command = [path, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", folder / "store"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(program, lambda port=port: answers(port))
            done = subprocess.run(
                ["python3", "-B", here / "brokers.py", kind, f"127.0.0.1:{port}", "--pid",
                 str(process.pid), "--connections", str(options.devices), "--seconds",
                 str(options.seconds)], stdout=subprocess.PIPE, check=False)
        finally:
            process.terminate()
            process.wait(30)
        if done.returncode == 0:
            found.append((program, json.loads(done.stdout)))
        else:
            print(f"({program} could not be measured)\n")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--devices", type=int, default=10_000)
    parser.add_argument("--zenoh-devices", type=int, default=1_500)
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--fast-disk")
    parser.add_argument("--build", default="release")
    options = parser.parse_args()
    version = subprocess.run([find("link-backend", options.programs), "--version"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    print(f"{datetime.date.today()}, {os.cpu_count()} processors, Linux {platform.release()}, load "
          f"{os.getloadavg()[0]:.1f} at the start; {version}, profile `{options.build}`; the disk "
          f"makes {syncs_per_second(options.work):.0f} writes of 4 KB durable per second\n", flush=True)

    backend = Backend(pathlib.Path(options.work) / "disk", options.programs)
    measure(backend, "the disk", options)
    backend.stop()
    places = [("memory", options.fast_disk)] if options.fast_disk else []
    places = places or [("the disk", options.work)]
    for name, place in places:
        backend = Backend(pathlib.Path(place) / "many", options.programs)
        if options.fast_disk:
            measure(backend, name, options)
        backend.stop()
        backend = Backend(pathlib.Path(place) / "held", options.programs)
        held = backend.run("hold", options.devices, "--seconds", "70")
        storms = backend.run("storm", options.devices, "--times", "2")
        backend.stop()
        # With less than a quarter of the reserve free a further router is opened after a minute.
        router = Backend(pathlib.Path(place) / "router", options.programs, "--zenoh-listen",
                         f"tcp/127.0.0.1:{free_port()}", "--zenoh-reserve",
                         str(options.zenoh_devices * 3 // 2))
        over = ["--over", "zenoh"]
        measure(router, f"{name}, over zenoh", options, "zenoh")
        zenoh_held = router.run("hold", options.zenoh_devices, "--seconds", "70", *over)
        zenoh_storms = router.run("storm", options.zenoh_devices, "--times", "2", *over)
        router.stop()
    found = brokers(options)

    head("held", "connections", "resident", "per connection", "CPU time in 70 s")
    for way, one, devices in (("long polls", held, options.devices),
                              ("sessions of zenoh", zenoh_held, options.zenoh_devices)):
        if one:
            usage = one["backend"]
            row(f"link-backend, {way}, data in {name}", one["least_online"],
                mb(usage["resident"]), f"{usage['resident'] / devices / 1e3:.1f} KB",
                f"{one['cpu_ms'] / 1e3:.1f} s")
    for program, one in found:
        row(f"{program}, one subscription each", one["connections"], mb(one["held_bytes"]),
            f"{one['bytes_per_connection'] / 1e3:.1f} KB", "–")
    print()
    head("storm of all devices", "settled after", "peak of the backend", "CPU time")
    for way, told, devices in (("HTTP", storms, options.devices),
                               ("zenoh", zenoh_storms, options.zenoh_devices)):
        for one in told["storms"] if told else []:
            row(f"{devices} over {way}", f"{one['settled_ms'] / 1e3:.1f} s",
                mb(one["backend"]["peak"]), f"{one['cpu_ms'] / 1e3:.1f} s")
    print()
    head("publishes that are answered", "per second", "p50", "p99")
    for program, one in found:
        what = "QoS 1" if one["kind"] == "mqtt" else "JetStream, file"
        row(f"{program}, {what}, {one['publishers']} publishers",
            f"{one['published_per_second']:.0f}", f"{one['p50_ms']:.1f} ms",
            f"{one['p99_ms']:.1f} ms")
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
