"""Measures what an operation of the backend costs with few devices, with many, and with a long history; prints a
table of benches/README.md.

  usage: growth.py --work DIR --programs DIRS [--devices N] [--seconds N] [--series N]
                  [--build PROFILE] [--check]

One backend runs for each column, each on its own SQLite file, and all of them run throughout. A series of an operation
visits one backend after the other, so that other work on the machine affects all columns alike. The cost is the CPU
time of the backend's process for each operation, less the CPU time that the idle process would have used.
"""

import argparse
import contextlib
import datetime
import http.client
import itertools
import json
import os
import pathlib
import platform
import re
import secrets
import statistics
import subprocess
import sys
import time
import urllib.parse

from agent import Process
from backend import EMAIL, PASSWORD, Backend, find, free_port, head, row
from history import DEEP, fill, public_key

WARM_UP = 5
# Operations that a device can do only once, in one series.
ONCE = 200
LEAST = 100
# After a start the backend deletes old records and checks a table.
SETTLE_SECONDS = 8
IDLE_SECONDS = 10

# A row grows if the medians and the least costs of its series differ by more than both. Other work on the machine
# raises a median now and then.
SHARE, ABSOLUTE_MS = 0.2, 0.05


class Exempt:
    """A row that may grow with the devices. From `since` devices on it may not; None: it always may. No row may grow
    with the history."""

    def __init__(self, why, since=None):
        self.why, self.since = why, since


EXCEPTIONS = {
    "device page of 200": Exempt("100 devices fill half of the page, so the row is compared from 1,000 on", 1_000),
    "`devices?select=tag=none,state=online`": Exempt(
        "a request of a selection reads a window of up to 2,000 devices, so the row is compared from 5,000 on", 5_000),
    "`deployments?stale=true&current=true`": Exempt(
        "a request of a filtered list reads a window of up to 2,000 deployments, so the row is compared from 5,000 on",
        5_000),
    "`/metrics` scrape": Exempt("a scrape counts the online devices, which reads every device once"),
}


def say(text):
    print(f"bench-growth: {text}", file=sys.stderr, flush=True)


def number(count):
    return f"{count:,}"


