# SPDX-License-Identifier: Apache-2.0
"""How a node of a Slurm job is reached from within the job: a step of one task (srun(1)), where ssh would need sshd.

The step shares the whole allocation with all others, and has the processors that the job has on that node. srun passes
output on line by line, input as it comes, and exit codes as they are.
"""

from tare.errors import HostError, NodeError
from tare.host import slurm

_ALL_OF_THE_JOB = ("--overlap", "--mem=0", "--nodes=1", "--ntasks=1")
_PLAIN = ("--mpi=none", "--export=HOME,PATH", "--chdir=/", "--job-name=tare")
"""None of the job's settings reaches the node; the folder in which Tare was started may not exist there."""
_SHELL = "/bin/sh"
"""With a path: srun looks a program up where it runs itself."""
_NO_ERROR = "Exited with exit code"
"""In srun's word on a program that failed by itself."""
_ADVICE = {
    "Invalid job id": "the job has ended: begin another with salloc or sbatch and continue there with tare run RESULT",
    "already completing": "the job is ending: begin another with salloc or sbatch and continue there with tare run "
    "RESULT",
    "Requested node configuration is not available": "it is none of the job's nodes, or it is down: see scontrol show "
    "node",
    "Unable to contact slurm controller": "the controller does not answer: see scontrol ping; running jobs go on",
    "Access/permission denied": "the job is another user's: begin one of your own",
    "Communication connection failure": "its slurmd does not answer: see scontrol show node",
    "timed out": "its slurmd does not answer in time: see scontrol show node",
    "Node failure": "the node has failed: begin another job and continue there with tare run RESULT",
}


def argv(job: str, node: str, *, says_errors: bool) -> list[str]:
    """The argv to which a command is added as one word; srun's own errors spoil a command's standard error."""
    quiet = ["--quiet"] if says_errors else ["--quiet", "--quiet"]
    way = [f"--jobid={job}", f"--nodelist={node}", *_processors(node)]
    return ["srun", *quiet, *_ALL_OF_THE_JOB, *_PLAIN, *way, _SHELL, "-c"]


def _processors(node: str) -> list[str]:
    """All that the job has there: a task would be bound to fewer (--cpu-bind); nothing outside the job."""
    try:
        count = slurm.allocation().processors.get(node) if slurm.is_allocated() else None
    except HostError:
        count = None
    return [] if count is None else [f"--cpus-per-task={count}"]


def is_about_exit_code(line: str) -> bool:
    """Whether srun itself says in this line that the program failed, which is then in the exit code."""
    return line.startswith("srun: error:") and _NO_ERROR in line


def failed(node: str, code: int, said: str) -> NodeError | None:
    """The error if srun itself failed, by what it said; ``None`` if the program on the node did."""
    own = [line for line in said.splitlines() if line.startswith(("srun: error:", "slurmstepd"))]
    own = [line for line in own if not is_about_exit_code(line)]
    if code == 0 or not own:
        return None
    advice = next((words for sign, words in _ADVICE.items() if sign in said), "try it by hand with srun")
    words = own[-1].partition("error:")[2].strip() or own[-1]
    return NodeError(f"{node} cannot be reached by srun: {words}; {advice}", said)
