"""Measures the pages of a real backend with simulated devices, in Chromium.

  usage: pages.py --work DIR --programs DIRS --node NODE [--devices N] [--tokens N]
"""

import argparse
import json
import subprocess
import urllib.request

from backend import EMAIL, Backend, wait_for


def online(backend, token):
    request = urllib.request.Request(f"{backend.url}/api/v1/summary",
                                     headers={"authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["devices"]["online"]


def main():
    parser = argparse.ArgumentParser()
    for name in ("--work", "--programs", "--node"):
        parser.add_argument(name, required=True)
    parser.add_argument("--devices", type=int, default=10_000)
    parser.add_argument("--tokens", type=int, default=20_000)
    chosen = parser.parse_args()
    backend = Backend(f"{chosen.work}/backend", chosen.programs)
    password = (backend.folder / "password").read_text().strip()
    devices = None
    try:
        command = [backend.load, "hold", "--backend", backend.url, "--identities",
                   backend.folder / "devices", "--fleet-key-file", backend.folder / "key",
                   "--devices", str(chosen.devices), "--processes", str(-(-chosen.devices // 8000)),
                   "--seconds", "900", "--pid", str(backend.process.pid)]
        devices = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        answer = backend.post("/api/v1/auth/login", None, email=EMAIL, password=password)
        token = answer["access_token"]
        wait_for("the devices", lambda: online(backend, token) >= chosen.devices, 840)
        measured = subprocess.run(
            [chosen.node, "pictures/measure.ts", "--devices", str(chosen.devices), "--tokens",
             str(chosen.tokens), backend.url, EMAIL, backend.folder / "password"], cwd="web",
            check=False)
        raise SystemExit(measured.returncode)
    finally:
        if devices:
            devices.terminate()
            devices.wait(30)
        backend.stop()


main()
