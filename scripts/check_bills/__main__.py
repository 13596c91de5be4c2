"""Checks bills of materials against the schema of CycloneDX 1.5.
  usage: scripts/check-bills FILE.cdx.json...
Needs `scripts/prepare validator bills`."""
import json
import os
import pathlib
import sys

if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
cache = pathlib.Path(os.environ.get("LINK_CACHE") or pathlib.Path(base) / "link-dev")
sys.path.insert(0, str(cache / "openapi-spec-validator-0.9.0"))
try:
    from jsonschema import Draft7Validator
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT7
except ImportError as error:
    sys.exit(f"check-bills: {error}; run `scripts/prepare validator bills`")

HOME = "http://cyclonedx.org/schema/"
folder = cache / "cyclonedx-11.12.0"


def schema(name):
    path = folder / f"{name}.SNAPSHOT.schema.json"
    if not path.is_file():
        sys.exit(f"check-bills: `{path}` is missing; run `scripts/prepare bills`")
    return json.loads(path.read_text())


def resource(name):
    # The schema names the others by their files, which have a word more than their ids.
    return f"{HOME}{name}.SNAPSHOT.schema.json", Resource(schema(name), DRAFT7)


registry = Registry().with_resources([resource("spdx"), resource("jsf-0.82")])
validator = Draft7Validator(schema("bom-1.5"), registry=registry)
faults = 0
for name in sys.argv[1:]:
    bill = json.loads(pathlib.Path(name).read_text())
    for error in validator.iter_errors(bill):
        faults += 1
        print(f"check-bills: {name}: {error.json_path}: {error.message[:300]}", file=sys.stderr)
    parts = len(bill.get("components", []))
    if parts == 0:
        faults += 1
        print(f"check-bills: {name}: it lists nothing", file=sys.stderr)
    print(f"    {os.path.basename(name)}: {parts} components")
sys.exit(1 if faults else 0)
