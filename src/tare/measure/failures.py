# SPDX-License-Identifier: Apache-2.0
"""Why a command did not end well, in words."""

import signal

from tare.errors import NodeError, WrongOutput
from tare.measure.attempt import EXCERPT_CHARACTERS
from tare.measure.counted import Watched, victims
from tare.measure.instances import Instance
from tare.measure.iterations import Gathered
from tare.records import InstanceRun, Trial, Way
from tare.units import format_byte, format_duration
from tare.workloads.mpi import without_chatter

_ILLEGAL_INSTRUCTION = (
    ": an instruction that the node's processor lacks, as with another processor model than the host's; for hpcc "
    'choose an older BLAS kernel in every environment, such as blas_kernel = "Haswell"'
)
_SIGNALLED = 128
"""Added to a signal's number for an exit code by shells and by mpirun."""


def refuse_victims(watched: Watched) -> None:
    """``NodeError`` naming the limit that ended a process."""
    here, launching = watched.victims(), victims(watched.launchers)
    if here.killed > 0:
        limit = format_byte(watched.memory_byte)
        raise NodeError(
            f"the node's memory limit of {limit} killed a process; give it more memory or less work"
        )
    if here.refused > 0:
        raise NodeError(
            f"the node's limit of {watched.processes} processes was reached; start fewer, or raise processes "
            "under [limits]"
        )
    if launching.killed > 0:
        raise NodeError("mpirun ran out of the memory that it has beside the nodes; have the job print less")
    if launching.refused > 0:
        raise NodeError(
            "mpirun ran out of the processes that it has beside the nodes; raise processes under [limits]"
        )


def refuse_bomb(watched: Watched) -> None:
    """``NodeError`` once the process limit was reached, after which no process starts in the nodes."""
    if watched.fuse.has_blown():
        watched.fuse.blow()
        refuse_victims(watched)


def explain_failure(gathered: Gathered, trial: Trial) -> None:
    """``WrongOutput`` in words for the first run that failed.

    Where an unmodified program ran several times by turns, one that ended well is enough: the others are noted.
    """
    pairs = list(zip(gathered.runs, gathered.begun, strict=True))
    failed = frozenset(run.iteration for run, _ in pairs if not run.ended_well)
    if trial.workload.way is Way.FREEZER and any(run.iteration not in failed for run, _ in pairs):
        gathered.failed = failed
        return
    for run, instance in pairs:
        if words := _failure(run, instance, trial):
            raise WrongOutput(words, _last_output(instance))


def _last_output(instance: Instance) -> str | None:
    try:
        output = instance.output()
    except WrongOutput as error:  # too long to be read: its beginning is available all the same
        return error.excerpt
    return (without_chatter(output.stderr).strip() or output.stdout.strip())[-EXCERPT_CHARACTERS:] or None


def _failure(run: InstanceRun, instance: Instance, trial: Trial) -> str | None:
    span = instance.seat.shape.span
    program = span.site.launcher if span and span.site else instance.job.argv[0]
    if run.timed_out:
        return f"{program} ran into its time limit of {format_duration(trial.limits.time_s)} and was ended"
    if run.signal is not None:
        words = f"{program} was ended by signal {run.signal} ({_signal_name(run.signal)})"
        return words + _reason_behind(run.signal, instance)
    if run.exit_code != 0:
        words = f"{program} ended with exit code {run.exit_code}"
        return words + _reason_behind((run.exit_code or 0) - _SIGNALLED, instance)
    return run.refused


def _reason_behind(number: int, instance: Instance) -> str:
    """Explain the signal that ended the command or, by an exit code, one of its processes."""
    if number == signal.SIGXFSZ:
        most = format_byte(instance.seat.file_limit_byte)
        return f": a file, or what it prints, may have {most} at most; raise output under [limits]"
    if number == signal.SIGILL:
        return _ILLEGAL_INSTRUCTION
    return ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most real-time signals have no name
        return signal.strsignal(number) or "unknown"
