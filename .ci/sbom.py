"""Writes a CycloneDX document of the packages that `cargo tree --prefix none --format '{p}|{l}'` lists on stdin:
`cargo tree ... | .ci/sbom.py VERSION`, at the root of the project."""

import json
import os
import re
import sys
import tomllib
import uuid
from datetime import UTC, datetime

with open("Cargo.lock", "rb") as file:
    locked = {(it["name"], it["version"]): it.get("checksum") for it in tomllib.load(file)["package"]}

found = {}
for line in sys.stdin:
    name, version, terms = re.fullmatch(r"(\S+) v(\S+).*\|(.*?)(?: \(\*\))?\n", line).groups()
    found[name, version] = terms.replace("/", " OR ")

components = []
for (name, version), terms in sorted(found.items()):
    purl = f"pkg:cargo/{name}@{version}"
    component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    if terms:
        component["licenses"] = [{"expression": terms}]
    if locked[name, version]:
        component["hashes"] = [{"alg": "SHA-256", "content": locked[name, version]}]
    components.append(component)

made = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
subject = {"type": "application", "name": "grainstore", "version": sys.argv[1]}
names = " ".join(it["purl"] for it in components)
document = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, names)}",
    "version": 1,
    "metadata": {"timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": subject},
    "components": components,
}
json.dump(document, sys.stdout, indent=1)
