"""What scripts/fuzz-api adds to the fuzzer's cases: who calls, and ids, keys and codes of things that exist.

A case that names a random id is answered 404 and reaches nothing behind it. Every second one names something real
instead: what the run began with, or what its own cases have created. What the run began with is not deleted.
"""

import collections
import itertools
import json
import os
import pathlib
import urllib.error
import urllib.request

import requests
import schemathesis

WORK = pathlib.Path(os.environ["FUZZ_WORK"])
WHO = os.environ["FUZZ_AS"]
PEOPLE = json.loads((WORK / "people.json").read_text())
SENT = open(WORK / f"sent.{WHO}", "a", buffering=1, encoding="utf-8")
# Members of answers that later cases may name.
IDS = ["device_id", "model_id", "deployment_id", "command_id", "key_id", "user_id", "invitation_id", "token_id", "account_id", "session_id"]
CODES = ["invitation_token", "user_code", "device_code"]
MOST = 50
# Who has no bearer token: nobody has a login, and a browser has the cookie of a session. A visitor opens and ends sessions.
WITHOUT_TOKEN = ("nobody", "browser", "visitor")
# What only a page of this origin sends.
PAGE = {"X-Link-Csrf": "1", "Sec-Fetch-Site": "same-origin"}
found = {name: list(PEOPLE["kept"].get(name, [])) for name in [*IDS, *CODES]}
turns = itertools.count()
more = itertools.count()
visits = collections.Counter()


def access_token():
    """The token of this run; a login is renewed, because an access token lives for 15 minutes."""
    if WHO in PEOPLE["fixed"]:
        return PEOPLE["fixed"][WHO]
    if WHO in WITHOUT_TOKEN:
        return None
    try:
        login = called("/auth/refresh", {"refresh_token": PEOPLE["refresh"][WHO]})
    except urllib.error.HTTPError:
        # Whoever has left has no login any more, and goes on as nobody with a token.
        return "ended" if WHO == "leaver" else None
    PEOPLE["refresh"][WHO] = login["refresh_token"]
    (WORK / "people.json").write_text(json.dumps(PEOPLE))
    return login["access_token"]


def session():
    """The login of a browser: its cookie, and what only a page of this origin sends beside it."""
    headers = {"Content-Type": "application/json", **PAGE}
    address = os.environ["FUZZ_BASE"] + "/api/v1/session"
    request = urllib.request.Request(address, json.dumps(right_word()).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        cookie = answer.headers["Set-Cookie"].split(";")[0]
        return {**PAGE, "Cookie": cookie, "X-Link-Csrf": json.loads(answer.read())["csrf"]}


def right_word():
    """What opens a session."""
    return {"with": "password", "email": "admin@example.com", "password": PEOPLE["password"]}


def visit(case):
    """Has a case open a session, or end one that is open. Only the first ones do: attempts at a password are limited."""
    visits[case.method.upper()] += 1
    if visits[case.method.upper()] > 3:
        return
    if case.method.upper() == "POST":
        case.headers = {**case.headers, **PAGE}
        case.body = right_word()
    else:
        try:
            case.headers = {**case.headers, **session()}
        except urllib.error.HTTPError:
            pass


def one_more_session():
    """Another session of the caller who ends sessions. There are a few of them: attempts at a password are limited."""
    word = {"email": f"{WHO}@example.com", "password": PEOPLE["password"]}
    try:
        if next(more) < 3:
            called("/auth/login", word)
    except urllib.error.HTTPError:
        pass
    note_sessions()


def note_sessions():
    """Learns the sessions of the caller; that of the run is kept."""
    sessions = called("/sessions", token=TOKEN)["items"]
    found["session_id"] = [session["session_id"] for session in sessions]
    PEOPLE["kept"]["session_id"] = [session["session_id"] for session in sessions if session["current"]]


def called(path, body=None, token=None):
    """Calls an operation outside of the cases, and returns its answer."""
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["FUZZ_BASE"] + "/api/v1" + path, data, headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


TOKEN = access_token()
if TOKEN is None and WHO not in WITHOUT_TOKEN:
    raise SystemExit(f"fuzz-api: the login of {WHO} has ended")
LOGIN = session() if WHO == "browser" else {"Authorization": f"Bearer {TOKEN}"} if TOKEN else {}

if WHO == "sessions":
    note_sessions()


SEND = requests.Session.send


def send(session, request, **options):
    """Sends a request. An event stream has no end: its first chunk is the answer, and then it is left."""
    if not request.url.partition("?")[0].endswith("/events"):
        return SEND(session, request, **options)
    response = SEND(session, request, **{**options, "stream": True})
    if response.headers.get("Content-Type", "").startswith("text/event-stream"):
        response._content = next(response.iter_content(None), b"")
        response._content_consumed = True
        response.close()
    return response


requests.Session.send = send


@schemathesis.hook
def before_call(context, case, kwargs):
    """Puts the caller and every second time real names into a case."""
    case.headers = {**(case.headers or {}), **LOGIN}
    if case.method.upper() == "GET" and "/commands" in case.operation.path:
        # What may wait takes up to 50 seconds; a wait that is refused is sent as it is.
        wait = str((case.query or {}).get("wait", "50"))
        if wait.isdigit() and (wait != "50" or "/agent/" in case.operation.path):
            case.query = {**(case.query or {}), "wait": 0}
    turn = next(turns)
    ends = case.method.upper() == "DELETE"
    if WHO == "sessions" and ends and turn % 2 == 0 and case.path_parameters:
        one_more_session()
    for name, value in list((case.path_parameters or {}).items()):
        # Nobody loses their device or their role in the middle of a run.
        kept = PEOPLE["kept"].get(name, []) if ends or name == "user_id" else []
        real = [value for value in found.get(name, []) if value not in kept]
        if value in kept:
            # The fuzzer uses what it has read in answers, too.
            case.path_parameters[name] = value.split("_")[0] + "_" + "0" * 32
        elif real and turn % 2 == 0:
            case.path_parameters[name] = real[turn // 2 % len(real)]
    if turn % 2:
        return
    if WHO == "visitor":
        visit(case)
        return
    if isinstance(case.body, dict):
        for name in set(case.body) & set(found):
            if found[name] and isinstance(case.body[name], str):
                case.body[name] = found[name][-1]
        if isinstance(case.body.get("fleet_key"), str):
            case.body["fleet_key"] = PEOPLE["fleet_key"]


@schemathesis.hook
def after_call(context, case, response):
    """Notes the status, and what there is to name now."""
    SENT.write(f"{case.operation.method.upper()} {case.operation.path} {response.status_code}\n")
    if response.status_code in (200, 201, 202):
        try:
            remember(json.loads(response.content))
        except ValueError:
            pass


def remember(value):
    """Keeps the ids and codes of an answer, the newest ones."""
    if isinstance(value, list):
        for item in value[:5]:
            remember(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            if name in found and isinstance(member, str) and member not in found[name]:
                found[name].append(member)
                del found[name][len(PEOPLE["kept"].get(name, [])):-MOST]
            else:
                remember(member)
