# SPDX-License-Identifier: Apache-2.0
"""Checks before a measured command: its launch, MPI's clock, the job's evidence and its program.

They run once for each arm of a session, as the answers cannot change: image, variables, layout and limits stay. They
are repeated after a trial of the arm that did not count, and for missing evidence. A node with its own kernel starts
its clock anew, with nothing read from files, at each start: there the launch and the evidence precede every command.
"""

from collections.abc import Mapping, Sequence

from tare.measure.context import Arm, Context
from tare.measure.instances import UNKNOWN, Instance, gather_evidence, run_aside, run_preflight
from tare.nodes.provider import Node
from tare.records import PROGRAM, Trial


def facts_beforehand(
    context: Context, trial: Trial, nodes: Sequence[Node], instances: Sequence[Instance]
) -> Mapping[str, str]:
    """The job's evidence and its program's digest; results of an earlier trial of the arm apply here too.

    ``NodeError`` if the launch cannot work, ``ClockFault`` if MPI's clock is wrong here.
    """
    arm = arm_of(trial)
    if arm not in context.evidence or any(node.own_kernel for node in nodes):
        for instance in instances:
            run_preflight(instance)
        context.evidence[arm] = {}
    evidence = context.evidence[arm] or gather_evidence(instances[0])
    if not any(text.startswith(UNKNOWN) for text in evidence.values()):
        context.evidence[arm] = evidence
    if arm not in context.programs:
        context.programs[arm] = program_digest(instances[0])
    return {**evidence, **context.programs[arm]}


def forget(context: Context, trial: Trial) -> None:
    """Repeat the checks in the next trial of this arm, as this one did not count."""
    context.evidence.pop(arm_of(trial), None)
    context.programs.pop(arm_of(trial), None)


def arm_of(trial: Trial) -> Arm:
    """Its environment, workload and setting: trials of one arm launch alike."""
    return trial.environment.name, trial.workload.name, trial.setting


_OUTPUT = ".program"
_DIGEST = 'found=$(command -v -- "$1") && exec sha256sum -- "$found"'
_HEXADECIMAL = 64


def program_digest(instance: Instance) -> dict[str, str]:
    """The fact ``PROGRAM``: SHA-256 of the file, by the node's own sha256sum(1), or why it is not known."""
    program = instance.job.program or instance.job.argv[0]
    said = run_aside(instance, ("sh", "-c", _DIGEST, "sh", program), _OUTPUT)
    digest = (instance.printed(_OUTPUT, "stdout") or "").partition(" ")[0].lstrip("\\")
    if said["exit_code"] == 0 and len(digest) == _HEXADECIMAL:
        return {PROGRAM: f"sha256:{digest}"}
    return {PROGRAM: f"not known: {program} cannot be read in the node by sha256sum"}
