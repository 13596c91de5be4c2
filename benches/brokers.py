"""Holds connections with one subscription each on mosquitto or nats-server, and times publishes that
are answered: QoS 1 of MQTT, a publish into a JetStream stream on disk of NATS. Prints one JSON text.

  usage: brokers.py mqtt|nats HOST:PORT --pid PID --connections N --publishers N --seconds N
"""

import argparse
import asyncio
import json
import multiprocessing
import resource
import struct
import time


def resident(pid):
    """Returns the resident and the anonymous memory of a process, in bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        lines = dict(line.split(":", 1) for line in status if ":" in line)
    return tuple(int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "RssAnon"))


def mqtt_text(text):
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def mqtt_packet(kind, body):
    length, encoded = len(body), b""
    while True:
        byte, length = length % 128, length // 128
        encoded += bytes([byte | (128 if length else 0)])
        if not length:
            return bytes([kind]) + encoded + body


async def mqtt_open(host, port, name, subscribe):
    reader, writer = await asyncio.open_connection(host, port, limit=4096)
    body = mqtt_text("MQTT") + bytes([4, 2]) + struct.pack(">H", 0) + mqtt_text(name)
    writer.write(mqtt_packet(0x10, body))
    answer = await reader.readexactly(4)
    if answer[3] != 0:
        raise RuntimeError(f"mosquitto refused a connection with code {answer[3]}")
    if subscribe:
        body = struct.pack(">H", 1) + mqtt_text(f"device/{name}/commands") + b"\x01"
        writer.write(mqtt_packet(0x82, body))
        await reader.readexactly(5)
    return reader, writer


async def mqtt_publish(reader, writer, number, payload):
    body = mqtt_text("load/reports") + struct.pack(">H", number % 65535 + 1) + payload
    writer.write(mqtt_packet(0x32, body))
    await reader.readexactly(4)


async def nats_open(host, port, name, subscribe):
    reader, writer = await asyncio.open_connection(host, port, limit=65536)
    await reader.readline()
    options = {"verbose": False, "pedantic": False, "name": name, "lang": "bench", "version": "1",
               "protocol": 1}
    writer.write(b"CONNECT " + json.dumps(options).encode() + b"\r\n")
    if subscribe:
        writer.write(f"SUB device.{name}.commands 1\r\n".encode())
    writer.write(b"PING\r\n")
    await nats_expect(reader, writer, b"PONG")
    return reader, writer


async def nats_expect(reader, writer, wanted):
    while True:
        line = await reader.readline()
        if line.startswith(b"PING"):
            writer.write(b"PONG\r\n")
        elif line.startswith(b"MSG"):
            payload = await reader.readexactly(int(line.split()[-1]) + 2)
            if wanted == b"MSG":
                return payload
        elif line.startswith(wanted):
            return line
        elif line.startswith(b"-ERR") or not line:
            raise RuntimeError(f"nats-server said {line!r}")


async def nats_request(reader, writer, subject, inbox, payload):
    writer.write(f"PUB {subject} {inbox} {len(payload)}\r\n".encode() + payload + b"\r\n")
    return await nats_expect(reader, writer, b"MSG")


def hold(kind, host, port, first, count, ready, stop):
    """One process of connections."""
    opened = mqtt_open if kind == "mqtt" else nats_open

    async def run():
        links = []
        for start in range(first, first + count, 100):
            numbers = range(start, min(start + 100, first + count))
            links += await asyncio.gather(*(opened(host, port, f"d{n}", True) for n in numbers))

        async def answer(reader, writer):
            # nats-server asks from time to time whether somebody is there.
            while line := await reader.readline():
                if line.startswith(b"PING"):
                    writer.write(b"PONG\r\n")

        if kind == "nats":
            tasks = [asyncio.create_task(answer(*link)) for link in links]
            links.append(tasks)
        ready.set()
        while not stop.is_set():
            await asyncio.sleep(0.1)

    asyncio.run(run())


async def publish(kind, host, port, publishers, seconds):
    """Publishes on each connection one after another; returns the times of all, in seconds."""
    times, payload = [], b"x" * 200
    end = time.monotonic() + seconds
    if kind == "nats":
        reader, writer = await nats_open(host, port, "maker", False)
        writer.write(b"SUB _INBOX.maker 1\r\n")
        stream = {"name": "LOAD", "subjects": ["load.*"], "storage": "file", "max_bytes": 1 << 30}
        answer = await nats_request(reader, writer, "$JS.API.STREAM.CREATE.LOAD", "_INBOX.maker",
                                    json.dumps(stream).encode())
        if b'"error"' in answer:
            raise RuntimeError(answer.decode())

    async def one(number):
        opened = mqtt_open if kind == "mqtt" else nats_open
        reader, writer = await opened(host, port, f"p{number}", False)
        inbox = f"_INBOX.p{number}"
        if kind == "nats":
            writer.write(f"SUB {inbox} 1\r\n".encode())
        sent = 0
        while time.monotonic() < end:
            start = time.monotonic()
            if kind == "mqtt":
                await mqtt_publish(reader, writer, sent, payload)
            else:
                await nats_request(reader, writer, "load.reports", inbox, payload)
            times.append(time.monotonic() - start)
            sent += 1

    start = time.monotonic()
    await asyncio.gather(*(one(number) for number in range(publishers)))
    return times, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["mqtt", "nats"])
    parser.add_argument("address")
    parser.add_argument("--pid", type=int, required=True)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--publishers", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    host, port = options.address.rsplit(":", 1)
    port = int(port)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 9_000:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(9_000, hard), hard))
    idle = resident(options.pid)
    context = multiprocessing.get_context("spawn")
    stop, parts = context.Event(), []
    each = -(-options.connections // 2)
    for first in range(0, options.connections, each):
        ready = context.Event()
        count = min(each, options.connections - first)
        process = context.Process(
            target=hold, args=(options.kind, host, port, first, count, ready, stop), daemon=True)
        process.start()
        parts.append((process, ready))
    for process, ready in parts:
        while not ready.wait(0.5):
            if not process.is_alive():
                raise SystemExit("the connections could not be held")
    time.sleep(3)
    held = resident(options.pid)
    stop.set()
    for process, _ in parts:
        process.join(20)
    times, elapsed = asyncio.run(
        publish(options.kind, host, port, options.publishers, options.seconds))
    times.sort()
    print(json.dumps({
        "kind": options.kind,
        "connections": options.connections,
        "idle_bytes": idle[0],
        "held_bytes": held[0],
        "bytes_per_connection": (held[0] - idle[0]) // options.connections,
        "publishers": options.publishers,
        "published_per_second": len(times) / elapsed,
        "p50_ms": times[len(times) // 2] * 1e3,
        "p99_ms": times[len(times) * 99 // 100] * 1e3,
    }))


if __name__ == "__main__":
    main()
