"""Measures the pages of a real backend with simulated devices, in Chromium.

  usage: pages.py --work DIR --programs DIRS --node NODE [--devices N] [--tokens N]
"""

import argparse
import subprocess

from backend import EMAIL, Backend, wait_for


def main():
    parser = argparse.ArgumentParser()
    for name in ("--work", "--programs", "--node"):
        parser.add_argument(name, required=True)
    parser.add_argument("--devices", type=int, default=10_000)
    parser.add_argument("--tokens", type=int, default=20_000)
    chosen = parser.parse_args()
    backend = Backend(f"{chosen.work}/backend", chosen.programs)
    devices = None
    try:
        devices = backend.hold(chosen.devices, 900)
        token = backend.login()
        wait_for("the devices", lambda: backend.online(token) >= chosen.devices, 840)
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
