# SPDX-License-Identifier: Apache-2.0
"""One of PSI/J's executors: jobs given to a scheduler, asked for and ended, with a limit on every wait.

What schedulers are told, and what they mean, is PSI/J's; the programs that ask and end a batch job are started by
Tare. PSI/J would wait for them without a limit, and takes every job for failed once one of them fails.
"""

import json
import os
import queue
import re
import shutil
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tare.errors import HostError, NodeError
from tare.host import process
from tare.host.process import Completed
from tare.submission.scheduler import JobPhase, SilentError

if TYPE_CHECKING:
    from psij import Job, JobExecutor, JobSpec, JobStatus
    from psij.executors.batch.batch_scheduler_executor import BatchSchedulerExecutor

_NEVER_S = 365 * 24 * 3600
"""PSI/J's own thread shall not ask: it takes no answer for an end of all jobs."""
_UNKNOWN = re.compile(r"unknown job|not found|invalid job|no matching job", re.IGNORECASE)
"""In what qstat and bjobs say of a job that they have forgotten."""
_REASONS = ("EXIT_REASON", "KILL_REASON", "SUSPEND_REASON")
"""Of bjobs; PSI/J 0.9 fails on each that is not empty."""
_BATCH = ("pbs", "pbs_classic", "lsf", "slurm")
"""Executors that have commands for what is asked of their jobs."""
TO_INSTALL = "pip install 'tare[psij]', or psij-python beside Tare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What a scheduler says of a job now."""

    phase: JobPhase
    exit_code: int | None = None
    """Of the job's script, if that ended by itself and PSI/J knows it."""
    reason: str | None = None


def require_psij() -> None:
    """``HostError`` if the package is missing."""
    if find_spec("psij") is None:
        raise HostError(f"schedulers but Slurm are reached by PSI/J, which is not installed: {TO_INSTALL}")


