"""Measures repairs on SQLite and on PostgreSQL in one run; prints the table of benches/README.md.

  usage: databases.py --work DIR --programs DIRS [--devices N] [--seconds N]

PostgreSQL is Debian's, in a folder of its own on the same disk, with its durable defaults. Two
backends share it in two rows: once the second one is idle, once each has half of the devices.
"""

import argparse
import glob
import os
import pathlib
import pwd
import subprocess
import threading

from backend import Backend, head, row, wait_for

CALLERS = (1, 16, 64)


class Cluster:
    """A server of PostgreSQL that listens on a socket in its folder."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not found:
            raise SystemExit("bench-backend: there is no PostgreSQL; `scripts/prepare postgres` installs it")
        self.programs = pathlib.Path(found[-1])
        self.user = []
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            # The server runs as its own user and has to reach its folder.
            for parent in [self.folder, *self.folder.parents]:
                if parent.stat().st_uid == 0 and parent.parent != parent:
                    parent.chmod(parent.stat().st_mode | 0o011)
            self.user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
        data = self.folder / "data"
        self.run("initdb", "--encoding=UTF8", "--locale=C", "--auth=trust", "--username=link", "-D", data)
        self.server = subprocess.Popen(
            [*self.user, self.programs / "postgres", "-D", data, "-c", "listen_addresses=", "-c",
             f"unix_socket_directories={self.folder}", "-c", "max_connections=200"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("PostgreSQL", lambda: subprocess.run(
            [self.programs / "pg_isready", "-q", "-h", self.folder], check=False).returncode == 0)

    def run(self, program, *arguments):
        return subprocess.run([*self.user, self.programs / program, *arguments], check=True,
                              stdout=subprocess.PIPE, text=True, cwd="/").stdout

    def database(self, name):
        self.run("psql", "-h", self.folder, "-U", "link", "-d", "postgres", "-qc", f"CREATE DATABASE {name}")
        return f"postgres://link@localhost/{name}?host={self.folder}"

    def rollbacks(self, name):
        text = self.run("psql", "-h", self.folder, "-U", "link", "-d", "postgres", "-Atc",
                        f"SELECT xact_rollback FROM pg_stat_database WHERE datname = '{name}'")
        return int(text)

    def stop(self):
        self.server.terminate()
        self.server.wait(30)


def repair(backend, devices, callers, seconds):
    return backend.commands(devices, "--callers", str(callers), "--seconds", str(seconds), "--over", "http")


def both(backends, devices, callers, seconds):
    """Half of the devices and callers at each backend, at the same time."""
    found = [None, None]

    def one(place):
        found[place] = repair(backends[place], devices // 2, max(callers // 2, 1), seconds)

    threads = [threading.Thread(target=one, args=(place,)) for place in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def tell(what, callers, found, rollbacks):
    if not all(found):
        return
    rate = sum(one["acknowledged_per_second"] for one in found)
    cpu = sum(one["cpu_ms"] for one in found)
    repairs = max(sum(one["acknowledged"] for one in found), 1)
    p50 = max(one["acknowledged_after"]["p50_us"] for one in found) / 1e3
    p99 = max(one["acknowledged_after"]["p99_us"] for one in found) / 1e3
    shown = "–" if rollbacks is None else f"{rollbacks / repairs:.2f}"
    row(what, callers, f"{rate:.0f}", f"{p50:.1f} ms", f"{p99:.1f} ms", f"{cpu / repairs:.2f} ms", shown)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--devices", type=int, default=300)
    parser.add_argument("--seconds", type=int, default=15)
    options = parser.parse_args()
    work = pathlib.Path(options.work)
    head("database", "callers", "repairs per second", "p50", "p99", "CPU of the backends per repair",
         "rollbacks per repair")
    sqlite = Backend(work / "sqlite", options.programs)
    for callers in CALLERS:
        tell("SQLite", callers, [repair(sqlite, options.devices, callers, options.seconds)], None)
    sqlite.stop()
    cluster = Cluster(work / "postgres")
    url = cluster.database("repairs")
    first = Backend(work / "first", options.programs, database=url)

    def counted(what, callers, run):
        before = cluster.rollbacks("repairs")
        found = run()
        tell(what, callers, found, cluster.rollbacks("repairs") - before)

    for callers in CALLERS:
        counted("PostgreSQL, one backend", callers,
                lambda callers=callers: [repair(first, options.devices, callers, options.seconds)])
    second = Backend(work / "second", options.programs, database=url, beside=first)
    counted("PostgreSQL, the second backend idle", 16,
            lambda: [repair(first, options.devices, 16, options.seconds)])
    for callers in CALLERS[1:]:
        counted("PostgreSQL, two backends", callers,
                lambda callers=callers: both([first, second], options.devices, callers, options.seconds))
    for backend in (first, second):
        backend.stop()
    cluster.stop()


if __name__ == "__main__":
    main()
