"""Fills the SQLite file of a stopped backend with devices and a history, all copies of one registered device.

The rows are those that the backend itself writes, and the counters match them. As in a real history, ids and times
ascend, and those of different devices alternate.
"""

import base64
import contextlib
import hashlib
import json
import secrets
import sqlite3
import time

DAY_MS = 24 * 3_600_000
HOUR_MS = 3_600_000
# The history spans this time. It is shorter than each retention, so that nothing is deleted or merged.
HISTORY_MS = 20 * DAY_MS
# What a device with a history has.
DEEP = {"commands": 100, "deployments": 11, "logs": 100, "usage": 100}
# Devices that have a history in every column. Operations on one device use them, so that their pages are equally full.
PROBES = 10
# Other devices that have one open command each in every column.
OPEN = 60


def public_key(key):
    """A key as the API writes it. Nothing is signed with it."""
    text = base64.urlsafe_b64encode(key).decode().rstrip("=")
    return {"kid": hashlib.sha256(key).hexdigest()[:16], "public_key": text}


def identifier(kind, ms, what):
    """An SQL text for an id whose UUID has version 7: `ms` is its time, and `what` tells apart ids of the same time."""
    return f"'{kind}_' || printf('%012x7%03x8%015x', {ms}, 0, {what})"


def fill(file, fleet):
    """Copies the sample into a stopped backend's database. Returns the tokens of the devices with a history."""
    now = int(time.time() * 1000)
    begin, sample = now - HISTORY_MS, fleet.sample
    # SQLite of this Python and of the backend write the same format.
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -500000")
        # Indexes are made again from their own text after the rows, which is faster.
        indexes = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL").fetchall()
        for name, _ in indexes:
            db.execute(f"DROP INDEX {name}")
        db.execute("BEGIN")
        tokens = fill_devices(db, fleet, begin, now)
        fill_history(db, sample, begin)
        db.execute("COMMIT")
        for _, text in indexes:
            db.execute(text)
        found = db.execute("SELECT COUNT(*) FROM devices").fetchone()[0]
    if found != fleet.devices:
        raise SystemExit(f"bench-growth: there are {found} devices instead of {fleet.devices}")
    return tokens


def copy(db, table, source, tables, where, **changed):
    """Copies the row `s` that `source` names, once for each row of `tables`, with some columns changed."""
    columns = [column[1] for column in db.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(changed.get(column, f"s.{column}") for column in columns)
    db.execute(f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {tables} CROSS JOIN {table} s "
               f"WHERE s.rowid = ({source}) AND {where}")


def fill_devices(db, fleet, begin, now):
    db.execute("CREATE TEMP TABLE fleet (n INTEGER PRIMARY KEY, token_digest TEXT, public_key TEXT, commands INTEGER, "
               "deployments INTEGER, logs INTEGER, usage INTEGER, open BOOLEAN, device_id TEXT)")
    probes = {}
    for n in range(1, fleet.devices):
        token = "ldt_" + secrets.token_urlsafe(32)
        if n <= PROBES:
            probes[n] = token
        key = json.dumps(public_key(secrets.token_bytes(32)), separators=(",", ":"))
        deep = DEEP if fleet.history or n <= PROBES else {"commands": 1, "deployments": 1, "logs": 0, "usage": 0}
        db.execute("INSERT INTO fleet VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                   [n, hashlib.sha256(token.encode()).hexdigest(), key, *deep.values(), PROBES < n <= PROBES + OPEN])
    db.execute(f"UPDATE fleet SET device_id = {identifier('dev', str(begin), 'n')}")
    row_of = f"SELECT rowid FROM {{}} WHERE device_id = '{fleet.sample}' LIMIT 1"
    copy(db, "devices", row_of.format("devices"), "fleet f", "TRUE", device_id="f.device_id",
         token_digest="f.token_digest", public_key="f.public_key", name="'simulated-' || f.n", tags="'[\"lab\"]'",
         registered_ms=str(begin), last_seq="f.commands + f.open")
    for table in ("model_states", "system_samples"):
        copy(db, table, row_of.format(table), "fleet f", "TRUE", device_id="f.device_id")
    for table in ("accounts", "enrolment_keys"):
        db.execute(f"UPDATE {table} SET devices = ?", [fleet.devices])
    # An open command waits for delivery; its place in the history is the newest one.
    copy(db, "commands", "SELECT MAX(rowid) FROM commands", "fleet f", "f.open",
         command_id=identifier("cmd", str(now), "f.n"), device_id="f.device_id", seq="f.commands + 1",
         state="'queued'", attempt="0", result="NULL", reported_ms="NULL", issued_ms=str(now),
         expires_ms=str(now + DAY_MS), next_delivery_ms=str(now))
    return {found: probes[n] for n, found in
            db.execute("SELECT n, device_id FROM fleet WHERE n <= ?", [PROBES])}


def fill_history(db, sample, begin):
    """The finished records of each device. Those of all devices alternate in time, as in a real history."""
    most = max(DEEP.values())
    db.execute("CREATE TEMP TABLE k (i INTEGER PRIMARY KEY)")
    db.executemany("INSERT INTO k VALUES (?)", ([i] for i in range(1, most + 1)))
    source = "SELECT MIN(rowid) FROM {} WHERE device_id = '" + sample + "'"
    pairs = "k CROSS JOIN fleet f"
    at = f"({begin} + (k.i - 1) * {HISTORY_MS // most} + f.n)"
    number_of = "(k.i * 1000000 + f.n)"
    command = identifier("cmd", at, number_of)
    # The newest command of the sample is a repair.
    copy(db, "commands", f"SELECT MAX(rowid) FROM commands WHERE device_id = '{sample}'", pairs, "k.i <= f.commands",
         command_id=command, device_id="f.device_id", seq="k.i", issued_ms=at, expires_ms=f"{at} + {DAY_MS}",
         reported_ms=f"{at} + 1000", result=f"replace(s.result, s.command_id, {command})")
    copy(db, "deployments", source.format("deployments"), pairs, "k.i <= f.deployments",
         deployment_id=identifier("dep", at, number_of), device_id="f.device_id", command_id=command,
         created_ms=at, updated_ms=at, newest="k.i = f.deployments")
    copy(db, "logs", source.format("logs"), pairs, "k.i <= f.logs", device_id="f.device_id", number="k.i",
         received_ms=at)
    hour = begin // HOUR_MS * HOUR_MS
    db.execute(
        "INSERT INTO usage_totals (account_id, device_id, model_id, span_ms, begin_ms, inferences, uncounted, "
        f"prompt_tokens, completion_tokens, duration_ms) SELECT s.account_id, f.device_id, s.model_id, {HOUR_MS}, "
        f"{hour} + k.i * {HOUR_MS}, 12, 0, 4000, 2000, 60000 FROM {pairs} CROSS JOIN deployments s "
        f"WHERE s.rowid = ({source.format('deployments')}) AND k.i <= f.usage")
