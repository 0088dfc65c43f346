# SPDX-License-Identifier: Apache-2.0
"""Bills of materials of image, .venv and Go programs, written to build/sbom and held against the schema."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tare
from scripts.supply.finding import Finding
from scripts.supply.go_lock import MODULES, required
from scripts.supply.licences import go_licence, python_licence
from scripts.supply.python_lock import read_lock
from tare.errors import TareError
from tare.image import find_image
from tare.image.sbom import bom, component, image_bom, package_url

VALIDATOR = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
for path in sys.argv[1:]:
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(path).read())
    if fault:
        sys.exit(f"{path}: {fault}")
"""
LIMIT_S = 120


def check_sboms(repository: Path) -> Finding:
    """Writes them all; a bill that the published schema refuses is a fault."""
    folder = repository / "build" / "sbom"
    folder.mkdir(parents=True, exist_ok=True)
    bills, missing = _bills(repository)
    files = []
    for name, bill in bills.items():
        files.append(folder / f"{name}.cdx.json")
        files[-1].write_text(json.dumps(bill, indent=1) + "\n")
    counts = ", ".join(f"{name} {len(bill['components'])} components" for name, bill in bills.items())
    fault, unchecked = _against_schema(repository, files)
    return Finding("bills of materials in build/sbom", counts, fault, unchecked or missing)


def _bills(repository: Path) -> tuple[dict[str, Mapping[str, Any]], str | None]:
    bills: dict[str, Mapping[str, Any]] = {
        "python": bom("tare", tare.__version__, _python(repository)),
        **{module: bom(module, tare.__version__, _go(repository, module)) for module in MODULES},
    }
    try:
        return bills | {"image": image_bom(find_image())}, None
    except TareError as error:
        return bills, f"the image: {error}"


def _python(repository: Path) -> Iterator[dict[str, Any]]:
    """A lock names several files of a version, of which pip chose one: their hashes stay in the lock."""
    for name, entry in read_lock(repository, "run").items():
        if entry.requirement.marker is None or entry.requirement.marker.evaluate():
            url = package_url("pypi", name, entry.version)
            yield component(name, entry.version, purl=url, licences=_known(python_licence(name)))


def _go(repository: Path, module: str) -> Iterator[dict[str, Any]]:
    for name, version in required(repository, module):
        licences = _known(go_licence(name, version))
        yield component(name, version, purl=package_url("golang", name, version), licences=licences)


def _known(licence: str | None) -> list[str]:
    return [licence] if licence else []


def _against_schema(repository: Path, files: list[Path]) -> tuple[list[str], str | None]:
    python = repository / "build" / "tools" / "bin" / "python"
    if not python.exists():
        return [], "build/tools, which has the schema, could not be made"
    done = subprocess.run(
        [str(python), "-c", VALIDATOR, *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    return ([done.stderr.strip()[-500:]] if done.returncode else []), None
