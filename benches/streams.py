"""Measures the event streams of a real backend: what open ones cost, and how long an event takes
from the report of a device to each of them.

  usage: streams.py --work DIR --programs DIRS [--devices N] [--streams N] [--seconds N]
"""

import argparse
import asyncio
import json
import re
import time

from backend import PASSWORD, Backend, wait_for

# What one user may have open (`limits::EVENT_STREAMS`).
STREAMS_OF_A_USER = 10
REPORTS_PER_SECOND = 5
MOST_ADDED = 25e6  # Bytes that all streams together may add.
MARK = re.compile(rb'"load_1m":(\d+)\.5')


def resources(pid):
    """The resident and the anonymous memory of a process in bytes, and its CPU time in seconds."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        ticks = file.read().rsplit(")", 1)[1].split()[11:13]
    memory = (int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "RssAnon"))
    return (*memory, sum(map(int, ticks)) / 100)


def users(backend, owner, count):
    """The access tokens of new members of the owner's account."""
    for number in range(count):
        invited = backend.post("/api/v1/members/invitations", owner, role="viewer")
        joined = backend.post("/api/v1/members/accept", None, password=PASSWORD,
                              email=f"viewer{number}@example.org",
                              invitation_token=invited["invitation_token"])
        yield joined["access_token"]


class Streams:
    """Open event streams. `sent` has the time of each report, `took` the seconds until each event."""

    def __init__(self, url):
        self.host, port = url.removeprefix("http://").rsplit(":", 1)
        self.port, self.sent, self.took, self.ready, self.cut = int(port), {}, [], 0, 0
        self.tasks = []

    def open(self, token):
        self.tasks.append(asyncio.create_task(self.read(token)))

    async def read(self, token):
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(f"GET /api/v1/events HTTP/1.1\r\nhost: {self.host}:{self.port}\r\n"
                     f"authorization: Bearer {token}\r\n\r\n".encode())
        try:
            while line := await reader.readline():
                if line.startswith(b"event: ready"):
                    self.ready += 1
                elif marked := MARK.search(line):
                    sent = self.sent.get(int(marked[1]))
                    if sent:
                        self.took.append(time.monotonic() - sent)
            self.cut += 1
        finally:
            writer.close()

    async def report(self, devices, seconds):
        """Sends a report of one device after another, over a connection that stays."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        for number in range(1, seconds * REPORTS_PER_SECOND + 1):
            device = devices[number % len(devices)]
            body = json.dumps({
                "cpu_percent": 12.5, "cpu_count": 4, "load_1m": number + 0.5,
                "memory": {"used_bytes": 1 << 30, "total_bytes": 1 << 33},
                "agent": {"cpu_percent": 0.1, "memory_bytes": 14 << 20}}).encode()
            self.sent[number] = time.monotonic()
            writer.write(f"POST /api/v1/agent/{device['device_id']}/system HTTP/1.1\r\n"
                         f"host: {self.host}:{self.port}\r\ncontent-type: application/json\r\n"
                         f"authorization: Bearer {device['device_token']}\r\n"
                         f"content-length: {len(body)}\r\n\r\n".encode() + body)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 2"):
                raise SystemExit(f"bench-backend: a report was refused: {head}")
            length = re.search(rb"content-length: (\d+)", head)
            await reader.readexactly(int(length[1]) if length else 0)
            await asyncio.sleep(self.sent[1] + number / REPORTS_PER_SECOND - time.monotonic())
        writer.close()


def quantile(times, share):
    return sorted(times)[-(-len(times) * share // 100) - 1] * 1000


async def measure(backend, tokens, chosen):
    pid = backend.process.pid
    streams = Streams(backend.url)
    devices = [json.loads(line) for line in (backend.folder / "devices").read_text().splitlines()]
    streams.open(tokens[0])
    await asyncio.sleep(3)  # The first stream makes the feed of the account, whoever else comes.
    before = resources(pid)
    for number in range(1, chosen.streams):
        streams.open(tokens[number // STREAMS_OF_A_USER])
        if number % 50 == 0:
            await asyncio.sleep(0.2)
    while streams.ready < chosen.streams:
        await asyncio.sleep(0.1)
    await asyncio.sleep(5)
    opened = resources(pid)
    await streams.report(devices, chosen.seconds)
    await asyncio.sleep(2)
    after = resources(pid)
    for task in streams.tasks:
        task.cancel()
    reports = len(streams.sent)
    held = after[0] - before[0]
    added, anonymous = opened[0] - before[0], opened[1] - before[1]
    print(f"""
| what | measured | goal |
|---|---|---|
| memory that {chosen.streams} streams add, {chosen.devices} devices online | {added / 1e6:.1f} MB \
({anonymous / 1e6:.1f} MB of it the backend's own, {added / chosen.streams / 1000:.0f} kB each) | 25 MB |
| the same after {reports} reports to all of them | {held / 1e6:.1f} MB | 25 MB |
| from a report to its event, {REPORTS_PER_SECOND} reports a second | p50 \
{quantile(streams.took, 50):.0f} ms, p99 {quantile(streams.took, 99):.0f} ms, at most \
{max(streams.took) * 1000:.0f} ms | p99 500 ms |
| events that came, of {reports * chosen.streams} | {len(streams.took)} | all |
| CPU time of the backend for each event | \
{(after[2] - opened[2]) / max(1, len(streams.took)) * 1e6:.0f} us | – |
| streams that were cut | {streams.cut} | 0 |
""")
    if max(added, held) > MOST_ADDED:
        print(f"the streams add more than {MOST_ADDED / 1e6:.0f} MB")
        return False
    return len(streams.took) == reports * chosen.streams and not streams.cut


def main():
    parser = argparse.ArgumentParser()
    for name in ("--work", "--programs"):
        parser.add_argument(name, required=True)
    parser.add_argument("--devices", type=int, default=1000)
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=60)
    chosen = parser.parse_args()
    backend = Backend(f"{chosen.work}/backend", chosen.programs)
    held = None
    try:
        held = backend.hold(chosen.devices, 3600)
        owner = backend.login()
        wait_for("the devices", lambda: backend.online(owner) >= chosen.devices, 840)
        tokens = list(users(backend, owner, -(-chosen.streams // STREAMS_OF_A_USER)))
        raise SystemExit(0 if asyncio.run(measure(backend, tokens, chosen)) else 1)
    finally:
        if held:
            held.terminate()
            held.wait(30)
        backend.stop()


if __name__ == "__main__":
    main()
