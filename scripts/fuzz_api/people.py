"""Who calls in a run of scripts/fuzz-api, and what there is to be called about.

Without an argument: members with each role, a personal access token of two scopes, a model and a deployment, written to
`people.json` of the scratch folder. With `answers`: how often each status came, and which operations never succeeded.
"""

import collections
import json
import os
import pathlib
import sys
import urllib.request

BASE = os.environ["FUZZ_BASE"] + "/api/v1"
WORK = pathlib.Path(os.environ["FUZZ_WORK"])
PASSWORD = "fuzzing-password-1"


def call(method, path, body=None, token=None):
    """Calls an operation and returns its answer."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def main():
    """Makes everybody and everything."""
    logins = {}
    logins["owner"] = call("POST", "/auth/login", {"email": "owner@example.com", "password": PASSWORD})
    owner = logins["owner"]["access_token"]
    for name, role in [("admin", "admin"), ("operator", "operator"), ("viewer", "viewer"), ("leaver", "viewer"), ("sessions", "viewer")]:
        invitation = call("POST", "/members/invitations", {"role": role}, owner)["invitation_token"]
        joins = {"invitation_token": invitation, "email": f"{name}@example.com", "password": PASSWORD}
        logins[name] = call("POST", "/members/accept", joins)
    wish = {"name": "fuzz", "scopes": ["devices:read", "models:write"]}
    made = call("POST", "/tokens", wish, owner)
    identity = json.loads((WORK / "home/state/identity.json").read_text())
    model = {
        "name": "Tiny", "file_name": "tiny.gguf", "url": "https://models.example/tiny.gguf",
        "sha256": "0" * 64, "size_bytes": 100,
    }
    model = call("POST", "/models", model, owner)["model_id"]
    device = identity["device_id"]
    deployment = call("POST", "/deployments", {"device_id": device, "model_id": model}, owner)
    members = [member["user_id"] for member in call("GET", "/members", token=owner)["items"]]
    people = {
        "refresh": {name: login["refresh_token"] for name, login in logins.items()},
        "fixed": {"token": made["token"], "device": identity["device_token"]},
        "password": PASSWORD,
        "fleet_key": call("POST", "/keys", {"kind": "fleet"}, owner)["key"],
        "kept": {
            "device_id": [device], "model_id": [model], "user_id": members,
            "token_id": [made["info"]["token_id"]],
            "deployment_id": [deployment["deployment_id"]], "command_id": [deployment["command_id"]],
        },
    }
    (WORK / "people.json").write_text(json.dumps(people))


def answers():
    """Prints what the cases were answered with."""
    statuses, reached = collections.Counter(), collections.defaultdict(set)
    for file in WORK.glob("sent.*"):
        for line in file.read_text().splitlines():
            operation, status = line.rsplit(" ", 1)
            statuses[status] += 1
            reached[operation].add(status[0])
    print("statuses:", ", ".join(f"{status} {count}" for status, count in sorted(statuses.items())))
    print(f"operations: {len(reached)}, of which {sum('2' in kinds for kinds in reached.values())} succeeded")
    for operation in sorted(operation for operation, kinds in reached.items() if "2" not in kinds):
        print(f"    never succeeded: {operation}")


if __name__ == "__main__":
    answers() if sys.argv[1:] == ["answers"] else main()
