# SPDX-License-Identifier: Apache-2.0
"""Whether this is the same host as before, in everything that a calibration depends on."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

_LABELS = (
    *(
        "kernel",
        "distribution",
        "processor",
        "microcode",
        "processors online",
        "SMT",
        "NUMA nodes",
        "governor",
    ),
    *("turbo", "virtualization", "container", "clocksource", "control groups", "mitigations"),
)
"""The labels of ``host_facts`` that do not change while the host stays as it is."""
_MACHINE_ID = Path("/etc/machine-id")


def host_identity(facts: Mapping[str, str], machine_id: Path = _MACHINE_ID) -> str:
    """A digest of the host's lasting facts and its machine-id(5), from which neither can be recovered."""
    try:
        own = machine_id.read_text().strip()
    except OSError:
        own = ""
    text = "\n".join((f"tare calibrate {own}", *(f"{label}: {facts.get(label, '')}" for label in _LABELS)))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
