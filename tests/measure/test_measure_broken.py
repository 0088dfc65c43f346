# SPDX-License-Identifier: Apache-2.0
"""One broken node is one failed trial, whatever it raises, and the campaign goes on, also at the next resume."""

import errno
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fake_campaign import (
    FAKES,
    Listener,
    command_workload,
    fake_campaign,
    fake_context,
    fake_environment,
    fake_request,
    fake_workload,
)
from tests.measure.test_measure_stopwatch import DONE, READY
from tests.measure.test_measure_trial import a_trial, failed
from tests.measure.turns.test_turns_together import resident

from tare.environments.fake import Fake
from tare.errors import HostError, ImageError, JournalError, LockedError, NodeError
from tare.image.store import Image
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure import protocol, traced_calls
from tare.measure.attempt import Attempt
from tare.measure.campaign import measure_campaign
from tare.measure.context import Context
from tare.measure.instances import OUTPUT
from tare.measure.trial import run_trial
from tare.measure.turns import slices, together
from tare.measure.turns.player import Player
from tare.measure.unforeseen import TRACE
from tare.measure.usable import skipped_environments
from tare.nodes.provider import Node
from tare.records import CallCounts, Layout, Status, Trial, Turns, Way, Workload
from tare.workloads import KINDS

pytestmark = pytest.mark.usefixtures("state")
KINDS_OF_ERROR: Sequence[Callable[[], Exception]] = (
    lambda: KeyError("settings"),
    lambda: TypeError("'str' object is not callable"),
    lambda: RecursionError("maximum recursion depth exceeded"),
    MemoryError,
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    AssertionError,
    lambda: ImageError("the image is gone"),
    lambda: HostError("no memory is left"),
    lambda: OSError(errno.EMFILE, "Too many open files"),
)


@pytest.fixture
def context(tmp_path: Path, programs: Path) -> Context:
    return fake_context(tmp_path, programs)


def raising(where: str, error: Exception) -> Fake:
    """An environment of which one method is broken."""

    class Raising(Fake):
        technology = "broken"

    def fail(*_: object) -> object:
        raise error

    setattr(Raising, where, fail)
    return Raising()


def broken(context: Context, where: str, error: Exception) -> Context:
    return replace(context, providers={**FAKES, "broken": raising(where, error)})


@pytest.mark.parametrize(
    ("where", "make"),
    [("start", make) for make in KINDS_OF_ERROR]
    + [(where, KINDS_OF_ERROR[0]) for where in ("prefix", "group", "fetch")],
    ids=lambda part: part if isinstance(part, str) else type(part()).__name__,
)
def test_whatever_an_environment_raises_ends_its_trial_alone(
    context: Context, where: str, make: Callable[[], Exception]
) -> None:
    outcome = run_trial(broken(context, where, make()), a_trial(fake_workload(), "broken"))
    assert str(make()) in failed(outcome)
    assert "Traceback" not in failed(outcome)
    assert run_trial(context, a_trial(fake_workload())).status is Status.OK


@pytest.mark.parametrize(
    ("program", "reason"),
    [("false", "false ended with exit code 1"), ("true", "no process can be started")],
)
def test_nothing_is_fetched_twice_from_a_node_that_is_full_and_a_failed_command_is_the_reason(
    context: Context, program: str, reason: str
) -> None:
    asked: list[object] = []

    class Full(Fake):
        technology = "broken"

        def fetch(self, node: Node, names: Sequence[str]) -> None:  # noqa: ARG002 - a Provider's
            if any(OUTPUT in name for name in names):
                asked.append(names)
                raise NodeError("no process can be started")

    outcome = run_trial(
        replace(context, providers={**FAKES, "broken": Full()}), a_trial(command_workload(program), "broken")
    )
    assert failed(outcome) == reason
    assert len(asked) == 1


def test_what_can_be_fetched_is_kept_beside_an_instance_of_which_nothing_can(context: Context) -> None:
    class First(Fake):
        technology = "broken"

        def fetch(self, node: Node, names: Sequence[str]) -> None:  # noqa: ARG002 - a Provider's
            asked.extend(name for name in names if OUTPUT in name)
            if len(asked) == len(names):
                raise NodeError("no process can be started")

    asked: list[str] = []
    trial = replace(
        a_trial(command_workload("true"), "broken"), layout=Layout(nodes=1, processors=1, instances=2)
    )
    failed(run_trial(replace(context, providers={**FAKES, "broken": First()}), trial))
    assert len(asked) == len(set(asked)) == 4


def test_an_unforeseen_error_says_kind_words_and_place_and_its_trace_is_kept(context: Context) -> None:
    outcome = run_trial(broken(context, "group", KeyError("settings")), a_trial(fake_workload(), "broken"))
    assert re.fullmatch(
        r"an error that Tare did not foresee: KeyError \('settings'\) in tare\.measure\.inspection\.inspect; "
        r"please report it",
        failed(outcome),
    )
    assert "Traceback" in (context.raw_directory / "b000-t" / TRACE).read_text()


