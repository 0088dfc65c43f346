# SPDX-License-Identifier: Apache-2.0
"""Records of every shape that a runner may write."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tare.journal.lines import read_record
from tare.journal.reader import read_journal
from tare.journal.writer import JournalWriter
from tare.records import (
    Clocks,
    Direction,
    Environment,
    InstanceRun,
    Layout,
    Limits,
    Outcome,
    Sample,
    Session,
    Skipped,
    Status,
    Trial,
    Workload,
)

words = st.text(max_size=30)
numbers = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 2**53)
option_values = st.one_of(
    words, st.integers(-(2**53), 2**53), numbers, st.booleans(), st.lists(words, max_size=3)
)
options = st.dictionaries(words, option_values, max_size=3)
facts = st.dictionaries(words, words, max_size=3)

trials = st.builds(
    Trial,
    identity=words,
    block=counts,
    slot=counts,
    environment=st.builds(Environment, name=words, technology=words, options=options),
    replicate=st.integers(0, 1),
    layout=st.builds(
        Layout, nodes=st.integers(1, 9), processors=st.integers(1, 99), instances=st.integers(1, 99)
    ),
    workload=st.builds(Workload, name=words, kind=words, options=options),
    limits=st.builds(
        Limits,
        memory_byte=counts,
        shm_byte=counts,
        cpu_quota=st.none() | st.floats(0.01, 100),
        time_s=st.floats(0.1, 1e6),
    ),
)
samples = st.builds(
    Sample,
    name=words,
    value=numbers,
    unit=words,
    direction=st.sampled_from(Direction),
    instance=st.none() | counts,
)
instance_runs = st.builds(
    InstanceRun,
    instance=counts,
    clocks=st.builds(Clocks, wall_s=numbers, host_wall_s=numbers, round_trip_s=numbers),
    start_offset_s=numbers,
    user_s=numbers,
    system_s=numbers,
    maximum_rss_byte=counts,
    minor_faults=counts,
    major_faults=counts,
    voluntary_switches=counts,
    involuntary_switches=counts,
    exit_code=st.none() | st.integers(0, 255),
    signal=st.none() | st.integers(1, 64),
    timed_out=st.booleans(),
    host_span_s=st.none() | numbers,
)
outcomes = st.builds(
    Outcome,
    trial=trials,
    status=st.sampled_from(Status),
    reason=st.none() | words,
    excerpt=st.none() | words,
    started_utc=words,
    elapsed_s=numbers,
    node_start_s=st.none() | numbers,
    node_stop_s=st.none() | numbers,
    barrier_skew_s=st.none() | numbers,
    cpu_s=st.none() | numbers,
    helper_cpu_s=st.none() | numbers,
    helpers=st.none() | counts,
    vcpu_wait_s=st.none() | numbers,
    steal_s=st.none() | numbers,
    clock_fault=st.none() | words,
    timer_inversions=st.none() | counts,
    samples=st.lists(samples, max_size=3).map(tuple),
    instances=st.lists(instance_runs, max_size=2).map(tuple),
    image_digest=words,
    facts=facts,
)
sessions = st.builds(
    Session,
    identity=words,
    started_utc=words,
    tare_version=words,
    seed=counts,
    image_name=words,
    image_digest=words,
    host=facts,
    skipped=st.lists(st.builds(Skipped, environment=words, reason=words, remedy=words), max_size=2).map(
        tuple
    ),
    planned_trials=counts,
    lacking_flags=st.dictionaries(words, st.lists(words, max_size=3).map(tuple), max_size=2),
)

_numbers = itertools.count()


def an_outcome(identity: str | None = None, excerpt: str | None = None) -> Outcome:
    """A plain one; of another trial each time unless one is named."""
    name = identity if identity is not None else f"b{next(_numbers):06d}-w-1c1p1i-e-0"
    return Outcome(
        trial=Trial(
            identity=name,
            block=0,
            slot=0,
            environment=Environment(name="e", technology="fake"),
            replicate=0,
            layout=Layout(nodes=1, processors=1, instances=1),
            workload=Workload(name="w", kind="fake"),
            limits=Limits(memory_byte=1, shm_byte=1),
        ),
        status=Status.OK,
        reason=None,
        excerpt=excerpt,
        started_utc="2025-01-01T00:00:00.000+00:00",
        elapsed_s=1.0,
        node_start_s=0.1,
        node_stop_s=0.1,
        barrier_skew_s=None,
        cpu_s=0.5,
        samples=(Sample(name="wall_s", value=1.25, unit="s", direction=Direction.LESS),),
        instances=(),
        image_digest="sha256:0",
    )


def a_session(identity: str = "0a") -> Session:
    return Session(
        identity=identity,
        started_utc="20250101T000000.000000Z",
        tare_version="0",
        seed=1,
        image_name="default",
        image_digest="sha256:0",
        host={"kernel": "6.1"},
        skipped=(),
        planned_trials=1,
    )


def measured_again(journal: Path) -> Path:
    """As if a second runner had run every trial into the same folder; gives its file."""
    kept = read_journal(journal)
    path = journal / "29990101T000000.000000Z-later.jsonl"
    with JournalWriter(path) as writer:
        writer.append(replace(kept.sessions[0], identity="later"))
        for outcome in kept.outcomes:
            writer.append(outcome)
    return path


def records_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Filled with the kind of each record that is read from a sealed line from now on."""
    kinds: list[str] = []

    def counted(kind: str, line: bytes, where: str) -> Session | Outcome:
        kinds.append(kind)
        return read_record(kind, line, where)

    monkeypatch.setattr("tare.journal.chain.read_record", counted)
    return kinds
