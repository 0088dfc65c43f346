# SPDX-License-Identifier: Apache-2.0
"""What a program uses, per second and busy processor, from what its native trials count."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.attribution_example import Plant, planted_outcomes
from tests.run_example import HONEST, instance_run

from tare.records import (
    NATIVE,
    CallCounts,
    Cell,
    Direction,
    Layout,
    Outcome,
    Sample,
    Scope,
    Signal,
    Status,
    TracedCalls,
)
from tare.records.advice import Resource
from tare.treat.resources import Counted, resource_rates

NONE = TracedCalls(counts={}, untraced={})
RUN = instance_run(clocks=replace(HONEST, wall_s=4.0, host_wall_s=4.0), user_s=4.5, system_s=1.5)
"""Four seconds on both processors for three quarters of the time."""
SIGNALS = tuple(
    Signal(name=name, unit="1", scope=scope, value=value)
    for name, scope, value in (
        ("minor_faults", Scope.NODE, 600.0),
        ("voluntary_switches", Scope.NODE, 60.0),
        ("voluntary_switches", Scope.HOST, 6e6),
    )
)


def trials(**changes: object) -> tuple[Outcome, ...]:
    """One block's, on two processors."""
    every = []
    for outcome in planted_outcomes(Plant(blocks=1)):
        trial = replace(outcome.trial, layout=Layout.parse("1c2p1i"))
        known = {"cpu_s": 6.0, "instances": (RUN,), "signals": SIGNALS, "turns": None, **changes}
        every.append(replace(outcome, trial=trial, **known))  # type: ignore[arg-type]
    return tuple(every)


def rates(
    outcomes: tuple[Outcome, ...], counted: Mapping[str, Counted] | None = None
) -> dict[Resource, float]:
    (own,) = resource_rates(outcomes, counted or {}, NONE).values()
    return own


def test_rates_are_per_second_and_busy_processor() -> None:
    assert rates(trials()) == {
        Resource.COMPUTING: pytest.approx(0.75),
        Resource.KERNEL: pytest.approx(0.25),
        Resource.FAULTS: pytest.approx(100.0),
        Resource.SWITCHES: pytest.approx(10.0),
    }


def test_only_native_trials_that_count_are_used_and_the_median_is_taken() -> None:
    outcomes = trials()
    natives = [outcome for outcome in outcomes if outcome.trial.environment.name == NATIVE]
    others = tuple(outcome for outcome in outcomes if outcome not in natives)
    assert resource_rates(others, {}, NONE) == {}
    failed = replace(natives[0], status=Status.FAILED, signals=())
    twice = replace(natives[1], signals=(replace(SIGNALS[0], value=1200.0),))
    assert rates((failed, twice))[Resource.FAULTS] == pytest.approx(200.0)
    assert rates((natives[0], twice))[Resource.FAULTS] == pytest.approx(150.0)


def test_what_was_not_counted_is_missing_and_never_0() -> None:
    assert Resource.COMPUTING not in rates(trials(cpu_s=None))
    assert Resource.FAULTS not in rates(trials(signals=()))
    assert Resource.MESSAGES not in rates(trials())
    assert Resource.COMPUTING not in rates(
        tuple(
            replace(outcome, trial=replace(outcome.trial, layout=Layout.parse("2c1p1i")))
            for outcome in trials()
        )
    )


def test_messages_are_those_of_the_profile_and_none_of_kinds_that_send_none() -> None:
    outcomes = trials()
    profiled = {outcome.trial.identity: {Resource.MESSAGES: 1200.0} for outcome in outcomes}
    assert rates(outcomes, profiled)[Resource.MESSAGES] == pytest.approx(200.0)
    memory = tuple(
        replace(
            outcome,
            trial=replace(outcome.trial, workload=replace(outcome.trial.workload, kind="memory")),
        )
        for outcome in outcomes
    )
    own = rates(memory)
    assert (own[Resource.MESSAGES], own[Resource.MESSAGE_BYTES], own[Resource.MEMORY]) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(("whole", "rate"), [(True, 50.0), (False, None)])
def test_system_calls_are_those_of_a_spare_run_that_was_traced_to_its_end(
    whole: bool, rate: float | None
) -> None:
    outcomes = trials()
    cell = Cell(workload=outcomes[0].trial.workload.name, layout="1c2p1i")
    counts = CallCounts(made={"read": 200, "write": 100}, failed={}, traced_s=9.0, whole=whole)
    traced = TracedCalls(counts={cell: {NATIVE: counts}}, untraced={})
    (own,) = resource_rates(outcomes, {}, traced).values()
    assert own.get(Resource.CALLS) == (None if rate is None else pytest.approx(rate))


@pytest.mark.parametrize(
    ("times_s", "rate"),
    [
        ({"system calls": 1e-7}, 1e7),
        ({"open and close": 1e-6, "compute": 1e-5}, 1e6),
        ({"system calls": 1e-7, "process start": 1e-3}, None),
    ],
)
def test_system_calls_of_pieces_are_known_by_their_programs(
    times_s: Mapping[str, float], rate: float | None
) -> None:
    samples = tuple(
        Sample(name=name, value=value, unit="s", direction=Direction.LESS, round=turn)
        for name, value in times_s.items()
        for turn in range(3)
    )
    own = rates(trials(samples=samples)).get(Resource.CALLS)
    assert own == (None if rate is None else pytest.approx(rate))