def test_what_is_raised_on_purpose_leaves_no_trace(context: Context) -> None:
    failed(run_trial(broken(context, "group", HostError("no")), a_trial(fake_workload(), "broken")))
    assert not (context.raw_directory / "b000-t" / TRACE).exists()


@pytest.mark.parametrize(
    "error", [JournalError("cannot be written"), LockedError("held"), KeyboardInterrupt()]
)
def test_what_concerns_all_trials_is_no_trials_failure(tmp_path: Path, error: BaseException) -> None:
    attempt = Attempt(a_trial(fake_workload()), "sha256:0", tmp_path)
    with pytest.raises(type(error)), attempt.guarded():
        raise error


def test_the_first_cause_stands(tmp_path: Path) -> None:
    attempt = Attempt(a_trial(fake_workload()), "sha256:0", tmp_path)
    for words in ("cause", "consequence"):
        with attempt.guarded():
            raise HostError(words)
    assert attempt.outcome().reason == "cause"


def test_a_node_that_does_not_stop_for_an_unforeseen_reason_is_named_and_measured(context: Context) -> None:
    outcome = run_trial(broken(context, "stop", TypeError("no")), a_trial(fake_workload(), "broken"))
    assert outcome.status is Status.OK
    assert "TypeError (no)" in outcome.facts["not stopped cleanly"]


def test_no_name_of_a_file_and_no_flood_makes_a_line_that_no_journal_holds(tmp_path: Path) -> None:
    attempt = Attempt(a_trial(fake_workload()), "sha256:0", tmp_path)
    attempt.measured.facts = {"\udcff": "\ud800" + "x" * 100_000}
    missing = tmp_path / b"\xff".decode(errors="surrogateescape")
    with attempt.guarded():
        missing.read_bytes()
    outcome = attempt.outcome()
    for text in (outcome.reason or "", *outcome.facts, *outcome.facts.values()):
        assert 0 < len(text.encode()) < 10_000


def test_a_broken_parser_is_a_failed_trial(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KINDS["fake"], "samples", lambda *_: KINDS["no kind"])
    assert "KeyError" in failed(run_trial(context, a_trial(fake_workload())))


@pytest.mark.parametrize("make", KINDS_OF_ERROR, ids=lambda make: type(make()).__name__)
@pytest.mark.parametrize("where", ["configured", "probe", "prepare"])
def test_an_environment_that_raises_while_it_is_looked_at_is_skipped(
    where: str, make: Callable[[], Exception]
) -> None:
    providers = {**FAKES, "broken": raising(where, make())}
    wanted = [fake_environment("good"), replace(fake_environment("bad"), technology="broken")]
    (skipped,) = skipped_environments(wanted, providers, Image("default", Path("/image"), "sha256:0"))
    assert skipped.environment == "bad"
    assert str(make()) in skipped.reason
    assert skipped.remedy


class Garbling(Fake):
    """In whose nodes a program of the workload's is in the stopwatch's place, and says what it likes."""

    technology = "garbling"

    def __init__(self, **changes: object) -> None:
        self._done = json.dumps({**DONE, **changes})

    def prefix(self, node: Node) -> list[str]:
        ready = json.dumps({**READY, "processors": list(node.spec.processors), "monotonic_ns": 3 * 10**9})
        script = (
            "echo READY $0; while read word; do case $word in NEXT*) echo READY $0;; *PING) echo PONG 5;; "
            "*GO) echo DONE $1;; *QUALITY) echo QUALITY [[[[;; esac; done"
        )
        return ["sh", "-c", script, ready, self._done]


@pytest.mark.parametrize(
    "changes",
    [
        {"user_s": "0.5"},
        {"user_s": None},
        {"user_s": -1.0},
        {"system_s": [[]]},
        {"maximum_rss_byte": 1.5},
        {"maximum_rss_byte": 10**400},
        {"minor_faults": int("9" * 4000)},
        {"major_faults": -1},
        {"voluntary_switches": True},
        {"exit_code": "0"},
        {"exit_code": 256},
        {"signal": 1 << 40},
        {"timed_out": 1},
        {"start_ns": 1e30},
        {"executed_ns": 1 << 63},
        {"executed_ns": None},
        {"end_ns": 1 << 63},
        {"error": {"a": "b"}},
    ],
    ids=str,
)
def test_what_a_stopwatch_says_of_a_command_is_within_its_kind_and_range_or_an_error(
    changes: dict[str, object],
) -> None:
    with pytest.raises(NodeError, match="makes no sense"):
        protocol.done(json.dumps({**DONE, **changes}).encode())
    assert protocol.done(json.dumps(DONE).encode()) == DONE


