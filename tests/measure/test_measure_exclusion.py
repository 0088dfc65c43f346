# SPDX-License-Identifier: Apache-2.0
"""Rules take a trial out by what was declared before the start, and by nothing that it measured."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.measure.exclusion import FOREIGN, Own, add_foreign_load, excluded
from tare.records import Exclude, Rule
from tare.signals.family import SignalFamily
from tare.signals.place import Place
from tare.signals.processors import TICK_S, Processors
from tare.signals.watch import Found, SignalTexts, SignalWatch

TICKS = round(1 / TICK_S)


class Silent(Processors):
    def sources(self, place: Place) -> list:  # type: ignore[type-arg]  # noqa: ARG002 - nothing is read here
        return []


def stat(*working_s: float, steal_s: float = 0.0) -> bytes:
    """/proc/stat of processors that worked so long; the first of them was also taken away for ``steal_s``."""
    lines = [
        f"cpu{number} {round(TICKS * time_s)} 0 0 0 0 0 0 {round(TICKS * steal_s) if number == 0 else 0} 0 0"
        for number, time_s in enumerate(working_s)
    ]
    return "\n".join(lines).encode()


def watch(
    before: bytes,
    after: bytes,
    processors: tuple[int, ...] = (0,),
    span_s: float = 10.0,
    runner_s: float = 0.0,
) -> SignalWatch:
    family: Sequence[SignalFamily] = [Silent()]
    signal_watch = SignalWatch(Place(processors=processors), family)
    signal_watch.before = SignalTexts(at_s=0.0, runner_cpu_s=1.0, texts={0: (before,)})
    signal_watch.after = SignalTexts(at_s=span_s, runner_cpu_s=1.0 + runner_s, texts={0: (after,)})
    return signal_watch


def foreign_s(looked: SignalWatch, own: Own) -> float | None:
    result = Found()
    add_foreign_load(looked, own, result)
    assert (FOREIGN in result.missing) != bool(result.signals)
    return result.signals[0].value if result.signals else None


def rule(
    looked: SignalWatch, exclude: Exclude, levels: Mapping[str, tuple[float, ...]] | None = None
) -> Rule | None:
    result = Found(levels=dict(levels or {}))
    add_foreign_load(looked, Own(nodes_s=8.0), result)
    taken = excluded(exclude, looked, result)
    return None if taken is None else taken.rule


def test_foreign_is_what_the_trial_did_not_bring_with_it() -> None:
    looked = watch(stat(1.0), stat(10.0, steal_s=0.5), runner_s=0.25)
    own = Own(nodes_s=6.0, helpers_s=0.5, neighbours_s=1.0)
    assert foreign_s(looked, own) == pytest.approx(9.0 + 0.5 - 6.0 - 0.5 - 1.0 - 0.25)


def test_work_on_other_processors_is_not_foreign() -> None:
    assert foreign_s(watch(stat(0.0, 0.0), stat(3.0, 9.0)), Own(nodes_s=1.0)) == pytest.approx(2.0)


def test_a_trial_that_ran_elsewhere_too_makes_nothing_negative() -> None:
    assert foreign_s(watch(stat(0.0), stat(3.0)), Own(nodes_s=5.0)) == 0.0


@pytest.mark.parametrize("own", [Own(nodes_s=None), Own(nodes_s=1.0, neighbours_s=None)])
def test_without_the_trials_own_time_the_foreign_load_is_missing(own: Own) -> None:
    looked = watch(stat(0.0), stat(10.0))
    assert foreign_s(looked, own) is None
    assert excluded(Exclude(foreign_load=1e-9), looked, Found()) is None


def test_others_beyond_the_limit_take_the_trial_out() -> None:
    busy = watch(stat(0.0), stat(10.0))  # the trial's own 8 s of 10
    assert rule(busy, Exclude(foreign_load=0.1)) is Rule.FOREIGN_LOAD
    assert rule(busy, Exclude(foreign_load=0.3)) is None
    assert rule(busy, Exclude()) is None


def test_ticks_that_a_short_trial_cannot_tell_apart_take_nothing_out() -> None:
    result = Found()
    short = watch(stat(0.0), stat(2 * TICK_S), span_s=0.005)
    add_foreign_load(short, Own(nodes_s=0.0), result)
    assert excluded(Exclude(foreign_load=0.01), short, result) is None


@given(st.floats(0.0, 20.0), st.floats(0.01, 5.0))
def test_more_foreign_load_never_saves_a_trial(more_s: float, limit: float) -> None:
    exclude = Exclude(foreign_load=limit)
    less, more = (rule(watch(stat(0.0), stat(8.0 + part * more_s)), exclude) for part in (0.5, 1.0))
    assert not (less is Rule.FOREIGN_LOAD and more is None)


def test_a_frequency_that_falls_while_the_command_runs_takes_it_out() -> None:
    quiet = watch(stat(0.0), stat(8.0))
    levels = {"frequency_hz": (8e8, 3e9, 2.4e9, 3e9)}
    assert rule(quiet, Exclude(frequency_change=0.1), levels) is Rule.FREQUENCY
    assert rule(quiet, Exclude(frequency_change=0.3), levels) is None
    assert rule(quiet, Exclude(), levels) is None


def test_processors_that_were_asleep_before_the_run_have_not_changed_in_it() -> None:
    levels = {"frequency_hz": (8e8, 3e9)}
    assert rule(watch(stat(0.0), stat(8.0)), Exclude(frequency_change=0.01), levels) is None


def test_heat_at_any_moment_takes_it_out() -> None:
    levels = {"temperature_c": (50.0, 91.0, 60.0)}
    quiet = watch(stat(0.0), stat(8.0))
    assert rule(quiet, Exclude(temperature_c=90.0), levels) is Rule.FREQUENCY
    assert rule(quiet, Exclude(temperature_c=95.0), levels) is None


def test_a_reason_is_the_same_for_every_trial_so_that_they_are_counted_together() -> None:
    reasons = set()
    for foreign in (9.0, 10.0):
        looked, value = watch(stat(0.0), stat(foreign)), Found()
        add_foreign_load(looked, Own(nodes_s=1.0), value)
        taken = excluded(Exclude(foreign_load=0.1), looked, value)
        assert taken is not None
        reasons.add(taken.reason)
    assert len(reasons) == 1


def test_no_rule_can_see_an_outcome() -> None:
    """What the rules are given holds no sample, no wall time of a command and no exit code."""
    seen = {field.name for kind in (Found, SignalTexts, Own) for field in fields(kind)}
    assert seen == {
        *("signals", "missing", "levels"),
        *("at_s", "runner_cpu_s", "texts"),
        *("nodes_s", "helpers_s", "neighbours_s"),
    }
