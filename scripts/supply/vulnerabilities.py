# SPDX-License-Identifier: Apache-2.0
"""Known vulnerabilities of the locked Python packages, where a service that knows them can be asked."""

import json
import subprocess
from pathlib import Path
from typing import Any

from scripts.supply.finding import Finding
from scripts.supply.python_lock import read_lock

LIMIT_S = 120
OTHERS = "Debian's packages and Go's modules are not looked up: give build/sbom to a scanner, keep locks new"


def check_vulnerabilities(repository: Path) -> Finding:
    """pip-audit also ends well when it could look up nothing: only what it did look up counts."""
    subject = "known vulnerabilities"
    argv = ["build/tools/bin/pip-audit", "--disable-pip", "--format=json", "--progress-spinner=off"]
    argv += ["--require-hashes", "--requirement=requirements/dev.txt"]
    try:
        done = subprocess.run(
            argv, cwd=repository, capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
        said = json.loads(done.stdout)["dependencies"]
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        return Finding(
            subject, "0 packages looked up", unchecked=f"the service did not answer ({error}); {OTHERS}"
        )
    return judge(subject, said, len(read_lock(repository, "dev")))


def judge(subject: str, said: list[dict[str, Any]], locked: int) -> Finding:
    """``said``: what pip-audit says of each package."""
    looked_up = [entry for entry in said if "vulns" in entry]
    faults = [
        f"{entry['name']} {entry['version']}: {fault['id']}, mended in {', '.join(fault['fix_versions']) or 'none yet'}"
        for entry in looked_up
        for fault in entry["vulns"]
    ]
    unchecked = "; ".join(
        [f"{locked - len(looked_up)} Python packages are not known to the service that was asked"]
        * (len(looked_up) < locked)
        + [OTHERS]
    )
    return Finding(subject, f"{len(looked_up)} of {locked} Python packages looked up", faults, unchecked)
