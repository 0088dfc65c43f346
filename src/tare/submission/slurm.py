# SPDX-License-Identifier: Apache-2.0
"""Slurm by its own commands: sbatch, squeue and scancel. No accounting (sacct) is needed."""

import math
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from tare.errors import HostError, InputError, NodeError
from tare.host import process
from tare.host.process import Completed
from tare.submission.scheduler import JobPhase, QueuedJob, SilentError, Submission
from tare.units import MEBIBYTE

_COMMAND_LIMIT_S = 200.0
"""sbatch tries for two minutes to reach a controller with the usual MessageTimeout of slurm.conf(5)."""
_LEAD_S = 60
"""How long before its end a job is asked to stop."""
_SHORT_PART = 10
"""The lead is at most this part of the time limit: a tenth."""
_QUEUED = {"PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
_RUNNING = {
    "RUNNING",
    "CONFIGURING",
    "COMPLETING",
    "SUSPENDED",
    "STOPPED",
    "STAGE_OUT",
    "RESIZING",
    "SIGNALING",
}
_LOST = {"NODE_FAIL", "TIMEOUT", "BOOT_FAIL", "PREEMPTED", "DEADLINE", "OUT_OF_MEMORY", "REVOKED"}
_FIELDS = "%F|%K|%T|%N|%r"
"""Of squeue(1): the array's job, its element, state, nodes and reason."""
_LIMIT = re.compile(r"(?:(\d+)-)?(\d+(?::\d+){0,2})", re.ASCII)
_DAY_S = 86400
_OF_FORMS = ("SQUEUE_", "SLURM_TIME_FORMAT")
"""Variables with which users change what squeue(1) prints."""
_NOTHING_SUBMITTED = "nothing was submitted; try again when its controller answers (scontrol ping)"
_IS_NO_STATE = ("None", "N/A", "(null)", "")


class Slurm:
    """The scheduler of this cluster."""

    chains = True

    def __init__(self, limit_s: float = _COMMAND_LIMIT_S) -> None:
        """``limit_s``: how long an answer is waited for."""
        self._limit_s = limit_s

    def submit(self, submission: Submission) -> str:
        """``HostError`` with Slurm's own words if it refuses, or if it is not on this host."""
        done = _answered(submit_argv(submission))
        if done.code != 0:
            raise HostError(f"Slurm refuses the jobs: {_said(done)}; {_remedy(done)}")
        return done.stdout.strip().partition(";")[0]

    def jobs(self, name: str) -> Sequence[QueuedJob]:
        """As squeue(1) lists them; ended ones for some minutes (MinJobAge of slurm.conf(5))."""
        done = _asked(
            (
                "squeue",
                "--me",
                "--noheader",
                "--array",
                "--states=all",
                f"--name={name}",
                "--format",
                _FIELDS,
            ),
            self._limit_s,
        )
        return list(parse_jobs(done.stdout))

    def cancel(self, name: str, *, queued_only: bool = False) -> None:
        """By scancel(1)."""
        _asked(
            ("scancel", "--me", f"--name={name}", *(["--state=PENDING"] if queued_only else [])),
            self._limit_s,
        )

    def cancel_words(self, name: str) -> str:
        """For a message."""
        return f"scancel --me --name={name}"


def submit_argv(submission: Submission) -> tuple[str, ...]:
    """The command of an array whose elements run one after the other, each alone on its nodes."""
    wish = submission.wish
    optional = {"--partition": wish.partition, "--account": wish.account, "--time": _time(wish.time_s)}
    return (
        "sbatch",
        "--parsable",
        f"--job-name={submission.name}",
        f"--array=0-{submission.count - 1}%1",
        f"--nodes={wish.nodes}",
        "--exclusive",
        "--mem=0",
        "--export=ALL",
        "--no-requeue",
        "--open-mode=append",
        *_signal(wish.time_s),
        f"--output={submission.logs}/%A_%a.log",
        *(f"{option}={value}" for option, value in optional.items() if value is not None),
        str(submission.script),
    )


def _signal(time_s: float | None) -> list[str]:
    """The request to stop before the end.

    Slurm may send it a minute early, and sends one at the end itself, KillWait of slurm.conf(5) before the kill: short
    jobs do with that.
    """
    lead = lead_s(time_s)
    return [f"--signal=B:TERM@{lead}"] if lead == _LEAD_S else []


def lead_s(time_s: float | None) -> int:
    """Seconds from the request to stop to the end of a job with this limit."""
    return _LEAD_S if time_s is None else max(1, min(_LEAD_S, int(time_s / _SHORT_PART)))


def _time(time_s: float | None) -> str | None:
    """As sbatch(1) takes it: whole minutes, rounded up."""
    return None if time_s is None else str(max(1, math.ceil(time_s / 60)))


def parse_jobs(text: str) -> Iterator[QueuedJob]:
    """The lines of squeue(1) in the form of ``_FIELDS``; ``HostError`` for any other."""
    for line in filter(None, text.splitlines()):
        fields = line.split("|", 4)
        if len(fields) != 5:  # noqa: PLR2004 - the number of _FIELDS
            raise HostError(f"squeue printed a line that Tare does not understand: {line!r}")
        array, element, state, nodes, reason = (field.strip() for field in fields)
        yield QueuedJob(
            identity=array if element in _IS_NO_STATE else f"{array}_{element}",
            phase=_phase(state),
            reason=_reason(state, reason),
            nodes=None if nodes in _IS_NO_STATE else nodes,
        )


def _phase(state: str) -> JobPhase:
    if state in _QUEUED:
        return JobPhase.QUEUED
    if state in _RUNNING:
        return JobPhase.RUNNING
    if state == "CANCELLED":
        return JobPhase.CANCELLED
    return JobPhase.LOST if state in _LOST else JobPhase.ENDED


def _reason(state: str, reason: str) -> str | None:
    """Why it waits, in Slurm's word; how it ended, if not as it should."""
    if state in _LOST:
        return state
    return None if reason in _IS_NO_STATE else reason


def _run(argv: Sequence[str], limit_s: float = _COMMAND_LIMIT_S) -> Completed:
    """With all variables of the user's: they say where the cluster is, and jobs inherit them as with sbatch itself.

    ``HostError`` if it is not on this host, ``SilentError`` if it waits too long for an answer.
    """
    if shutil.which(argv[0]) is None:
        raise HostError(
            f"--on slurm takes Slurm's own commands, and {argv[0]} is not here: use a login node of the cluster"
        )
    variables = {name: value for name, value in os.environ.items() if not name.startswith(_OF_FORMS)}
    try:
        return process.run(argv, timeout_s=limit_s, variables=variables)
    except NodeError as error:
        raise SilentError(str(error)) from error


def _answered(argv: Sequence[str]) -> Completed:
    try:
        return _run(argv)
    except SilentError as error:
        raise HostError(f"Slurm does not answer: {error}; {_NOTHING_SUBMITTED}") from error


def _asked(argv: Sequence[str], limit_s: float) -> Completed:
    done = _run(argv, limit_s)
    if done.code != 0:
        raise SilentError(_said(done))
    return done


def _said(done: Completed) -> str:
    """The last of its words, without the name of the program in front of each."""
    return done.last_words.replace("sbatch: error: ", "").replace("slurm_load_jobs error: ", "")


def _remedy(done: Completed) -> str:
    said = done.stderr.lower()
    if "partition" in said:
        return "sinfo lists the partitions; choose one with --partition"
    if "account" in said:
        return "sacctmgr show associations lists yours; choose one with --account"
    if "time limit" in said:
        return "sinfo lists the limits; ask for less with --time"
    if "node" in said:
        return "sinfo lists the nodes; ask for fewer with --nodes"
    if "contact" in said or "connect" in said:
        return _NOTHING_SUBMITTED
    return "nothing was submitted"


def node_size(partition: str | None, nodes: int) -> tuple[int, int]:
    """Processors and memory in bytes that each node of the partition has at least; ``None``: of the usual one.

    ``InputError`` if Slurm knows no such partition or it has fewer ``nodes``, ``HostError`` if Slurm does not answer.
    """
    done = _answered(("sinfo", "--noheader", "--Node", "--format=%P|%c|%m"))
    if done.code != 0:
        raise HostError(f"Slurm does not answer: {_said(done)}; {_NOTHING_SUBMITTED}")
    sizes = list(parse_sizes(done.stdout, partition))
    which = "usual partition" if partition is None else f"partition {partition!r}"
    if not sizes:
        raise InputError(f"--partition: this cluster has no {which} with nodes; sinfo lists the partitions")
    if len(sizes) < nodes:
        raise InputError(
            f"--nodes: the {which} has {len(sizes)} nodes and not {nodes}; sinfo lists the partitions"
        )
    return min(processors for processors, _ in sizes), min(memory_byte for _, memory_byte in sizes)


def parse_sizes(text: str, partition: str | None) -> Iterator[tuple[int, int]]:
    """The nodes of one partition among the lines of sinfo(1), whose usual partition has an asterisk."""
    for line in text.splitlines():
        name, _, size = line.strip().partition("|")
        processors, _, mebibytes = size.partition("|")
        is_usual = name.endswith("*")
        wanted = is_usual if partition is None else name.removesuffix("*") == partition
        if wanted and processors.isdecimal() and mebibytes.isdecimal():
            yield int(processors), int(mebibytes) * MEBIBYTE


def own_identity(variables: Mapping[str, str]) -> str | None:
    """The identity of the job that has these variables; ``None`` outside of a job."""
    array, element = variables.get("SLURM_ARRAY_JOB_ID"), variables.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{element}" if array and element else variables.get("SLURM_JOB_ID")


def last_end_s(variables: Mapping[str, str]) -> float | None:
    """By ``time.monotonic``: when the last trial of this job must have ended; ``None`` if it has no end.

    Slurm may ask the job to stop a minute earlier than it was told to (sbatch(1), --signal). squeue(1) tells the time
    limit, as it may be changed while a job waits.
    """
    job = variables.get("SLURM_JOB_ID")
    if job is None:
        return None
    try:
        done = _run(("squeue", "--noheader", f"--jobs={job}", "--format=%e|%l"))
    except SilentError:
        return None
    end, _, limit = done.stdout.strip().partition("|")
    limit_s = parse_limit_s(limit)
    if done.code != 0 or limit_s is None:
        return None
    try:
        left_s = datetime.fromisoformat(end).timestamp() - time.time()
    except ValueError:
        return None
    return time.monotonic() + left_s - 2 * lead_s(limit_s)


def parse_limit_s(text: str) -> float | None:
    """A time in Slurm's form, ``days-hours:minutes:seconds``, all but the last two optional; ``None``: no limit."""
    match = _LIMIT.fullmatch(text.strip())
    if match is None:
        return None
    seconds = 0
    for part in match[2].split(":"):
        seconds = seconds * 60 + int(part)
    return float(int(match[1] or 0) * _DAY_S + seconds)
