# SPDX-License-Identifier: Apache-2.0
"""A separate program, once for each MPI rank that the host's own launcher starts: it becomes the command in its node.

``rank.py WORD...`` finds the way into the node in ``TARE_WAY``, as a JSON list of words, and the working directory
there in ``TARE_DIRECTORY``. A way in starts with a clean environment, so the launcher's own variables, by which the
rank finds the others, are stated anew inside. With ``TARE_AS_SELF`` the command has the number of who runs this also in
the node. Any Python 3 can read this file.
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
_AS_SELF = """\
user=$1 group=$2
shift 2
own="unshare --user --map-user=$user --map-group=$group"
if [ "$(id -u)" = "$user" ]; then
    exec "$@"
elif $own true 2>/dev/null; then
    exec $own -- "$@"
fi
set -- setpriv --ambient-caps=-all --inh-caps=-all -- sh -c 'cd "$1" && shift && exec "$@"' sh "$PWD" "$@"
exec nsenter --mount=/proc/self/ns/mnt --wd=/ -- $own --keep-caps -- chroot . "$@"
"""
"""For sh in the node, where an ordinary user has root's number: a rank gets a user namespace of its own in it.

PMIx compares a rank's own user number with the number of the user who called srun. The kernel gives no
user namespace to whoever is below a chroot, as native is: nsenter leaves it, and chroot goes back.
"""


def argv(words, variables):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201 - an old Python must be able to read it
    """The argv to become."""
    taken = [f"{name}={value}" for name, value in sorted(variables.items()) if name.startswith(TAKEN)]
    own = [str(os.geteuid()), str(os.getegid())]
    as_self = ["sh", "-c", _AS_SELF, "sh", *own] if "TARE_AS_SELF" in variables else []
    go = ["sh", "-c", _GO, "sh", variables["TARE_DIRECTORY"], *as_self, *words]
    return [*json.loads(variables["TARE_WAY"]), "env", *taken, *_FIXED, *go]


if __name__ == "__main__":
    become = argv(sys.argv[1:], os.environ)  # type: ignore[no-untyped-call] # as above
    os.execvp(become[0], become)  # noqa: S606 - there is no shell
