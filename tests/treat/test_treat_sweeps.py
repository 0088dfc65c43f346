# SPDX-License-Identifier: Apache-2.0
"""The levels of a factor as one curve."""

from dataclasses import replace

import pytest
from tests.report.report_example import example
from tests.run_example import instance_run

from tare.records import Dimension, Level, Outcome, Sample, Status
from tare.treat import curves, failure_counts, summaries, swept

PRIMARY = {"work": ("wall_s",)}


def workload(name: str, value: float, *, factor: float) -> list[Outcome]:
    """The outcomes of an example, as those at one level of n."""
    level = Level(key="n", text=name, number=value)
    return [
        replace(
            outcome,
            trial=replace(
                outcome.trial, workload=replace(outcome.trial.workload, name="work"), levels=(level,)
            ),
            samples=tuple(scaled(sample, factor) for sample in outcome.samples[:1]),
        )
        for outcome in example(environments=("docker",), losing=False).outcomes
    ]


def scaled(sample: Sample, factor: float) -> Sample:
    return replace(sample, name="wall_s", value=sample.value * factor)


def test_each_value_is_a_point_of_one_curve_and_compared_within_its_block() -> None:
    outcomes = [*workload("large", 20.0, factor=2), *workload("small", 10.0, factor=1)]
    native, docker = curves(swept(outcomes, PRIMARY))
    assert (native.cell.workload, native.dimensions) == ("work", (Dimension("n", None),))
    assert [point.at[0] for point in docker.points] == [10.0, 20.0]
    small, large = docker.points
    assert small.log_ratios == pytest.approx(large.log_ratios)
    assert native.points[1].values == pytest.approx([2 * value for value in native.points[0].values])


def test_a_lost_trial_leaves_out_its_own_point_alone() -> None:
    outcomes = [*workload("large", 20.0, factor=2), *workload("small", 10.0, factor=1)]
    block = outcomes[0].trial.block
    outcomes = [
        replace(each, status=Status.FAILED, samples=())
        if each.trial.levels[0].text == "large" and each.trial.block == block
        else each
        for each in outcomes
    ]
    _, docker = curves(swept(outcomes, PRIMARY))
    small, large = docker.points
    assert len(small.blocks) == len(large.blocks) + 1


def test_the_cells_of_a_factor_stand_by_rising_levels_not_by_their_names() -> None:
    outcomes = [
        replace(each, trial=replace(each.trial, identity=f"{each.trial.identity}{each.trial.levels[0]}"))
        for each in (*workload("100", 100.0, factor=2), *workload("20", 20.0, factor=1))
    ]
    layouts = dict.fromkeys(summary.cell.layout for summary in summaries(outcomes, PRIMARY))
    assert [layout.partition("[")[2] for layout in layouts] == ["n=20]", "n=100]"]


def test_trials_without_levels_make_no_curve() -> None:
    assert swept(example().outcomes, {"work": ("wall_s",)}) == ()


def test_a_run_fails_if_one_of_its_instances_does_and_an_invalid_trial_does_not_count() -> None:
    first, run = example().outcomes[0], instance_run()
    failing = replace(
        first,
        instances=(
            replace(run, iteration=0),
            replace(run, iteration=0, instance=1, exit_code=3),
            replace(run, iteration=1),
            replace(run, iteration=2, refused="wrong result"),
        ),
    )
    (count,) = failure_counts([failing])
    assert (count.runs, count.failed) == (3, 2)
    assert failure_counts([replace(failing, status=Status.INVALID)]) == ()
