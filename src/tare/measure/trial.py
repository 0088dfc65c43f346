# SPDX-License-Identifier: Apache-2.0
"""One trial in, one outcome out: separate nodes, commands from start to end."""

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from tare.errors import NodeError, WrongOutput
from tare.journal.result import make_trial_folder
from tare.journal.whole import open_new
from tare.measure.at_once import for_each
from tare.measure.attempt import EXCERPT_CHARACTERS, Attempt, Measured
from tare.measure.context import Context
from tare.measure.failures import explain_failure, refuse_victims
from tare.measure.instances import OUTPUT, Instance
from tare.measure.iterations import Gathered, Repetition, run_repetitions
from tare.measure.look import looked_at
from tare.measure.mpi_facts import path_facts
from tare.measure.prepared import Prepared, forget, nodes_up, prepared
from tare.nodes.files import opened_inside
from tare.records import Outcome, Trial
from tare.workloads import KINDS
from tare.workloads.kind import WorkloadKind

_KEPT_BYTE = 1 << 20
_CUT = b"\n[... cut by tare: the middle of a long output ...]\n"


def run_trial(context: Context, trial: Trial) -> Outcome:
    """Nodes up, limits verified, run, parsed, nodes down."""
    attempt = Attempt(trial, context.image_digest, context.raw_directory)
    with attempt.guarded():
        _measure(context, trial, attempt.measured)
        attempt.finish()
    if attempt.lost:
        forget(context, trial)
    return attempt.outcome()


def _measure(context: Context, trial: Trial, measured: Measured) -> None:
    with (
        nodes_up(context, trial, measured) as up,
        prepared(context, trial, up, measured) as ready,
        kept_output(context, trial, measured),
    ):
        _run(context, ready, measured)
        bring_back(measured.gathered, trial)
        for repetition in ready.wanted:
            parse(KINDS[trial.workload.kind], repetition, measured)


@contextmanager
def kept_output(context: Context, trial: Trial, measured: Measured) -> Iterator[None]:
    """Store the commands' printed output beside the journal, however the trial ends."""
    try:
        yield
    except BaseException:
        with suppress(Exception):  # the error that ended the trial is the better reason
            _fetch(measured.gathered)
        raise
    finally:
        keep(context.raw_directory / trial.identity, measured.gathered.begun)


def bring_back(gathered: Gathered, trial: Trial) -> None:
    """Fetch the commands' printed output and files; ``WrongOutput`` if no run ended well.

    A run that failed beside others that did not is noted: how often a program fails is a finding. A runaway command may
    leave a node from which nothing can be fetched: its own end is the better reason.
    """
    try:
        _fetch(gathered)
    except NodeError:
        explain_failure(gathered, trial)
        raise
    explain_failure(gathered, trial)


def _fetch(gathered: Gathered) -> None:
    """Fetch from each instance once, even after a failure."""
    instances = gathered.begun[gathered.asked :]
    if not instances:
        return

    def fetch(instance: Instance) -> None:
        gathered.asked += 1
        instance.fetch(OUTPUT, *instance.job.collect)

    for_each(instances[0].seat.provider, fetch, instances)


def _run(context: Context, ready: Prepared, measured: Measured) -> None:
    """The measured part itself, from the first GO to the last DONE."""
    with looked_at(context, ready, measured) as look:
        try:
            run_repetitions(ready.wanted, ready.watched, look.around(), measured.gathered)
        except NodeError:
            # If a limit killed the stopwatch, that is the better reason.
            refuse_victims(ready.watched)
            raise
    look.note()


def parse(kind: WorkloadKind, repetition: Repetition, measured: Measured) -> None:
    """Parse the commands' output into samples and facts; raises ``WrongOutput``."""
    for instance in repetition.instances:
        output = instance.output()
        samples = kind.samples(repetition.options, output)
        measured.learn(kind.facts(repetition.options, output))
        measured.learn(path_facts(instance.seat, output.stderr))
        if measured.timing.fault is not None:
            continue  # the output is complete, but its figures come from a wrong clock
        if wrong := [sample.name for sample in samples if not math.isfinite(sample.value)]:
            raise WrongOutput(
                f"{', '.join(wrong)} is not a finite number", output.stdout[-EXCERPT_CHARACTERS:]
            )
        measured.samples += [
            replace(sample, instance=instance.number, iteration=repetition.number) for sample in samples
        ]


def keep(directory: Path, instances: Sequence[Instance]) -> None:
    """Copy the non-empty outputs into ``directory``, without the middle of anything longer than 1 MiB.

    Nothing is stored if the result folder, two levels up, no longer exists: the journal's writer reports that.
    """
    if not directory.parent.parent.exists():
        return
    for instance in instances:
        left = (f"{instance.name}/{name}" for name in instance.job.collect)
        for name in (*instance.printed_names(), *left):
            target = directory / f"{instance.name}.{Path(name).name}"
            with opened_inside(instance.work, name) as opened:
                if opened is not None and (text := _ends(opened)):
                    make_trial_folder(directory)
                    with open_new(target) as kept:
                        kept.write(text)


def _ends(opened: BinaryIO) -> bytes:
    """The whole content, or its beginning and end; never more, even if it still grows."""
    size_byte = os.fstat(opened.fileno()).st_size
    if size_byte <= _KEPT_BYTE:
        return opened.read(_KEPT_BYTE)
    head = opened.read(_KEPT_BYTE // 2)
    opened.seek(size_byte - _KEPT_BYTE // 2)
    return head + _CUT + opened.read(_KEPT_BYTE // 2)
