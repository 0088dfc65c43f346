# SPDX-License-Identifier: Apache-2.0
"""How often the program failed: for programs, a terminal and the page."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from tare.drawing.artist import Artist
from tare.foreign import one_line
from tare.records import Analysis, FailureRate
from tare.report.arrange import place
from tare.report.page import MISSING, PageSection, section
from tare.report.shape import CellShape, JsonShape, Number, key

TITLE = "Runs that failed"
EXPLANATION = (
    "A run fails if the program ends with another exit code than 0, is ended by a signal or its time limit, or its "
    "check refuses the result. Times are those of the other runs. The intervals hold for 95 %, each by itself, and "
    "take the runs for independent of each other."
)


class FailureRateShape(JsonShape):
    """One object for each arm, native included, of a cell in which a run failed."""

    cell: CellShape = key("what ran")
    environment: str = key("its name in the campaign")
    runs: int = key("how many runs there were")
    failed: int = key("how many of them failed")
    low: Number = key("lower end of the rate's 95 % interval, as a fraction")
    high: Number = key("upper end")
    chance: Number = key(
        "probability of rates that differ as much by chance, by Fisher's exact test, adjusted by Holm for all "
        "environments; `null` for native"
    )
    claim: str = key("the same in words")


class FailuresJson(JsonShape):
    failures: list[FailureRateShape] = key("how often the program failed; empty if it never did")


def table(analysis: Analysis, console: Console, *, show_all: bool) -> None:  # noqa: ARG001 - as every topic's
    """Print a line for each arm."""
    if not analysis.failures:
        return
    console.print(Text(f"\n{TITLE}", style="bold"))
    console.print(Text(EXPLANATION))
    for rate in analysis.failures:
        console.print(Text(f"{one_line(rate.environment)} ({place(rate.cell)}): {rate.claim}"))


def html(analysis: Analysis, artist: Artist) -> Sequence[PageSection]:  # noqa: ARG001 - as every topic's
    if not analysis.failures:
        return [MISSING]
    rates: Sequence[FailureRate] = analysis.failures
    return [section("failing", "Failures", title=TITLE, explanation=EXPLANATION, rates=rates)]
