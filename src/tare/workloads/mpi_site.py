# SPDX-License-Identifier: Apache-2.0
"""How the site's own launcher starts the processes of one instance: the hosts' mpirun, or Slurm's srun by PMIx.

Neither runs in a node. Each process that they start on a host enters its node there (``tare.far.rank``), and is told by
the launcher, through PMIx, who the others are. The words before a program ask Tare to run the launcher on its own host.
"""

import shlex
from collections.abc import Mapping, Sequence

from tare.records import MpiLauncher
from tare.workloads.kind import Shape, Site, Span

SITE = "site"
"""To the agent: not a node's name, but the host on which Tare runs."""
_ASK = """\
agent=$1 folder=$PWD command=
shift
for word do
    quoted=
    while :; do
        case $word in
        *\\'*) quoted="$quoted${word%%\\'*}'\\\\''" word=${word#*\\'} ;;
        *) break ;;
        esac
    done
    command="$command '$quoted$word'"
done
exec "$agent" site "export TARE_DIRECTORY='$folder'; exec$command"
"""
"""For sh in the launcher's node: quotes its words, as the agent takes one command for another shell."""
_WITH_HOSTS = 'file=$1; printf "%s\\n" $2 >"$file"; shift 2; SLURM_HOSTFILE=$file exec "$@"'
"""For sh: srun places its tasks as the file says; the first host has the job's folder."""


def launch(
    shape: Shape, span: Span, site: Site, settings: Mapping[str, str], exported: Mapping[str, str]
) -> tuple[str, ...]:
    """The argv before what a process runs in its node; ``settings`` are Open MPI's own, of its processes."""
    ranks = shape.processors // shape.threads
    starter = _srun(site, ranks) if site.launcher is MpiLauncher.SRUN else _mpirun(span, site, ranks)
    stated = {f"OMPI_MCA_{name}": value for name, value in settings.items()} | dict(exported)
    inside = ("env", *(f"{name}={value}" for name, value in stated.items()))
    return ("sh", "-c", _ASK, "sh", f"{shape.tools_directory}/agent", *starter, *site.enter, *inside)


def each_in_turn(programs: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """One argv by which each process becomes the program of its own number."""
    cases = "".join(f"{number}) exec {shlex.join(words)} ;; " for number, words in enumerate(programs))
    return ("sh", "-c", f"case $PMIX_RANK in {cases}esac")


def _mpirun(span: Span, site: Site, ranks: int) -> list[str]:
    """A daemon beside each node, so that only processes of one node share memory, as with Tare's own launch."""
    slots = ranks // len(span.hosts)
    argv = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-np", str(ranks), "-x", "TARE_DIRECTORY"]
    argv += ["--host", ",".join(f"{host}:{slots}" for host in span.hosts)]
    for name, value in {
        "plm": "rsh",
        "ras": "^slurm",
        "plm_rsh_agent": site.agent,
        "plm_rsh_no_tree_spawn": "1",
        "orte_leave_session_attached": "1",
        "oob_tcp_if_include": span.subnet,
    }.items():
        argv += ["--mca", name, value]
    return argv


def _srun(site: Site, ranks: int) -> list[str]:
    each = ranks // len(site.hosts)
    order = " ".join(host for host in site.hosts for _ in range(each))
    placed = ["--distribution=arbitrary", f"--nodes={len(site.hosts)}", f"--ntasks={ranks}"]
    plain = [
        "--overlap",
        "--mem=0",
        "--cpu-bind=none",
        "--input=0",
        "--chdir=/",
        "--export=HOME,PATH,TARE_DIRECTORY",
    ]
    srun = ["srun", "--quiet", "--mpi=pmix", f"--jobid={site.job}", *placed, *plain, "--kill-on-bad-exit=1"]
    return ["sh", "-c", _WITH_HOSTS, "sh", f"{site.folder}/hosts", order, *srun]
