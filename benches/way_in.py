"""Measures the way in, step by step, and prints a Markdown table: see scripts/bench-install.

Every run has a home of its own: install.sh, `link up`, the first `link run` (which brings the engine and the
model) and the next one. Everything is removed before the next run.
"""

import argparse
import pathlib
import socket
import statistics
import subprocess
import time

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "SHELL": "/bin/bash", "LANG": "C.UTF-8"}
PATIENCE_SECONDS = 300
QUESTION = "Why is the sky blue?"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def step(command, environment):
    """Runs a command to its end; returns how many seconds it took."""
    began = time.monotonic()
    ended = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, timeout=PATIENCE_SECONDS, check=False)
    if ended.returncode:
        raise SystemExit(f"{command}: {ended.returncode}\n{ended.stdout}{ended.stderr}")
    return time.monotonic() - began


def way_in(release, model, home):
    """Goes the way once; returns the seconds of each step."""
    home.mkdir()
    link = home / "bin/link"
    environment = ENVIRONMENT | {
        "HOME": str(home), "LINK_HOME": str(home), "LINK_SERVICE": "none",
        "LINK_LOCAL_PORT": free_port()}
    ask = [link, "run", model, "--port", free_port(), "--max-tokens", "16", QUESTION]
    seconds = {}
    try:
        source = {"LINK_INSTALL_URL": f"file://{release}"}
        seconds["`install.sh`"] = step(["sh", release / "install.sh"], environment | source)
        seconds["`link up`, which fetches the backend"] = step([link, "up", "--port", free_port()], environment)
        seconds["`link run`, with engine and model"] = step(ask, environment)
        seconds["`link run`, again"] = step(ask, environment)
    finally:
        if link.exists():
            step([link, "down", "--purge", "--yes"], environment)
            step([link, "uninstall", "--yes"], environment)
        subprocess.run(["rm", "-rf", home], check=True)
    return seconds


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--release", type=pathlib.Path, required=True)
    arguments.add_argument("--model", type=pathlib.Path, required=True)
    arguments.add_argument("--work", type=pathlib.Path, required=True)
    arguments.add_argument("--runs", type=int, default=10)
    options = arguments.parse_args()
    runs = [way_in(options.release, options.model, options.work / f"home-way-in-{run}")
            for run in range(options.runs + 1)][1:]
    print(f"\n{options.runs} runs, one more not counted; model {options.model.name}, "
          f"{options.model.stat().st_size:,} bytes\n")
    print("| step | median | least | most |\n|---|---|---|---|")
    for name in runs[0]:
        values = [seconds[name] for seconds in runs]
        print(f"| {name} | {statistics.median(values):.2f} s | {min(values):.2f} s | {max(values):.2f} s |")
    totals = [sum(seconds.values()) - seconds["`link run`, again"] for seconds in runs]
    print(f"| to the first answer | {statistics.median(totals):.2f} s | {min(totals):.2f} s | {max(totals):.2f} s |")


if __name__ == "__main__":
    main()
