# SPDX-License-Identifier: Apache-2.0
"""The measured program's file, as each environment sees it: the same bits everywhere is what a comparison rests on."""

from tare.measure.instances import Instance, run_aside
from tare.records import PROGRAM

_OUTPUT = ".program"
_DIGEST = 'found=$(command -v -- "$1") && exec sha256sum -- "$found"'
_HEXADECIMAL = 64


def program_digest(instance: Instance) -> dict[str, str]:
    """The fact ``PROGRAM``: SHA-256 of the file, by the node's own sha256sum(1); or that it is not known, and why."""
    program = instance.job.program or instance.job.argv[0]
    said = run_aside(instance, ("sh", "-c", _DIGEST, "sh", program), _OUTPUT)
    digest = (instance.printed(_OUTPUT, "stdout") or "").partition(" ")[0].lstrip("\\")
    if said["exit_code"] == 0 and len(digest) == _HEXADECIMAL:
        return {PROGRAM: f"sha256:{digest}"}
    return {PROGRAM: f"not known: {program} cannot be read in the node by sha256sum"}
