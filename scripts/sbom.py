"""`python scripts/sbom.py > groundling.cdx.json`: what is installed here, as a CycloneDX bill of materials.

Run it with the interpreter of an environment that holds groundling and what it needs, and nothing else.
"""

from __future__ import annotations

import json
import platform
import uuid
from importlib.metadata import Distribution, distributions
from typing import Any

TOOLS = {"pip", "setuptools", "wheel", "pytest", "hypothesis", "iniconfig", "pluggy", "sortedcontainers"}


def component(package: Distribution) -> dict[str, Any]:
    """One package: name, version, licence as it states it, and where it comes from."""
    name, version = package.metadata["Name"], package.version
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name.lower()}@{version}",
        "purl": f"pkg:pypi/{name.lower()}@{version}",
        "name": name,
        "version": version,
    }
    stated = package.metadata.get("License-Expression") or package.metadata.get("License") or ""
    if stated and len(stated) < 100:
        key = "expression" if package.metadata.get("License-Expression") else "name"
        found["licenses"] = [{"expression": stated}] if key == "expression" else [{"license": {"name": stated}}]
    return found


def bill() -> dict[str, Any]:
    """The whole document; its serial number depends on its content alone."""
    packages = {one.metadata["Name"].lower(): one for one in distributions() if one.metadata["Name"]}
    parts = [component(packages[name]) for name in sorted(packages) if name not in TOOLS]
    own = next((part for part in parts if part["name"] == "groundling"), None)
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(parts, sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": own and {**own, "type": "application"},
            "properties": [{"name": "python", "value": platform.python_version()}],
        },
        "components": [part for part in parts if part is not own],
    }


if __name__ == "__main__":
    print(json.dumps(bill(), indent=1))
