# SPDX-License-Identifier: Apache-2.0
"""A separate program, once for each MPI rank that the host's own launcher starts: it becomes the command in its node.

``rank.py WORD...`` finds the way into the node in ``TARE_WAY``, as a JSON list of words, and the working directory
there in ``TARE_DIRECTORY``. A way in starts with a clean environment, so the launcher's own variables, by which the
rank finds the others, are stated anew inside. Any Python 3 can read this file.
"""

import json
import os
import sys

TAKEN = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "SLURM_")
"""Beginnings of the names of variables that a launcher gives to its ranks.

Open MPI 4 asks PMIx only if it sees a step of Slurm's, or mpirun's variables; else each rank believes to be alone.
"""
_FIXED = ("PMIX_MCA_gds=hash",)
"""The launcher's answers by messages, instead of by files in a directory of the host that the node does not have."""
_GO = 'cd "$1" && shift && exec "$@"'


def argv(words, variables):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201 - an old Python must be able to read it
    """The argv to become."""
    taken = [f"{name}={value}" for name, value in sorted(variables.items()) if name.startswith(TAKEN)]
    go = ["sh", "-c", _GO, "sh", variables["TARE_DIRECTORY"], *words]
    return [*json.loads(variables["TARE_WAY"]), "env", *taken, *_FIXED, *go]


if __name__ == "__main__":
    become = argv(sys.argv[1:], os.environ)  # type: ignore[no-untyped-call] # as above
    os.execvp(become[0], become)  # noqa: S606 - there is no shell