class Fleet:
    """A backend with devices and a history, and the operations that are measured."""

    def __init__(self, folder, programs, devices, history):
        self.devices, self.history = devices, history
        self.title = number(devices)
        if history:
            total = {name: number(each * devices) for name, each in DEEP.items()}
            self.title += (f" + {total['commands']} old commands, {total['logs']} log lines, {total['usage']} usage "
                           f"records, {total['deployments']} deployments")
        self.metrics = free_port()
        # By default a backend allows its own origin. Its port changes at a start, which makes every deployment stale.
        self.backend = Backend(folder, programs, "--metrics-listen", f"127.0.0.1:{self.metrics}", "--allowed-origin",
                               "https://work.example")
        try:
            self.key = (self.backend.folder / "key").read_text().strip()
            self.connect()
            self.set_up()
            self.close()
            self.backend.stop()
            self.tokens = fill(self.backend.folder / "data" / "link.db", self)
            self.backend.start()
        except BaseException:
            self.backend.process.kill()
            raise
        self.process = Process(self.backend.process.pid)
        # Milliseconds of CPU time per second.
        self.idle = 0.0
        self.fresh, self.greeted = [], []
        self.turn = itertools.cycle(sorted(self.tokens))
        self.again = None

    def connect(self):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.backend.url).netloc, timeout=60)
        self.scraper = http.client.HTTPConnection("127.0.0.1", self.metrics, timeout=60)

    def close(self):
        self.connection.close()
        self.scraper.close()

    def call(self, method, path, token=None, body=None, connection=None, **headers):
        """Sends a request over the connection that stays open during a series."""
        if token:
            headers["authorization"] = f"Bearer {token}"
        if body is not None:
            headers["content-type"] = "application/json"
        connection = connection or self.connection
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"bench-growth: {method} {path}: {answer.status} {text.decode()}")
        return text

    def own(self, method, path, body=None, **headers):
        return json.loads(self.call(method, "/api/v1/" + path, self.owner, body, **headers))

    def agent(self, method, device, path, body=None):
        return self.call(method, f"/api/v1/agent/{device}/{path}", self.tokens[device], body)

    # The sample, which the others are copies of.

    def set_up(self):
        """Registers a device that has a sample, a deployed model and a finished repair."""
        login = self.backend.post("/api/v1/auth/login", None, email=EMAIL, password=PASSWORD)
        scopes = [f"{what}:read" for what in ("devices", "models", "deployments", "commands")]
        scopes += ["models:write", "deployments:write", "serving:operate"]
        # An access token expires after 15 minutes.
        self.owner = self.backend.post("/api/v1/tokens", login["access_token"], name="bench", scopes=scopes)["token"]
        device, token = self.register()
        self.sample, self.tokens = device, {device: token}
        self.model = self.own("POST", "models", {
            "name": "chat", "file_name": "chat.gguf", "url": "http://127.0.0.1:9/chat.gguf", "sha256": "0" * 64,
            "size_bytes": 1})["model_id"]
        self.hello(device)
        deployed = self.own("POST", "deployments", {"device_id": device, "model_id": self.model})
        self.carry_out(device, deployed["command_id"])
        report = {"model_id": self.model, "pipeline_id": self.model.replace("mdl_", "pip_"), "state": "serving",
                  "is_serving": True, "port": deployed["port"], "allowlist_digest": deployed["allowlist_digest"],
                  "generation": 1}
        self.serving = [report]
        self.hello(device, self.serving)
        self.agent("POST", device, "system", {
            "cpu_percent": 12.5, "cpu_count": 4, "load_1m": 0.5,
            "memory": {"used_bytes": 1 << 30, "total_bytes": 1 << 33},
            "agent": {"cpu_percent": 0.1, "memory_bytes": 14 << 20}})
        self.log(device)
        self.repair(device)

    def register(self):
        key = secrets.token_bytes(32)
        body = {
            "fleet_key": self.key, "name": "simulated", "agent_version": "1.0.0", "public_key": public_key(key),
            "platform": {"os": "linux", "arch": "x86_64", "hostname": "simulated"}}
        answer = json.loads(self.call("POST", "/api/v1/devices/register-with-key", None, body))
        return answer["device_id"], answer["device_token"]

    def hello(self, device, serving=()):
        self.agent("POST", device, "hello", {
            "epoch": 1, "boot_id": "boot", "agent_version": "1.0.0", "last_seq": 0, "inflight": [],
            "serving": list(serving)})

    def log(self, device):
        self.call("POST", "/api/v1/logs", self.tokens[device], {
            "message": "the simulated device says something", "severity": "info", "category": "load"})

    def poll(self, device):
        return json.loads(self.agent("GET", device, "commands?after=0&wait=0"))["commands"]

    def repair(self, device):
        path = f"models/{self.model}/repair-serving/{device}"
        command = self.own("POST", path, **{"idempotency-key": secrets.token_hex(16)})["command_id"]
        self.carry_out(device, command)

    def carry_out(self, device, command):
        delivered = [json.loads(signed["envelope"])["command_id"] for signed in self.poll(device)]
        if delivered != [command]:
            raise SystemExit(f"bench-growth: {device} got {delivered} instead of {command}")
        told = {"command_id": command, "attempt": 1}
        self.agent("POST", device, f"commands/{command}/receipt", told | {"receipt": "stored"})
        self.agent("POST", device, f"commands/{command}/status", told | {"status": "succeeded", "output": "done"})

    # The operations. Those that add devices come last.

    def operations(self):
        def get(path):
            return lambda: self.call("GET", "/api/v1/" + path, self.owner)

        def with_probe(what):
            return lambda: what(next(self.turn))

        probe = min(self.tokens)
        return {
            "hello, one model": with_probe(lambda device: self.hello(device, self.serving)),
            "poll turn (wait=0)": with_probe(self.poll),
            "log report, alone": with_probe(self.log),
            "repair, whole": with_probe(self.repair),
            "device page of 200": get("devices?limit=200"),
            "`devices?select=tag=none,state=online`": get("devices?select=tag=none,state=online"),
            "`deployments?stale=true&current=true`": get("deployments?stale=true&current=true"),
            "`GET /deployments` page 50": get("deployments?limit=50"),
            "`GET /commands` page 50": get("commands?limit=50"),
            "`GET /commands?device_id=`": get(f"commands?device_id={probe}&limit=50"),
            "`GET /commands?open=true`": get("commands?open=true&limit=50"),
            "`/metrics` scrape": self.scrape,
            "registration": self.first_registration,
            "first hello": self.first_hello,
            "second hello": self.second_hello,
        }

    def scrape(self):
        return self.call("GET", "/metrics", connection=self.scraper).decode()

    def first_registration(self):
        self.fresh.append(self.register())

    def first_hello(self):
        device, token = self.fresh.pop()
        self.tokens[device] = token
        self.hello(device)
        self.greeted.append(device)

    def second_hello(self):
        self.again = self.again or itertools.cycle(self.greeted)
        self.hello(next(self.again))

    # The measurement.

    def measure(self, name, operation, seconds):
        """One series. Returns milliseconds of CPU time per operation."""
        once = name in ("registration", "first hello")
        self.connect()
        for _ in range(WARM_UP):
            operation()
        count, cpu, began = 0, self.process.cpu_seconds(), time.monotonic()
        while count < ONCE if once else count < LEAST or time.monotonic() < began + seconds:
            operation()
            count += 1
        elapsed, cpu = time.monotonic() - began, self.process.cpu_seconds() - cpu
        self.close()
        return (cpu * 1e3 - self.idle * elapsed) / count

    def sweeps(self):
        """The number of sweeps so far, and the milliseconds that they took."""
        self.connect()
        text = self.scrape()
        self.close()
        found = [re.search(rf'^link_database_seconds_{part}{{what="sweep"}} (\S+)$', text, re.M)
                 for part in ("count", "sum")]
        return [float(match[1]) * factor if match else 0.0 for match, factor in zip(found, (1, 1e3))]


