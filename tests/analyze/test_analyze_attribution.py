# SPDX-License-Identifier: Apache-2.0
"""What is planted is ranked first; what a longer run collects anyway is not named, and nothing is without a loss."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from tests.attribution_example import BACKGROUND, Kind, Plant, Run, attributed, per_second, seconds

from tare.analyze.attribution.known import may_cause
from tare.records import Attributed, Ground, Scope


def about(mean: float) -> Callable[[np.random.Generator], float]:
    return lambda random: mean * random.lognormal(0, 0.1)


def fully(run: Run) -> float:
    """All of what was planted."""
    return run.lost_s


def beside(background: Kind) -> Kind:
    """All of what was planted, and what is there anyway."""
    return Kind(
        drawn=lambda run: run.lost_s + background.drawn(run),
        unit=background.unit,
        lost_time=background.lost_time,
    )


WAITING = {name: beside(BACKGROUND[name]) for name in ("runnable_wait_s", "psi_cpu_some_s")}
MORE_SWITCHES = Kind(drawn=lambda run: float(run.random.poisson(200 * run.wall_s + 400 * run.lost_s)))
CAUSES: Mapping[str, tuple[float, Mapping[str, Kind]]] = {
    "throttled_s": (0.5, {"throttled_s": seconds(fully), **WAITING, "involuntary_switches": MORE_SWITCHES}),
    "runnable_wait_s": (0.5, {**WAITING, "involuntary_switches": MORE_SWITCHES}),
    "tcp_timeouts": (
        0.1,
        {
            "tcp_timeouts": Kind(drawn=lambda run: round(run.lost_s / 0.2)),
            "tcp_retransmissions": Kind(drawn=lambda run: round(run.lost_s / 0.2) + run.random.poisson(0.2)),
        },
    ),
    "pages_reclaimed": (
        0.3,
        {
            "pages_reclaimed": Kind(drawn=lambda run: float(run.random.poisson(20_000 * run.lost_s))),
            "major_faults": Kind(drawn=lambda run: float(run.random.poisson(0.2 + 2000 * run.lost_s))),
            "psi_io_some_s": seconds(lambda run: 0.9 * run.lost_s),
        },
    ),
    "queue_drops": (
        0.3,
        {
            "queue_drops": Kind(drawn=lambda run: float(run.random.poisson(60 * run.lost_s))),
            "tcp_retransmissions": Kind(drawn=lambda run: float(run.random.poisson(0.2 + 60 * run.lost_s))),
        },
    ),
}


def plant_of(cause: str, blocks: int = 10) -> Plant:
    mean, signals = CAUSES[cause]
    slowdown = (lambda _: mean) if cause == "tcp_timeouts" else about(mean)
    return Plant(slowdown=slowdown, signals={**BACKGROUND, **signals}, blocks=blocks)


@pytest.mark.slow
@pytest.mark.parametrize("cause", CAUSES)
def test_a_planted_cause_is_ranked_first_in_9_of_10_campaigns(cause: str) -> None:
    attributions = [attributed(plant_of(cause), seed) for seed in range(30)]
    first = [
        attribution.candidates[0].signal if attribution.candidates else None for attribution in attributions
    ]
    assert first.count(cause) >= 27


@pytest.mark.slow
def test_native_under_another_name_gets_no_candidate_in_19_of_20_campaigns() -> None:
    named = [bool(attributed(Plant(), seed).candidates) for seed in range(100)]
    assert sum(named) <= 5


@pytest.mark.slow
def test_a_loss_that_no_signal_goes_with_is_unexplained_and_not_blamed_on_what_a_longer_run_collects() -> (
    None
):
    attributions = [attributed(Plant(slowdown=about(0.5)), seed) for seed in range(100)]
    assert all(attribution.established for attribution in attributions)
    assert sum(bool(attribution.candidates) for attribution in attributions) <= 5
    silent = next(attribution for attribution in attributions if not attribution.candidates)
    assert silent.standing is Attributed.UNEXPLAINED
    assert "unexplained: none of" in silent.sentence


def test_the_share_of_the_time_lost_is_the_planted_one_and_the_rest_is_unexplained() -> None:
    signals = {**BACKGROUND, "throttled_s": seconds(lambda run: 0.7 * run.lost_s)}
    attribution = attributed(Plant(slowdown=about(0.5), signals=signals, noise=0.001))
    first = attribution.candidates[0]
    assert first.share is not None
    assert first.share.point == pytest.approx(0.7, abs=0.02)
    assert attribution.unexplained is not None
    assert attribution.unexplained.point == pytest.approx(0.3, abs=0.02)
    assert Ground.TIME in first.grounds
    assert "candidate: held back by a CPU quota (70 % of the time lost" in attribution.sentence


def test_seconds_summed_over_threads_are_divided_by_the_threads_that_ran() -> None:
    signals = {**BACKGROUND, "throttled_s": seconds(lambda run: 4 * run.lost_s)}
    attribution = attributed(Plant(slowdown=about(0.5), signals=signals, threads=4, noise=0.001))
    share = attribution.candidates[0].share
    assert share is not None
    assert share.point == pytest.approx(1.0, abs=0.02)


def test_overlapping_signals_are_taken_off_the_unexplained_rest_once() -> None:
    attribution = attributed(plant_of("throttled_s"))
    assert {"throttled_s", "runnable_wait_s", "psi_cpu_some_s"} <= {
        clue.signal for clue in attribution.candidates
    }
    assert attribution.unexplained is not None
    assert abs(attribution.unexplained.point) < 0.1
    after = {clue.signal: clue.after for clue in attribution.candidates}
    assert after["throttled_s"] is None
    assert after["runnable_wait_s"] == "throttled_s"


def test_what_is_counted_on_the_whole_host_comes_after_the_same_in_the_nodes() -> None:
    nodes, cause = plant_of("throttled_s"), "throttled_s"
    host = Kind(drawn=fully, unit="s", scope=Scope.HOST)
    outcomes = Plant(slowdown=nodes.slowdown, signals={**nodes.signals, "psi_io_full_s": host})
    attribution = attributed(outcomes)
    assert attribution.candidates[0].signal == cause
    (beside_it,) = (clue for clue in attribution.candidates if clue.scope is Scope.HOST)
    assert beside_it.title.endswith("(on the whole host)")


def test_events_that_cannot_have_cost_the_loss_are_no_candidates() -> None:
    few = Kind(drawn=lambda run: 3000.0 + (50.0 if not run.is_native else 0.0))
    attribution = attributed(Plant(slowdown=about(0.5), signals={**BACKGROUND, "minor_faults": few}))
    assert "minor_faults" not in {clue.signal for clue in attribution.candidates}


def test_rare_events_that_explain_spikes_are_found_by_their_covariation() -> None:
    def spiky(random: np.random.Generator) -> float:
        return 0.02 + 0.4 * float(random.random() < 0.4)

    stalls = Kind(drawn=lambda run: float(run.lost_s > 0.2), unit="1")
    plant = Plant(slowdown=spiky, signals={**BACKGROUND, "stalls": stalls}, blocks=30, noise=0.003)
    attributions = [attributed(plant, seed) for seed in range(10)]
    grounds = [
        clue.grounds
        for attribution in attributions
        for clue in attribution.candidates
        if clue.signal == "stalls"
    ]
    assert sum(Ground.SPREAD in each for each in grounds) >= 9


def test_fewer_than_ten_blocks_give_no_correlation_and_fewer_than_six_no_candidate() -> None:
    nine, five = attributed(plant_of("throttled_s", 9)), attributed(plant_of("throttled_s", 5))
    assert nine.candidates
    assert all(clue.correlation is None for clue in nine.clues)
    assert five.candidates == ()


def test_energy_follows_from_a_run_and_is_never_a_candidate() -> None:
    hot = Kind(drawn=lambda run: 40 * run.wall_s + 100 * run.lost_s, unit="J")
    attribution = attributed(Plant(slowdown=about(0.5), signals={**BACKGROUND, "energy_j": hot}))
    assert "energy_j" not in {clue.signal for clue in attribution.candidates}


def test_a_lower_frequency_is_a_candidate_and_a_higher_one_is_not() -> None:
    def clocked(factor: float) -> list[str]:
        slow = Kind(
            drawn=lambda run: 3e9 * (1.0 if run.is_native else factor) * run.random.lognormal(0, 0.005),
            unit="Hz",
        )
        plant = Plant(slowdown=about(0.3), signals={**BACKGROUND, "frequency_hz": slow})
        return [clue.signal for clue in attributed(plant).candidates]

    assert "frequency_hz" in clocked(0.75)
    assert "frequency_hz" not in clocked(1.3)


def test_without_signals_the_loss_is_unexplained_and_what_is_missing_is_said() -> None:
    plant = Plant(slowdown=about(0.5), signals={}, missing={"steal_s": "no guest"})
    attribution = attributed(plant)
    assert attribution.standing is Attributed.UNEXPLAINED
    assert "no signal was recorded" in attribution.sentence
    assert attribution.missing == (("steal_s", "no guest"),)


def test_an_environment_that_is_not_slower_has_nothing_to_explain() -> None:
    attribution = attributed(Plant(signals={**BACKGROUND, "throttled_s": per_second(3)}), margin=0.05)
    assert attribution.standing is None
    assert "nothing to explain" in attribution.sentence


@pytest.mark.parametrize("name", ["system_call_cost_s", "clock_read_cost_s"])
def test_a_price_of_single_calls_is_evidence_and_never_a_candidate(name: str) -> None:
    dearer = Kind(drawn=lambda run: 1e-7 if run.is_native else run.lost_s, unit="s")
    attribution = attributed(Plant(slowdown=about(0.3), signals={**BACKGROUND, name: dearer}))
    (clue,) = (clue for clue in attribution.clues if clue.signal == name)
    assert clue.chance <= 0.05
    assert clue.grounds == ()
    assert name not in {candidate.signal for candidate in attribution.candidates}
    assert not may_cause(name, "s")


def test_memory_of_another_numa_node_that_native_has_not_is_a_candidate() -> None:
    remote = Kind(drawn=lambda run: 0.0 if run.is_native else 1e9 * run.lost_s, unit="byte")
    attribution = attributed(Plant(slowdown=about(0.3), signals={**BACKGROUND, "remote_memory_byte": remote}))
    assert attribution.candidates[0].signal == "remote_memory_byte"
