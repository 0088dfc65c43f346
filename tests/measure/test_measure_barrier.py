# SPDX-License-Identifier: Apache-2.0
"""Several instances start at one moment, whatever their ways, and what is told of it is when their programs began."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.measure.freezer_arms import arms_of, with_changes
from tests.measure.test_measure_stopwatch import DONE, SAY_READY

from tare.environments.fake_clock import _Bent, begin, parse
from tare.errors import NodeError
from tare.host.cgroups.freezer import Freezer, thaw_all
from tare.measure import freezer_turns
from tare.measure.clock_line import ClockProbe
from tare.measure.clocks import host_ns
from tare.measure.starts import start_clocks, start_offsets
from tare.measure.stopwatch import Stopwatch, go_together, wait_all

SECOND = 10**9
SAY_DONE = f"echo 'DONE {json.dumps(DONE)}'"
HOSTS_OWN = ClockProbe(asked_ns=100, node_ns=200, answered_ns=1_000_100)
SLOW = ClockProbe(asked_ns=0, node_ns=1, answered_ns=SECOND)
HOUR_AHEAD = ClockProbe(asked_ns=100, node_ns=3600 * SECOND + 150, answered_ns=200)


@contextmanager
def ready(*ways: Sequence[str]) -> Iterator[list[Stopwatch]]:
    with ExitStack() as stack:
        stopwatches = [stack.enter_context(Stopwatch(way)) for way in ways]
        for stopwatch in stopwatches:
            stopwatch.wait_ready(10.0)
        yield stopwatches


def repeating(path: Path) -> list[str]:
    """In the place of a stopwatch: it writes down what it hears first."""
    return ["sh", "-c", f"{SAY_READY} read line; echo $line > {path}"]


def heard(path: Path, stopwatches: Sequence[Stopwatch]) -> str:
    for stopwatch in stopwatches:
        stopwatch._pipe._process.wait(timeout=10)
    return path.read_text().strip()


def test_several_by_the_hosts_clock_are_told_one_moment(tmp_path: Path) -> None:
    with ready(repeating(tmp_path / "one"), repeating(tmp_path / "two")) as both:
        sent_ns = host_ns()
        moment_ns = go_together(both, [[HOSTS_OWN], [HOSTS_OWN]])
        assert heard(tmp_path / "one", both) == heard(tmp_path / "two", both) == f"GO {moment_ns}"
    assert moment_ns >= sent_ns + 2 * HOSTS_OWN.round_trip_ns


def test_a_clock_of_a_nodes_own_starts_nothing(tmp_path: Path) -> None:
    """It may be wrong; and the host's span of its command is not longer by the wait for the others."""
    with ready(repeating(tmp_path / "host"), repeating(tmp_path / "ahead")) as both:
        moment_ns = go_together(both, [[HOSTS_OWN], [HOUR_AHEAD]])
        assert heard(tmp_path / "host", both) == f"GO {moment_ns}"
        assert heard(tmp_path / "ahead", both) == "GO"
        assert both[0].sent_ns < moment_ns <= both[1].sent_ns


def test_one_late_answer_lets_nobody_wait_longer(tmp_path: Path) -> None:
    late = ClockProbe(asked_ns=0, node_ns=1, answered_ns=20 * SECOND)
    with ready(repeating(tmp_path / "own"), repeating(tmp_path / "late")) as both:
        assert go_together(both, [[HOSTS_OWN], [late, HOSTS_OWN]]) < host_ns() + SECOND // 10
    with ready(repeating(tmp_path / "own"), repeating(tmp_path / "late")) as both:
        assert go_together(both, [[HOSTS_OWN], [late]]) < host_ns() + SECOND // 2


def test_a_command_that_starts_before_the_moment_has_a_span_that_holds_all_of_it() -> None:
    """Its node's clock is wrong, or it does as it likes."""
    early = ["sh", "-c", f"{SAY_READY} read line; sleep 0.3; {SAY_DONE}"]
    with ready(early, early) as both:
        go_together(both, [[SLOW], [SLOW]])
        wait_all(both, 10.0)
        assert all(stopwatch.host_span_s >= 0.3 for stopwatch in both)


