# SPDX-License-Identifier: Apache-2.0
"""Samples by columns give what samples by records give."""

import errno
import math
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.journal.journal_example import a_session

from tare.errors import JournalError
from tare.journal import columns, large
from tare.journal.columns import ColumnWriter, Condensed, condensed
from tare.journal.lines import encode
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.journal.sample_columns import SampleRows
from tare.journal.writer import make_folder
from tare.records import (
    Coordinate,
    Direction,
    Environment,
    Layout,
    Limits,
    Outcome,
    Sample,
    Status,
    Summary,
    Trial,
    Workload,
)
from tare.treat import curves, summaries
from tare.treat.columns import JoinedSamples

PRIMARY = {"work": ("wall_s",)}
NAMES = st.sampled_from(
    [("wall_s", "s", Direction.LESS), ("rate", "1/s", Direction.MORE), ("free", "s", Direction.LESS)]
)
VALUES = st.one_of(
    st.floats(min_value=1e-3, max_value=1e3), st.sampled_from([0.0, -1.0, math.nan, math.inf, 1e308, 5e-324])
)
ARMS = (("native", 0), ("native", 1), ("docker", 0), ("podman", 0))


@st.composite
def whole_samples(draw: st.DrawFn, instances: int) -> list[Sample]:
    """As a workload reports them: each iteration, each instance; some on a curve."""
    collected = []
    names: list[tuple[str, str, Direction]] = draw(st.lists(NAMES, min_size=1, max_size=2, unique=True))
    for name, unit, direction in names:
        x = draw(st.sampled_from([None, None, 8.0, math.nan, 0.0]))
        count = draw(st.integers(1, 3))
        iterations: list[int | None] = [None] if count == 1 else list(range(count))
        whole: list[int | None] = [None]
        numbers: list[int | None] = draw(st.sampled_from([whole, list(range(instances))]))
        collected += [
            Sample(
                name=name,
                value=draw(st.floats(0.5, 2.0)),
                unit=unit,
                direction=direction,
                instance=instance,
                coordinates=() if x is None else (Coordinate("size", x, "B"),),
                iteration=iteration,
            )
            for iteration in iterations
            for instance in numbers
        ]
    return draw(st.permutations(collected))


@st.composite
def any_samples(draw: st.DrawFn) -> list[Sample]:
    """As no workload should report them."""
    small = st.one_of(st.none(), st.integers(0, 2))
    return [
        Sample(name=name, value=value, unit=unit, direction=direction, instance=instance, iteration=iteration)
        for (name, unit, direction), value, instance, iteration in draw(
            st.lists(st.tuples(NAMES, VALUES, small, small), max_size=5)
        )
    ]  # fmt: skip


@st.composite
def results(draw: st.DrawFn) -> list[Outcome]:
    instances = draw(st.integers(1, 3))
    samples = st.one_of(whole_samples(instances), any_samples())
    outcomes = [
        outcome(arm, replicate, block, draw(samples), instances)
        for block in range(draw(st.integers(1, 2)))
        for arm, replicate in ARMS
    ]
    return draw(st.permutations(outcomes))


def outcome(arm: str, replicate: int, block: int, samples: Sequence[Sample], instances: int) -> Outcome:
    trial = Trial(
        identity=f"{block}-{arm}-{replicate}",
        block=block,
        slot=ARMS.index((arm, replicate)),
        environment=Environment(name=arm, technology=arm),
        replicate=replicate,
        layout=Layout(nodes=1, processors=instances, instances=instances),
        workload=Workload(name="work", kind="command"),
        limits=Limits(memory_byte=2**30, shm_byte=2**20),
    )
    return Outcome(
        trial=trial,
        status=Status.OK,
        reason=None,
        excerpt=None,
        started_utc="2026-01-01T00:00:00Z",
        elapsed_s=1.0,
        node_start_s=None,
        node_stop_s=None,
        barrier_skew_s=None,
        cpu_s=None,
        samples=tuple(samples),
        instances=(),
        image_digest="none",
    )


def through_columns(outcomes: Sequence[Outcome], directory: Path) -> tuple[Outcome, ...]:
    with ColumnWriter(directory) as writer:
        writer.add(a_session())
        for item in outcomes:
            writer.add(item)
        return Condensed(writer.finish({}), writer.files).journal(JoinedSamples).outcomes


