# SPDX-License-Identifier: Apache-2.0
"""One trial in, one outcome out: separate nodes, commands from start to end."""

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from tare.errors import NodeError, WrongOutput
from tare.measure.attempt import EXCERPT_CHARACTERS, Attempt, Measured
from tare.measure.beforehand import forget
from tare.measure.context import Context
from tare.measure.failures import explain_failure, refuse_victims
from tare.measure.instances import OUTPUT
from tare.measure.iterations import Gathered, Repetition, run_repetitions
from tare.measure.look import looked_at
from tare.measure.prepared import Prepared, nodes_up, prepared
from tare.measure.raw_output import keep
from tare.records import Outcome, Trial
from tare.workloads import KINDS
from tare.workloads.kind import WorkloadKind


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
    """Fetch the commands' printed output and files; ``WrongOutput`` if a command did not end well.

    A runaway command may leave a node from which nothing can be fetched: its own end is the better reason.
    """
    try:
        _fetch(gathered)
    except NodeError:
        explain_failure(gathered.runs, gathered.begun, trial)
        raise
    explain_failure(gathered.runs, gathered.begun, trial)


def _fetch(gathered: Gathered) -> None:
    """Fetch from each instance once, even after a failure."""
    for instance in gathered.begun[gathered.asked :]:
        gathered.asked += 1
        instance.fetch(OUTPUT, *instance.job.collect)


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
        if measured.timing.fault is not None:
            continue  # the output is complete, but its figures come from a wrong clock
        if wrong := [sample.name for sample in samples if not math.isfinite(sample.value)]:
            raise WrongOutput(
                f"{', '.join(wrong)} is not a finite number", output.stdout[-EXCERPT_CHARACTERS:]
            )
        measured.samples += [
            replace(sample, instance=instance.number, iteration=repetition.number) for sample in samples
        ]