def test_a_command_that_ends_before_the_moment_is_an_error() -> None:
    at_once = ["sh", "-c", f"{SAY_READY} read line; {SAY_DONE}"]
    with ready(at_once, at_once) as both:
        go_together(both, [[SLOW], [SLOW]])
        with pytest.raises(NodeError, match=r"ended 0\.\d+ s before all were to start"):
            wait_all(both, 10.0)


def test_a_single_one_starts_at_once(tmp_path: Path) -> None:
    with ready(repeating(tmp_path / "own")) as alone:
        assert go_together(alone, [[HOSTS_OWN]]) <= host_ns()
        assert heard(tmp_path / "own", alone) == "GO"


def test_a_slow_way_into_a_node_delays_no_start(programs: Path) -> None:
    stopwatch = [str(programs / "stopwatch"), "--", "true"]
    slowly = 'while read -r line; do sleep 0.1; echo "$line"; done | "$@"'
    with ready(stopwatch, ["sh", "-c", slowly, "sh", *stopwatch]) as both:
        before = [each.probe() for each in both]
        moment_ns = go_together(both, before)
        said = wait_all(both, 10.0)
    assert all(moment_ns <= words["start_ns"] for words in said)
    assert max(each.offset_s for each in start_offsets(said, start_clocks(before))) < 0.1


def test_the_skew_is_from_program_to_program_and_not_from_word_to_word() -> None:
    said: list[dict[str, Any]] = [
        {"start_ns": 5 * SECOND, "executed_ns": 5 * SECOND + 1_000_000},
        {"start_ns": 3605 * SECOND, "executed_ns": 3605 * SECOND + 4_000_000},
    ]
    offsets = start_offsets(said, start_clocks([[HOSTS_OWN], [HOUR_AHEAD]]))
    assert [each.offset_s for each in offsets] == pytest.approx([0.0, 0.003])


def test_instances_that_take_turns_by_the_freezer_have_their_go_when_they_wake(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    went_ns: list[list[int]] = []

    def looking(freezers: Sequence[Freezer]) -> tuple[int, int]:
        went_ns.append([stopwatch._went_ns for stopwatch in spans["stopwatches"]])
        return thaw_all(freezers)

    monkeypatch.setattr(freezer_turns, "thaw_all", looking)
    with arms_of(programs, tmp_path, [["true"], ["true"]]) as (first, second):
        spans = {
            name: [*getattr(first, name), *getattr(second, name)]
            for name in ("stopwatches", "freezers", "groups")
        }
        (both,) = freezer_turns.take_turns([with_changes(first, **spans)], Random(1), 0.08)  # noqa: S311 - an order
    assert len(set(went_ns[0])) == 1
    assert went_ns[0][0] > 0
    assert [run.exit_code for run in both.runs] == [0, 0]


@pytest.mark.parametrize("words", ["honest", "fast 3%", "slow 3%", "step 50ms", "stop 2s", "cpu 150%"])
def test_a_clock_that_goes_wrong_starts_its_command_when_it_says_so(words: str, tmp_path: Path) -> None:
    fault = parse(words)
    assert fault is not None
    begin(tmp_path / "file")
    bent = _Bent(fault, tmp_path / "file")
    moment_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) + 100 * SECOND
    asked = bent.asked(b"PING\nGO %d\n" % bent._bent(moment_ns), measured=False)
    ping, go, rest = asked.split(b"\n")
    assert (ping, rest) == (b"PING", b"")
    assert abs(int(go.removeprefix(b"GO ")) - moment_ns) < 10


@pytest.mark.parametrize("word", [b"GO\n", b"PING\n", b"QUIT\n", b"GO 1x\n", b"NOGO 12\n"])
def test_a_clock_that_goes_wrong_leaves_other_words_as_they_are(word: bytes) -> None:
    fault = parse("fast 3%")
    assert fault is not None
    assert _Bent(fault, Path("/nowhere")).asked(word, measured=False) == word