def same(left: Summary, right: Summary) -> bool:
    """Equal but for the last digits of sums and means."""
    bare = [replace(summary, blocks=(), log_ratios=(), control_log_ratios=()) for summary in (left, right)]
    logs = zip(
        left.log_ratios + left.control_log_ratios, right.log_ratios + right.control_log_ratios, strict=True
    )
    blocks = [[block.block for block in summary.blocks] for summary in (left, right)]
    return (
        bare[0] == bare[1]
        and blocks[0] == blocks[1]
        and all(math.isclose(*pair, abs_tol=1e-9) for pair in logs)
    )


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=60,
)
@given(outcomes=results())
def test_columns_give_the_summaries_and_curves_that_records_give(
    outcomes: list[Outcome], tmp_path: Path
) -> None:
    joined = through_columns(outcomes, tmp_path)
    assert [item.trial for item in joined] == [item.trial for item in outcomes]
    expected, value = summaries(outcomes, PRIMARY), summaries(joined, PRIMARY)
    assert len(value) == len(expected)
    assert all(same(*pair) for pair in zip(value, expected, strict=True))
    for curve, other in zip(curves(joined), curves(outcomes), strict=True):
        assert replace(curve, points=()) == replace(other, points=())
        for point, original in zip(curve.points, other.points, strict=True):
            assert (point.at, point.blocks) == (original.at, original.blocks)
            assert point.log_ratios == pytest.approx(original.log_ratios, abs=1e-9)


def journal_of(directory: Path, count: int) -> Path:
    directory.mkdir(exist_ok=True)
    sample = Sample(name="wall_s", value=2.0, unit="s", direction=Direction.LESS)
    outcomes = [outcome("native", 0, block, [sample] * (block == 0), 1) for block in range(count)]
    (directory / "a.jsonl").write_bytes(encode(a_session()) + b"".join(map(encode, outcomes)) + b'{"torn')
    return directory


def test_what_was_derived_is_made_anew_when_the_journal_has_grown(tmp_path: Path) -> None:
    journal = journal_of(tmp_path / "journal", 2)
    assert len(condensed(journal, tmp_path / "derived").journal().outcomes) == 2
    kept = (tmp_path / "derived" / "samples.parquet").stat().st_mtime_ns
    condensed(journal, tmp_path / "derived")
    assert (tmp_path / "derived" / "samples.parquet").stat().st_mtime_ns == kept
    journal_of(tmp_path / "journal", 3)
    assert len(condensed(journal, tmp_path / "derived").journal().outcomes) == 3


def test_samples_of_many_row_groups_stay_with_their_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tare.journal.columns.ROWS_AT_ONCE", 5)
    values = np.random.default_rng(1).lognormal(size=(9, 3)).tolist()
    outcomes = [
        outcome(
            "native",
            0,
            block,
            [
                Sample(name="wall_s", value=value, unit="s", direction=Direction.LESS, instance=place)
                for place, value in enumerate(row)
            ],
            3,
        )
        for block, row in enumerate(values)
    ]
    joined = through_columns(outcomes, tmp_path)
    assert [item.samples[0].value for item in joined] == [max(row) for row in values]


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, int]]:
    """Folders that no columns can be written to, and why."""
    refusals: list[tuple[Path, int]] = []

    def made(folder: Path) -> None:
        for place, number in refusals:
            if folder.is_relative_to(place):
                raise OSError(number, os.strerror(number), str(folder))
        make_folder(folder)

    monkeypatch.setattr(columns, "make_folder", made)
    return refusals


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EIO])
def test_columns_that_cannot_be_kept_are_made_for_this_time_alone(
    number: int, tmp_path: Path, refused: list[tuple[Path, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    journal = journal_of(tmp_path / "journal", 2)
    refused.append((tmp_path / "derived", number))
    assert len(condensed(journal, tmp_path / "derived").journal().outcomes) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["journal"]


@pytest.mark.parametrize(
    ("number", "mended"), [(errno.ENOSPC, True), (errno.EROFS, True), (errno.EIO, False)]
)
def test_columns_that_can_be_made_nowhere_are_said_with_the_remedy_that_helps(
    number: int, mended: bool, tmp_path: Path, refused: list[tuple[Path, int]]
) -> None:
    refused.append((Path("/"), number))
    with pytest.raises(JournalError, match=os.strerror(number)) as caught:
        condensed(journal_of(tmp_path / "journal", 1), tmp_path / "derived")
    assert ("Make one of them writable" in str(caught.value)) == mended


def test_a_journal_that_cannot_be_read_is_not_blamed_on_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(JournalError, match=r"^cannot read the journal") as caught:
        condensed(tmp_path, tmp_path / "derived")
    assert "writable" not in str(caught.value)


def test_no_columns_are_left_where_they_could_not_be_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SampleRows, "add", raising(OverflowError("too large")))
    with pytest.raises(OverflowError):
        condensed(journal_of(tmp_path / "journal", 1), tmp_path / "derived")
    assert list((tmp_path / "derived").iterdir()) == []


@pytest.mark.parametrize("error", [pa.ArrowInvalid("no Parquet file."), OSError("Unexpected end of stream.")])
def test_columns_that_cannot_be_read_when_they_are_made_leave_the_journal_itself(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "LARGE_JOURNAL_BYTE", 0)
    monkeypatch.setattr(columns, "KeptSamples", raising(error))
    journal = journal_of(tmp_path / "journal", 2)
    assert large.read_result(ResultFolder(tmp_path)) == read_journal(journal)


def raising(error: Exception) -> Callable[..., None]:
    def raises(*_: object) -> None:
        raise error

    return raises