def observe_idle(fleets, series):
    """Lets all backends rest. Returns the milliseconds of CPU time per second and per sweep of each, in series."""
    time.sleep(SETTLE_SECONDS)
    idle, swept = [], []
    for _ in range(series):
        before = [fleet.sweeps() for fleet in fleets]
        # The scrapes themselves are not idleness.
        time.sleep(0.5)
        cpu, began = [fleet.process.cpu_seconds() for fleet in fleets], time.monotonic()
        time.sleep(IDLE_SECONDS)
        elapsed = time.monotonic() - began
        idle.append([(fleet.process.cpu_seconds() - cpu) * 1e3 / elapsed for fleet, cpu in zip(fleets, cpu)])
        after = [fleet.sweeps() for fleet in fleets]
        swept.append([(late[1] - early[1]) / max(late[0] - early[0], 1) for early, late in zip(before, after)])
    return idle, swept


def ms(value):
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def grew(before, after):
    return after > before * (1 + SHARE) and after - before > ABSOLUTE_MS


def judge(name, series, devices):
    """Returns the two ratios as text, and whether the row grew although no exception says why."""
    ways = [[way(column) for column in zip(*series)] for way in (statistics.median, min)]
    exempt = EXCEPTIONS.get(name)
    since = exempt.since if exempt else devices[0]

    def has_grown(before, after):
        return all(grew(costs[before], costs[after]) for costs in ways)

    texts = []
    for before, after in ((0, -2), (-2, -1)):
        text = f"{ways[0][after] / max(ways[0][before], 0.001):.2f}"
        texts.append(f"**{text}**" if has_grown(before, after) else text)
    if since is None:
        return texts, has_grown(-2, -1)
    base = next((place for place, count in enumerate(devices) if count >= since), -2)
    return texts, has_grown(base, -2) or has_grown(-2, -1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--devices", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--series", type=int, default=3)
    parser.add_argument("--build", default="release")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.devices < 1_000:
        parser.error("--devices is at least 1000")
    version = subprocess.run([find("link-backend", options.programs), "--version"], stdout=subprocess.PIPE, text=True,
                             check=True).stdout.strip()
    load = os.getloadavg()[0]
    counts = sorted({100, options.devices // 10, options.devices // 2, options.devices})
    columns = [(count, False) for count in counts] + [(options.devices, True)]
    with contextlib.ExitStack() as running:
        fleets = []
        for place, (devices, history) in enumerate(columns):
            fleets.append(Fleet(pathlib.Path(options.work) / f"fleet-{place}", options.programs, devices, history))
            running.callback(fleets[-1].backend.stop)
            say(f"{fleets[-1].title}: running")
        idle, swept = observe_idle(fleets, options.series)
        found = {}
        for fleet, rates in zip(fleets, zip(*idle)):
            fleet.idle = statistics.median(rates)
        operations = [fleet.operations() for fleet in fleets]
        for name in operations[0]:
            found[name] = [[fleet.measure(name, mine[name], options.seconds) for fleet, mine in
                            zip(fleets, operations)] for _ in range(options.series)]
            say(f"{name}: " + "; ".join(", ".join(map(ms, one)) for one in zip(*found[name])))
    found["sweep, wall, quiet"] = swept
    found["idle, CPU ms per second, nobody connected"] = idle
    tell(found, fleets, options, version, load)


def tell(found, fleets, options, version, load):
    first = ("registration", "first hello", "second hello")
    order = [*first, *(name for name in found if name not in first)]
    devices = [fleet.devices for fleet in fleets]
    most = number(fleets[-1].devices)
    print(f"{datetime.date.today()}, {os.cpu_count()} processors, Linux {platform.release()}, load {load:.1f} at the "
          f"start and {os.getloadavg()[0]:.1f} at the end; {version}, profile `{options.build}`; CPU ms of the backend "
          f"per operation, the median of {options.series} series\n")
    head("operation", *(fleet.title for fleet in fleets), f"{most} against {number(devices[0])}",
         f"history against {most}")
    faults, exempt = [], []
    for name in order:
        costs = [statistics.median(one) for one in zip(*found[name])]
        texts, fault = judge(name, found[name], devices)
        if fault:
            faults.append(name)
        if name in EXCEPTIONS:
            exempt.append(name)
        row(name, *map(ms, costs), *texts)
    print(f"\nBold: more than {SHARE:.0%} and {ABSOLUTE_MS} ms. Rows that may grow with the devices:\n")
    for name in exempt:
        print(f"- {name}: {EXCEPTIONS[name].why}.")
    for name in faults:
        print(f"\n**{name} grows, and nothing says why.**")
    if options.check and faults:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
