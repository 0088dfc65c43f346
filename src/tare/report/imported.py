# SPDX-License-Identifier: Apache-2.0
"""Measurements of other tools: what each arm has, how it differs from the first, what they lack; and the JSON."""

from typing import Any

from rich.console import Console
from rich.text import Text

from tare.drawing.words import quantity, quantity_interval
from tare.foreign import one_line
from tare.records import (
    ChangeWord,
    Direction,
    ImportedComparison,
    ImportedDifference,
    ImportedFigure,
    Lack,
)
from tare.report.across_results import (
    FactDifferenceShape,
    IncomparableShape,
    print_fact_differences,
    print_incomparable,
)
from tare.report.imported_sentence import difference_said, what
from tare.report.shape import ByName, EstimateShape, JsonShape, Number, Versioned, in_unit, key, printed

_MOST_LINES = 10
_RANK = {ChangeWord.LARGER: 0, ChangeWord.SMALLER: 0, ChangeWord.UNDECIDED: 1, ChangeWord.ALIKE: 2}
_STYLE = {ChangeWord.LARGER: "red", ChangeWord.SMALLER: "green", ChangeWord.ALIKE: "green"}
LACKS = {
    Lack.ORDER: "turns in random order: a change of the machine between two arms counts as a difference",
    Lack.CONTROL: "a control: how far the same thing differs from itself is not known",
    Lack.HOST: "proof that host, limits and program were the same",
}
"""What is missing, in words."""


def print_imported(comparison: ImportedComparison, console: Console, *, verbose: bool) -> None:
    """Print the differences, what differs, what is not compared, and what the data lack.

    ``verbose`` adds all figures.
    """
    for arm in comparison.arms[1:]:
        own = [each for each in comparison.differences if each.arm == arm]
        _print_differences(own, console, verbose=verbose)
        if not own:
            console.print(
                Text(f"{one_line(arm)} against {one_line(comparison.arms[0])}: nothing can be compared")
            )
    if verbose:
        _print_figures(comparison, console)
    if comparison.unlike:
        print_fact_differences(comparison.unlike, console)
    print_incomparable(comparison.incomparable, console, verbose=verbose)
    _print_left_out(comparison.left_out, console)
    _print_lacks(comparison, console)


def _print_differences(differences: list[ImportedDifference], console: Console, *, verbose: bool) -> None:
    ranked = sorted(differences, key=lambda each: (_RANK[each.word], each.p_value))
    for each in ranked if verbose else ranked[:_MOST_LINES]:
        console.print(Text(difference_said(each), style=_STYLE.get(each.word, "")))
    if not verbose and len(ranked) > _MOST_LINES:
        console.print(Text(f"{len(ranked) - _MOST_LINES} more with --verbose"))


def _print_figures(comparison: ImportedComparison, console: Console) -> None:
    for arm in comparison.arms:
        console.print(Text(one_line(arm), style="bold"))
        for each in comparison.figures:
            if each.series.arm == arm:
                console.print(Text(f"- {_figure(each)}"))


def _figure(figure: ImportedFigure) -> str:
    """Such as "wall_s of sum/1000: 453.2 ns, interval 437-467 ns (n = 8)"."""
    series, value, unit = figure.series, figure.value, one_line(figure.series.unit, 40)
    interval = "no interval" if value.low is None else f"interval {quantity_interval(value, unit)}"
    name = what(series.subject, series.metric)
    return f"{name}: {quantity(value.point, unit)}, {interval} (n = {value.n})"


def _print_left_out(left_out: tuple[str, ...], console: Console) -> None:
    for each in left_out[:_MOST_LINES]:
        console.print(Text(f"Left out: {one_line(each)}"))
    if len(left_out) > _MOST_LINES:
        console.print(Text(f"Left out: {len(left_out) - _MOST_LINES} more"))


def _print_lacks(comparison: ImportedComparison, console: Console) -> None:
    tools = ", ".join(dict.fromkeys(source.kind for source in comparison.sources))
    console.print(Text(f"Measured by {tools}, not by Tare. It lacks:"))
    for lack in comparison.lacks:
        console.print(Text(f"- {LACKS[lack]}"))


class ImportedSourceShape(JsonShape):
    """A file, or a folder of files."""

    name: str = key("as on the command line, else from its path")
    path: str = key("where it is")
    tool: str = key("what wrote it", "kind")
    facts: dict[str, str] = key("what it says of itself, such as its host")


class ImportedFigureShape(JsonShape):
    """All values of one metric of one subject in one arm."""

    arm: str = key("where it ran", "series.arm")
    subject: str = key("what ran; empty where each arm has one thing", "series.subject")
    metric: str = key("what was measured", "series.metric")
    unit: str = key("its unit", "series.unit")
    direction: ByName[Direction] = key("whether less or more is better", "series.direction")
    centre: EstimateShape = key(
        "the centre of the values, in `unit`", lambda of: in_unit(of.value, of.series.unit)
    )
    rounding: Number = key(
        "largest relative error that printing with few digits causes; the interval has room for it",
        "series.rounding",
    )
    values: list[Number] = key("the values, in their order", "series.values")


class ImportedDifferenceShape(JsonShape):
    """One arm against the reference."""

    reference: str = key("the first arm")
    arm: str = key("the other arm")
    subject: str = key("what ran")
    metric: str = key("what was measured")
    unit: str = key("its unit")
    direction: ByName[Direction] = key("whether less or more is better")
    before: EstimateShape = key("the reference, in `unit`", lambda of: in_unit(of.before, of.unit))
    after: EstimateShape = key("the arm, in `unit`", lambda of: in_unit(of.after, of.unit))
    change: EstimateShape = key("time for the same work in the arm over the reference, minus 1; unpaired")
    word: ByName[ChangeWord] = key("what may be said together with all claims; larger: more time")
    alone: ByName[ChangeWord] = key("what could be said if it were the only claim")
    p_value: Number = key("of no difference, adjusted; 1 where it is above the permitted error")
    claims: int = key("number of claims")
    margin: Number = key("the fraction that counts as no difference")
    sentence: str = key("the same in words", difference_said)


class PrintedImports(Versioned):
    """The object that `tare compare` and `tare show` print with `--json` for files of other tools."""

    sources: list[ImportedSourceShape] = key("what was read")
    arms: list[str] = key("the arms, the reference first")
    figures: list[ImportedFigureShape] = key("one object for each arm, subject and metric")
    differences: list[ImportedDifferenceShape] = key("each arm against the reference; empty with one arm")
    unlike: list[FactDifferenceShape] = key(
        "what the sources say differently of themselves; `what ran` has a value for each arm"
    )
    incomparable: list[IncomparableShape] = key("what cannot be compared, and why")
    left_out: list[str] = key("what does not count, and why")
    lacks: list[Lack] = key("what a result of Tare has, and these data have not")


def imported_json(comparison: ImportedComparison) -> dict[str, Any]:
    """Give what ``json.dumps`` takes; a missing or not finite number is ``None``, never 0."""
    return printed(PrintedImports, comparison)
