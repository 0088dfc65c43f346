# SPDX-License-Identifier: Apache-2.0
"""How many neighbours fit: a line for each number that was tried, the answers, and the JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from tare.drawing.words import interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Capacity, CapacityStep, Ruling
from tare.report.shape import ByName, EstimateShape, JsonShape, Number, Versioned, key, printed

_WORD = {Ruling.EXCEEDED: "too much", Ruling.KEPT: "fits", Ruling.UNDECIDED: "undecided"}


def step_said(step: CapacityStep) -> str:
    """``"3 neighbours: +4.1 %, +2.0 to +6.3 % (n = 10): fits"``."""
    count = "1 neighbour" if step.neighbours == 1 else f"{step.neighbours} neighbours"
    if step.withheld:
        return f"{count}: too busy to tell"
    if step.loss is None:
        return f"{count}: no block is whole: {step.lost}"
    loss = f"{point_percent(step.loss)}, {interval_percent(step.loss)}"
    return f"{count}: {loss} (n = {step.loss.n}): {_WORD[step.ruling]}"


def print_capacities(capacities: Sequence[Capacity], console: Console, *, verbose: bool) -> None:
    """Print each environment's answer, with ``verbose`` after its steps."""
    for capacity in capacities:
        name = one_line(capacity.environment)
        for step in capacity.steps if verbose else ():
            console.print(Text(f"{name}, {step_said(step)}", style="dim"))
        console.print(Text(f"{name}: {capacity.sentence}"), soft_wrap=True)


class CapacityStepShape(JsonShape):
    """One number of neighbours."""

    neighbours: int = key("their number")
    loss: EstimateShape | None = key(
        "more time for the same work than alone, as a fraction, at the level of all tests together; `null`: no block"
    )
    ruling: ByName[Ruling] = key("whether the loss exceeds the limit")
    withheld: bool = key("whether the host was too busy for any decision")
    lost: str = key("why there is no loss; empty if there is one")


class CapacityShape(JsonShape):
    """The answer for one environment."""

    environment: str = key("its name; `native` is one of them")
    limit: Number = key("the tolerated loss, as a fraction")
    most: int = key("the largest number of neighbours that was permitted")
    fits: int = key("the largest number shown to fit; 0: none")
    exceeds: int | None = key("the smallest number shown not to fit; `null`: none")
    sentence: str = key("the answer in words")
    steps: list[CapacityStepShape] = key("the numbers that were tried, rising")


@dataclass(frozen=True)
class _Answered:
    capacities: tuple[Capacity, ...]


class PrintedCapacity(Versioned):
    """What `tare capacity --json` prints."""

    capacities: list[CapacityShape] = key("one for each environment, native first")


def to_json(capacities: Sequence[Capacity]) -> dict[str, Any]:
    """The answers as one object."""
    return printed(PrintedCapacity, _Answered(tuple(capacities)))
