# SPDX-License-Identifier: Apache-2.0
"""Two programs are said to agree only where the whole interval of their rounds lies within what was claimed."""

import random
from pathlib import Path

import pytest
from bench.beside import memory
from bench.beside.pairs import Figures, Pair, Row, Side, line, rows

OUTPUTS = Path(__file__).parent / "outputs" / "hpcc"


def a_pair(ours_s: float, theirs_s: float, noise: float, within: float = 0.03) -> Pair:
    source = random.Random(3)  # noqa: S311 - noise

    def run(time_s: float) -> Figures:
        return {"pass": time_s * (1 + source.uniform(-noise, noise))}

    return Pair(Side("a", "best", lambda: run(ours_s)), Side("b", "median", lambda: run(theirs_s)), within)


def a_row(ours_s: float, theirs_s: float, noise: float, rounds: int = 12) -> Row:
    order = random.Random(1)  # noqa: S311
    (row,) = rows(a_pair(ours_s, theirs_s, noise), rounds, order)
    return row


@pytest.mark.parametrize(
    ("ours_s", "noise", "word"),
    [
        (1.005, 0.001, "shown"),
        (1.005, 0.2, "not shown"),
        (1.1, 0.001, "NOT SO: it differs by more"),
        (0.9, 0.001, "NOT SO: it differs by more"),
    ],
)
def test_agreement_is_shown_by_the_interval_and_not_by_the_estimate(
    ours_s: float, noise: float, word: str
) -> None:
    assert a_row(ours_s, 1.0, noise).word == word


def test_too_few_rounds_show_nothing() -> None:
    assert a_row(1.0, 1.0, 0.001, rounds=3).word == "not shown: too few rounds"


def test_the_first_round_warms_up_and_a_row_names_both_statistics() -> None:
    row = a_row(1.0, 1.0, 0.001)
    assert len(row.ours_s) == len(row.theirs_s) == 12
    assert line(row).startswith("| pass | `a`, best: ")
    assert "| `b`, median: " in line(row)


def test_streams_of_another_size_are_not_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = (OUTPUTS / "one-rank" / "hpccoutf.txt").read_text()
    monkeypatch.setattr(memory, "_stream_sections", lambda _: text)
    with pytest.raises(AssertionError):
        memory.their_figures(tmp_path)


def test_the_better_of_hpccs_two_streams_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = (OUTPUTS / "one-rank" / "hpccoutf.txt").read_text().replace("333333,", "5636181,")
    monkeypatch.setattr(memory, "_stream_sections", lambda _: text)
    time_s = memory.their_figures(tmp_path)["triad over 3 arrays of 43 MiB"]
    assert time_s == pytest.approx(3 * 43 * 2**20 / 29.0306e9)