@pytest.mark.parametrize(
    "changes",
    [
        {"pid": "1"},
        {"pid": -1},
        {"processors": [0.5]},
        {"processors": {}},
        {"processors": [1 << 40]},
        {"shm_byte": "a lot"},
        {"monotonic_ns": 10**30},
        {"cpu_quota": "NaN"},
        {"memory_limit_byte": [1]},
        {"kernel_release": "x" * 5000},
        {"kernel_release": {"a": 1}},
    ],
    ids=str,
)
def test_what_a_stopwatch_says_of_its_node_is_within_its_kind_and_range_or_an_error(
    changes: dict[str, object],
) -> None:
    with pytest.raises(NodeError, match="makes no sense"):
        protocol.ready(json.dumps({**READY, **changes}).encode())
    assert protocol.ready(json.dumps({**READY, "other": [{}]}).encode())["other"] == [{}]


@pytest.mark.parametrize(
    "line", [b"9" * 5000, b"9" * 19, b"-1", b"1_0", b" 1", b"", b"\xff", "\u0661".encode()]
)
def test_a_clock_that_no_clock_can_show_is_an_error(line: bytes) -> None:
    with pytest.raises(NodeError, match="makes no sense"):
        protocol.clock_ns(line)


def test_a_stopwatch_that_the_workload_replaced_is_a_failed_trial(context: Context) -> None:
    own = replace(context, providers={**FAKES, "garbling": Garbling(user_s="0.5")})
    outcome = run_trial(own, a_trial(fake_workload(), "garbling"))
    assert "makes no sense (user_s: " in failed(outcome)
    assert outcome.excerpt
    assert '"user_s": "0.5"' in outcome.excerpt


def arms_of(folder: Path, provider: Fake, workload: Workload, blocks: int) -> dict[str, set[Status]]:
    """What became of the trials of each arm, after a campaign and its next resume."""
    environments = fake_environment("good"), replace(fake_environment("bad"), technology="chroot")
    for until in range(1, blocks + 1):
        campaign = fake_campaign(*environments, workload=workload, blocks=blocks)
        request = fake_request(replace(campaign, turns=Turns(rounds=3, processes=1)), folder)
        own = replace(request, providers={**FAKES, "chroot": provider})
        if until < blocks:
            with pytest.raises(KeyboardInterrupt):
                measure_campaign(own, Interrupting(own.folder, until))
        else:
            measure_campaign(own, Listener())
    status: dict[str, set[Status]] = {}
    for outcome in read_journal(own.folder.journal).outcomes:
        status.setdefault(outcome.trial.environment.name, set()).add(outcome.status)
    return status


class Interrupting(Listener):
    """Ends the session once so many blocks are done."""

    def __init__(self, folder: ResultFolder, blocks: int) -> None:
        super().__init__()
        self._folder, self._blocks = folder, blocks

    def begins(self, trial: Trial) -> None:
        if trial.block >= self._blocks:
            raise KeyboardInterrupt


@pytest.mark.usefixtures("fake_image")
@pytest.mark.parametrize(
    "provider",
    [Garbling(user_s="0.5"), raising("group", KeyError("a")), raising("prefix", RecursionError("b"))],
)
@pytest.mark.parametrize("way", [Way.WHOLE, Way.SLICES])
def test_one_broken_arm_fails_its_own_trials_and_the_campaign_goes_on_also_at_the_next_resume(
    tmp_path: Path, provider: Fake, way: Way
) -> None:
    workload = fake_workload() if way is Way.WHOLE else resident()
    assert arms_of(tmp_path / "result", provider, workload, 2) == {
        "native": {Status.OK},
        "good": {Status.OK},
        "bad": {Status.FAILED},
    }


@pytest.mark.usefixtures("fake_image")
def test_what_breaks_all_arms_of_a_workload_loses_no_other_workloads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = slices.play_slices

    def play(context: Context, ready: Sequence[Player], *rest: Any) -> None:
        if ready[0].attempt.trial.workload.name == "first":
            raise ZeroDivisionError
        real(context, ready, *rest)

    monkeypatch.setattr(together, "play_slices", play)
    campaign = replace(
        fake_campaign(blocks=1), workloads=(resident("first"), resident("second")), turns=Turns(rounds=3)
    )
    request = fake_request(campaign, tmp_path / "result")
    measure_campaign(request, Listener())
    result = {
        (outcome.trial.workload.name, outcome.status)
        for outcome in read_journal(request.folder.journal).outcomes
    }
    assert result == {("first", Status.FAILED), ("second", Status.OK)}


@pytest.mark.usefixtures("fake_image")
def test_a_spare_run_that_breaks_has_a_reason_and_the_others_are_traced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traced_calls, "is_installed", lambda: True)
    monkeypatch.setattr(
        traced_calls, "_run", lambda *_: CallCounts(made={}, failed={}, traced_s=1.0, whole=True)
    )
    environments = fake_environment("good"), replace(fake_environment("bad"), technology="broken")
    request = fake_request(fake_campaign(*environments, blocks=1), tmp_path / "result")
    own = replace(request, providers={**FAKES, "broken": raising("group", KeyError("settings"))})
    trace_calls = traced_calls.trace_calls(own, Listener())
    assert ["KeyError" in words for own in trace_calls.untraced.values() for words in own.values()] == [True]
    assert {name for own in trace_calls.counts.values() for name in own} == {"native", "good"}
