# SPDX-License-Identifier: Apache-2.0
"""What every workload must keep; also run on the template of docs/add-a-workload.md."""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

import pytest

from tare.errors import WrongOutput
from tare.records import Range, Sample
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind

COMMON_METRICS = {"wall_s", "cpu_s"}
"""What the measuring step itself adds for every workload."""


def texts(output: Output, job: Job) -> Iterator[tuple[str, Callable[[str], Output]]]:
    """Each text that the program wrote, with a function that puts another in its place."""

    def with_stdout(text: str) -> Output:
        return replace(output, stdout=text)

    def with_file(name: str, text: str) -> Output:
        return replace(output, files={**output.files, name: text})

    yield output.stdout, with_stdout
    for name in set(output.files) - set(job.files):
        yield output.files[name], partial(with_file, name)


def check_job(job: Job) -> None:
    assert job.argv
    assert all(part and "\0" not in part for part in job.argv)
    for name in (*job.files, *job.collect):
        path = PurePosixPath(name)
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert not name.startswith(".")
    assert all(re.fullmatch(r"[A-Za-z_]\w*", name) for name in job.variables)
    assert all(argv for argv in job.evidence.values())


def check_recording(kind: WorkloadKind, options: Options, output: Output) -> None:
    """The samples of a good run: the primary metric among them, each once, each a positive finite number."""
    samples = kind.samples(options, output)
    names = {sample.name for sample in samples}
    figures = {sample.name for sample in samples if not sample.coordinates}
    ranges = {each.name: each for each in kind.ranges(options)}
    assert all(any(lies_within(sample, each) for sample in samples) for each in ranges.values())
    assert kind.primary_metric in figures | set(ranges) | COMMON_METRICS
    assert len({(sample.name, sample.coordinates) for sample in samples}) == len(samples)
    assert not COMMON_METRICS & names
    for sample in samples:
        assert math.isfinite(sample.value)
        assert sample.value > 0
        assert sample.unit
        assert all(each.name and math.isfinite(each.value) and each.value >= 0 for each in sample.coordinates)
        assert len({each.name for each in sample.coordinates}) == len(sample.coordinates)
        assert sample.instance is None
    assert all(isinstance(value, str) for value in kind.facts(options, output).values())


def lies_within(sample: Sample, wanted: Range) -> bool:
    places = {each.name: each.value for each in sample.coordinates}
    bounds = {
        name: (-math.inf if least is None else least, math.inf if most is None else most)
        for name, (least, most) in wanted.bounds.items()
    }
    return sample.name == wanted.metric and all(
        least <= places.get(name, math.nan) <= most for name, (least, most) in bounds.items()
    )


def check_broken(kind: WorkloadKind, options: Options, output: Output, job: Job) -> None:
    """Nothing left, garbage, and every cut of the recording are ``WrongOutput``, never another exception."""
    wrong = [Output(stdout="", stderr="", files={}), _garbage(output)]
    for content, replaced in texts(output, job):
        if _matters(kind, options, output, replaced):
            wrong += [replaced(content[: len(content) * share // 100]) for share in range(0, 100, 5)]
    for broken in wrong:
        with pytest.raises(WrongOutput) as caught:
            kind.samples(options, broken)
        assert str(caught.value)
        kind.facts(options, broken)


def check_survives(kind: WorkloadKind, options: Options, output: Output) -> None:
    """Whatever a program printed: samples or ``WrongOutput``."""
    try:
        samples = kind.samples(options, output)
    except WrongOutput:
        samples = []
    assert all(math.isfinite(sample.value) and sample.value > 0 for sample in samples)
    kind.facts(options, output)


def check_expected(kind: WorkloadKind, options: Options, shape: Shape) -> None:
    expected_s = kind.expected_s(options, shape)
    assert expected_s is None or (math.isfinite(expected_s) and expected_s >= 0)


def _garbage(output: Output) -> Output:
    noise = "\ufffd\0\x1b[31m=\n" * 50
    return Output(stdout=noise, stderr=noise, files=dict.fromkeys(output.files, noise))


def _matters(kind: WorkloadKind, options: Options, output: Output, replaced: Callable[[str], Output]) -> bool:
    """Whether the parser reads this text at all: an empty stdout beside an output file may not matter."""
    try:
        return kind.samples(options, replaced("")) != kind.samples(options, output)
    except WrongOutput:
        return True
