# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from tare.analyze import variance_splits
from tare.records import BlockStarts, Cell, Levels, Start, VarianceSplit

CELL = Cell(workload="work", layout="1c1p1i")


def planted(
    generator: np.random.Generator,
    *,
    blocks: int = 30,
    iterations: int = 5,
    block_sd: float = 0.03,
    start_sd: float = 0.02,
    iteration_sd: float = 0.01,
) -> Levels:
    """Native starts vary by a quarter of the environment's, so that the two cannot be mistaken."""

    def start(block: int, shared: float, deviation: float) -> Start:
        own = shared + generator.normal(0, deviation)
        return Start(block=block, log_times=tuple(own + generator.normal(0, iteration_sd, iterations)))

    rows = []
    for block in range(blocks):
        shared = generator.normal(0, block_sd)
        native = (start(block, shared, start_sd / 4), start(block, shared, start_sd / 4))
        rows.append(BlockStarts(native=native, environment=start(block, shared, start_sd)))
    return Levels(
        cell=CELL,
        environment="docker",
        metric="wall_s",
        blocks=tuple(rows),
        start_cost_s=30.0,
        iteration_cost_s=10.0,
    )


def splits(count: int, **how: object) -> list[VarianceSplit]:
    generator = np.random.default_rng(13)
    return list(variance_splits([planted(generator, **how) for _ in range(count)]))  # type: ignore[arg-type]


def test_each_level_gets_back_what_was_planted_in_it() -> None:
    result = splits(200)
    assert np.mean([each.between_blocks.point for each in result]) == pytest.approx(0.03**2, rel=0.1)
    assert np.mean([each.between_starts.point for each in result]) == pytest.approx(0.02**2, rel=0.1)
    inner = [each.between_iterations.point for each in result if each.between_iterations]
    assert np.mean(inner) == pytest.approx(0.01**2, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "truth"), [("between_blocks", 0.03), ("between_starts", 0.02), ("between_iterations", 0.01)]
)
def test_the_intervals_hold_about_what_they_promise(name: str, truth: float) -> None:
    getattrs = [getattr(each, name) for each in splits(400)]
    covered = np.mean([each.low <= truth**2 <= each.high for each in getattrs])
    assert 0.92 <= covered <= 0.99


def test_single_runs_leave_starts_and_iterations_together() -> None:
    result = splits(200, iterations=1)
    assert {each.between_iterations for each in result} == {None}
    assert np.mean([each.between_starts.point for each in result]) == pytest.approx(
        0.02**2 + 0.01**2, rel=0.15
    )
    assert {each.best_iterations for each in result} == {None}


def test_fewer_than_six_blocks_are_not_split() -> None:
    assert splits(1, blocks=5) == []


def test_pooled_iterations_count_as_starts_nowhere() -> None:
    few, many = splits(1, iterations=2)[0], splits(1, iterations=50)[0]
    assert few.between_starts.n == many.between_starts.n == 30