class Executor:
    """Loads PSI/J, which starts threads of its own, when it is first used."""

    def __init__(self, name: str, folder: Path, limit_s: float) -> None:
        """``name``: as PSI/J's; ``folder``: for the scripts that it writes."""
        self._name, self._folder, self._limit_s = name, folder, limit_s
        self._attached: dict[str, Job] = {}
        self._over: dict[str, Fate] = {}

    def submit(self, spec: "JobSpec") -> str:
        """The scheduler's own name of the job; ``HostError`` if it refuses it."""
        own = self._own
        from psij import Job, JobState  # noqa: PLC0415 - an extra

        job = Job(spec)
        with self._refusals():
            _within(self._limit_s, lambda: own.submit(job))
        job.wait(timedelta(seconds=self._limit_s), JobState.QUEUED)
        if job.native_id is None:
            raise HostError(f"{self._name} gave the job no number within {self._limit_s:g} s")
        number = str(job.native_id)
        self._attached[number] = job
        return number

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """Every way in which a submission fails, as ``HostError``."""
        from psij import InvalidJobException, SubmitException  # noqa: PLC0415 - an extra

        try:
            yield
        except (SubmitException, InvalidJobException) as error:
            raise HostError(f"{self._name} refuses the jobs: {_last_words(str(error))}") from error
        except FileNotFoundError as error:
            raise HostError(self._lacks(error.filename)) from error
        except OSError as error:
            raise HostError(f"the script of a job cannot be written: {error}") from error
        except SilentError as error:
            raise HostError(
                f"{self._name} does not answer: {error}; a job may have been submitted all the same: look for it "
                "before you try again"
            ) from error

    def _lacks(self, program: str) -> str:
        return f"--on {self._name} needs {program}, which is not here: use a login node of the cluster"

    def fates(self, numbers: Sequence[str]) -> dict[str, Fate]:
        """By the scheduler's names of the jobs; ``SilentError`` if it does not answer. Whatever is over stays so."""
        open_ones = [number for number in numbers if number not in self._over]
        now = self._asked(open_ones) if open_ones else {}
        self._over.update({number: fate for number, fate in now.items() if fate.phase.is_over})
        return {number: now.get(number) or self._over[number] for number in numbers}

    def _asked(self, numbers: Sequence[str]) -> dict[str, Fate]:
        """All at once, or one by one if it does not answer that: one that it has forgotten spoils the answer."""
        if (batch := self._batch) is None:
            return {number: self._attached_fate(number) for number in numbers}
        try:
            return self._listed(batch, numbers)
        except SilentError:
            if len(numbers) == 1:
                raise
            return {number: self._listed(batch, [number])[number] for number in numbers}

    def cancel(self, number: str) -> None:
        """End a job; one that has ended already is none that needs it. ``SilentError``."""
        if (batch := self._batch) is None:
            job = self._job(number)
            if job is not None and not job.status.final:
                _within(self._limit_s, job.cancel)
            return
        done = self._run(batch.get_cancel_command(number))
        if done.code != 0 and not self._listed(batch, [number])[number].phase.is_over:
            raise SilentError(done.last_words)

    @cached_property
    def _own(self) -> "JobExecutor":
        require_psij()
        from psij import JobExecutor, JobExecutorConfig  # noqa: PLC0415 - an extra
        from psij.executors.batch.batch_scheduler_executor import (  # noqa: PLC0415 - the same
            BatchSchedulerExecutorConfig,
        )

        batch = BatchSchedulerExecutorConfig(
            work_directory=self._folder,
            queue_polling_interval=_NEVER_S,
            initial_queue_polling_delay=_NEVER_S,
            keep_files=True,
        )
        config = batch if self._name in _BATCH else JobExecutorConfig(work_directory=self._folder)
        try:
            return JobExecutor.get_instance(self._name, config=config)
        except ValueError as error:
            raise HostError(
                f"PSI/J has no way to {self._name} here: {error.__cause__ or error}; run Tare by a Python in which "
                "that can be imported"
            ) from error

    @property
    def _batch(self) -> "BatchSchedulerExecutor | None":
        """``None`` for a scheduler whose jobs PSI/J itself follows: it has no commands for them."""
        return cast("BatchSchedulerExecutor", self._own) if self._name in _BATCH else None

    def _listed(self, batch: "BatchSchedulerExecutor", numbers: Sequence[str]) -> dict[str, Fate]:
        done = self._run(batch.get_status_command(numbers))
        if done.code != 0 and len(numbers) == 1 and _UNKNOWN.search(done.stdout + done.stderr):
            said: Mapping[str, JobStatus] = {}
        else:
            said = self._parsed(batch, done)
        return {number: self._fate(batch, number, said.get(number)) for number in numbers}

    def _parsed(self, batch: "BatchSchedulerExecutor", done: Completed) -> "Mapping[str, JobStatus]":
        """``SilentError`` for what PSI/J does not understand: that is no end of a job."""
        try:
            return dict(batch.parse_status_output(done.code, _without_reasons(done.stdout) or done.stderr))
        except (ValueError, LookupError, AssertionError, RuntimeError) as error:
            words = done.last_words if done.code else f"PSI/J cannot read {done.last_words!r} ({error!r})"
            raise SilentError(words) from error

    def _fate(self, batch: "BatchSchedulerExecutor", number: str, status: "JobStatus | None") -> Fate:
        phase = JobPhase.ENDED if status is None else _phase(status)
        reason = None if status is None else status.message
        return Fate(phase=phase, reason=reason, exit_code=_number_in(batch.work_directory / f"{number}.ec"))

    def _attached_fate(self, number: str) -> Fate:
        job = self._job(number)
        if job is None:
            return Fate(phase=JobPhase.ENDED)
        from psij import JobState  # noqa: PLC0415 - an extra

        status = job.status
        code = 0 if status.state is JobState.COMPLETED else status.exit_code
        return Fate(phase=_phase(status), exit_code=code, reason=status.message)

    def _job(self, number: str) -> "Job | None":
        """Followed from the first question on; ``None`` if it is gone."""
        from psij import Job, JobState  # noqa: PLC0415 - an extra

        if number not in self._attached:
            if self._name == "local" and not self._is_own_process(int(number)):
                return None
            job, own = Job(), self._own
            try:
                own.attach(
                    job, cast("str", int(number))
                )  # Flux's bindings take no text, which PSI/J passes on
            except Exception as error:  # whatever psutil or Flux's bindings raise
                if "no process" in str(error).lower() or "not found" in str(error).lower():
                    return None
                raise SilentError(str(error)) from error
            self._attached[number] = job
        job = self._attached[number]
        if job.wait(timedelta(seconds=self._limit_s), JobState.QUEUED) is None:
            raise SilentError(f"it said nothing of job {number} within {self._limit_s:g} s")
        return job

    def _is_own_process(self, pid: int) -> bool:
        """Whether it runs a job of this folder: the number of one that has ended may be another process's now."""
        import psutil  # type: ignore[import-untyped] # noqa: PLC0415 - PSI/J needs it too

        try:
            words = psutil.Process(pid).cmdline()
        except psutil.Error:
            return False
        return any(word.startswith(f"{self._folder.parent}/") for word in words)

    def _run(self, argv: Sequence[str]) -> Completed:
        """With all variables of the user's, which say where the cluster is."""
        if shutil.which(argv[0]) is None:
            raise HostError(self._lacks(argv[0]))
        try:
            return process.run(argv, timeout_s=self._limit_s, variables=dict(os.environ))
        except NodeError as error:
            raise SilentError(str(error)) from error


def _within(limit_s: float, call: Callable[[], object]) -> None:
    """Call it and raise what it raises; ``SilentError`` if it takes too long, and then it goes on unseen."""
    ends: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call()
        except BaseException as error:  # noqa: BLE001 - raised by the caller
            ends.put(error)
        else:
            ends.put(None)

    threading.Thread(target=work, daemon=True).start()
    try:
        error = ends.get(timeout=limit_s)
    except queue.Empty:
        raise SilentError(f"no answer within {limit_s:g} s") from None
    if error is not None:
        raise error


def _phase(status: "JobStatus") -> JobPhase:
    from psij import JobState  # noqa: PLC0415 - an extra

    if status.state is JobState.CANCELED:
        return JobPhase.CANCELLED
    if status.final:
        return JobPhase.ENDED
    return JobPhase.QUEUED if status.state in {JobState.NEW, JobState.QUEUED} else JobPhase.RUNNING


def _without_reasons(text: str) -> str:
    """What bjobs says in JSON, without that which PSI/J cannot read; any other text as it is."""
    if '"RECORDS"' not in text:
        return text
    try:
        said = json.loads(text)
        records = [{**record, **dict.fromkeys(_REASONS, "")} for record in said["RECORDS"]]
    except (ValueError, TypeError):
        return text
    return json.dumps({**said, "RECORDS": records})


def _number_in(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None


def _last_words(text: str) -> str:
    return " / ".join(text.strip().splitlines()[-3:]) or "it says nothing"
