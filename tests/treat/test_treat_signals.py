# SPDX-License-Identifier: Apache-2.0
"""Signals stand beside both natives of their block, or not at all; what is missing is never 0."""

from dataclasses import replace

import pytest
from tests.attribution_example import BACKGROUND, Plant, planted_outcomes

from tare.records import InstanceRun, Outcome, Scope, Signal, SignalEvidence
from tare.treat import signal_evidence, summaries


def evidence(outcomes: tuple[Outcome, ...]) -> SignalEvidence:
    (value,) = signal_evidence(outcomes, summaries(outcomes, {"work": ("wall_s",)}))
    return value


def of(outcomes: tuple[Outcome, ...], environment: str, block: int, replicate: int = 0) -> Outcome:
    (outcome,) = (
        item
        for item in outcomes
        if (item.trial.environment.name, item.trial.block, item.trial.replicate)
        == (environment, block, replicate)
    )
    return outcome


def test_the_difference_is_the_environments_less_the_mean_of_both_natives() -> None:
    outcomes = planted_outcomes(Plant(blocks=6))
    waits = next(
        signal_summary
        for signal_summary in evidence(outcomes).signals
        if signal_summary.name == "runnable_wait_s"
    )
    values = [
        next(signal.value for signal in outcome.signals if signal.name == "runnable_wait_s")
        for outcome in (of(outcomes, "native", 3), of(outcomes, "native", 3, 1), of(outcomes, "docker", 3))
    ]
    assert waits.blocks[3].difference == pytest.approx(values[2] - (values[0] + values[1]) / 2)


def test_a_signal_that_one_trial_lacks_has_no_value_in_that_block_and_all_others_have() -> None:
    outcomes = planted_outcomes(Plant(blocks=6))
    torn = of(outcomes, "native", 2, 1)
    without = tuple(signal for signal in torn.signals if signal.name != "minor_faults")
    result = evidence(
        tuple(replace(outcome, signals=without) if outcome is torn else outcome for outcome in outcomes)
    )
    blocks = {signal.name: [block.block for block in signal.blocks] for signal in result.signals}
    assert blocks["minor_faults"] == [0, 1, 3, 4, 5]
    assert blocks["runnable_wait_s"] == list(range(6))
    assert set(blocks) == set(BACKGROUND)


def test_the_same_name_of_nodes_and_of_the_host_are_two_signals() -> None:
    outcomes = planted_outcomes(Plant(blocks=6))
    host = Signal(name="runnable_wait_s", unit="s", scope=Scope.HOST, value=7.0)
    result = evidence(tuple(replace(outcome, signals=(*outcome.signals, host)) for outcome in outcomes))
    scopes = [signal.scope for signal in result.signals if signal.name == "runnable_wait_s"]
    assert sorted(scopes) == [Scope.HOST, Scope.NODE]


def test_what_an_environment_counts_in_its_own_network_stands_beside_the_hosts_counts_natively() -> None:
    def told(outcome: Outcome) -> Outcome:
        native = outcome.trial.environment.name == "native"
        scope, value = (Scope.HOST, 1.0) if native else (Scope.NODE, 3.0)
        return replace(outcome, signals=(Signal(name="tcp_timeouts", unit="1", scope=scope, value=value),))

    (signal_summary,) = evidence(tuple(map(told, planted_outcomes(Plant(blocks=6))))).signals
    assert signal_summary.scope is Scope.NODE
    assert signal_summary.blocks[0].difference == 2.0


def test_native_has_no_links_of_its_own_so_nothing_is_dropped_there_and_all_else_that_it_lacks_is_missing() -> (
    None
):
    def told(outcome: Outcome) -> Outcome:
        names = () if outcome.trial.environment.name == "native" else ("queue_drops", "kvm_exits")
        signals = tuple(Signal(name=name, unit="1", scope=Scope.NODE, value=3.0) for name in names)
        return replace(outcome, signals=signals)

    (signal_summary,) = evidence(tuple(map(told, planted_outcomes(Plant(blocks=6))))).signals
    assert (signal_summary.name, signal_summary.blocks[0].native) == ("queue_drops", (0.0, 0.0))


def iterated(run: InstanceRun) -> tuple[InstanceRun, ...]:
    return tuple(replace(run, iteration=number) for number in range(3))


def test_iterations_follow_each_other_and_instances_run_at_once() -> None:
    outcomes = planted_outcomes(Plant(blocks=6, noise=0.0))
    three = tuple(replace(outcome, instances=iterated(outcome.instances[0])) for outcome in outcomes)
    two = tuple(
        replace(outcome, instances=(outcome.instances[0], replace(outcome.instances[0], instance=1)))
        for outcome in outcomes
    )
    assert evidence(three).blocks[0].environment.wall_s == pytest.approx(6.0)
    assert evidence(two).blocks[0].environment.wall_s == pytest.approx(2.0)


@pytest.mark.parametrize(("cpu_s", "threads"), [(None, 4.0), (8.0, 4.0), (1.0, 1.0), (4.0, 3.0)])
def test_runnable_threads_are_those_that_ran_or_waited_and_at_most_the_processors(
    cpu_s: float | None, threads: float
) -> None:
    wait = Signal(
        name="throttled_s", unit="s", scope=Scope.NODE, value=2.0 if cpu_s == 4.0 else 0.0, lost_time=True
    )
    outcomes = planted_outcomes(Plant(blocks=6, noise=0.0, threads=4, signals={}))
    result = evidence(tuple(replace(outcome, cpu_s=cpu_s, signals=(wait,)) for outcome in outcomes))
    assert result.blocks[0].environment.runnable_threads == pytest.approx(threads)


def test_what_is_missing_is_told_with_its_reason_and_the_place_in_the_block_is_kept() -> None:
    outcomes = planted_outcomes(Plant(blocks=6, missing={"steal_s": "no guest"}))
    result = evidence(outcomes)
    assert result.missing == (("steal_s", "no guest"),)
    natives = [of(outcomes, "native", 0, replicate).trial.slot for replicate in (0, 1)]
    assert result.blocks[0].lateness == of(outcomes, "docker", 0).trial.slot - sum(natives) / 2


def test_what_two_metrics_of_the_same_trials_have_in_common_is_laid_out_once() -> None:
    outcomes = planted_outcomes(Plant(blocks=6))
    (summary,) = summaries(outcomes, {"work": ("wall_s",)})
    other = replace(summary, metric="time_s", log_ratios=tuple(2 * value for value in summary.log_ratios))
    first, second = signal_evidence(outcomes, (summary, other))
    assert second.signals is first.signals
    assert second == replace(first, metric="time_s", log_ratios=other.log_ratios)
    shorter = replace(summary, blocks=summary.blocks[1:], log_ratios=summary.log_ratios[1:])
    _, third = signal_evidence(outcomes, (summary, shorter))
    assert [block.block for block in third.blocks] == [1, 2, 3, 4, 5]
    assert third.log_ratios == summary.log_ratios[1:]
