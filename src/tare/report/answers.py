# SPDX-License-Identifier: Apache-2.0
"""The answer: a sentence for each environment, and one table of environments by primary metrics."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.analyze.differences import in_times, own_change, signed_range
from tare.analyze.qualification import typically
from tare.drawing.table import add_name_column, name_cell, name_width, ruled_table
from tare.drawing.words import MARK, NO_VALUE, STYLE
from tare.foreign import one_line
from tare.records import Analysis, Overhead, Verdict, Word
from tare.report import arrange
from tare.report.arrange import MetricSection
from tare.report.shape import ByName, JsonShape, key
from tare.units import DASH, percent_ends, times_ends

_HEADING_WIDTH = 14
_BETWEEN = 3
"""Columns that a column of a table takes beside what is in it."""
_LEAST_ROOM = 24
_NOISE = f"{arrange.CONTROL}, up to"
_KEYS = {
    Word.WITHIN: "\N{PLUS-MINUS SIGN}: within this much of native",
    Word.BOUNDED: "\N{LESS-THAN OR EQUAL TO}: costs at most this much",
    Word.UNDECIDED: "?: undecided",
}
_BUSY = "busy"

_Column = tuple[str, MetricSection]


class AnswerPartShape(JsonShape):
    """A part of an answer: a statement on one or several metrics."""

    word: ByName[Word] | None = key("as in a verdict; `null` without a result")
    metrics: list[str] = key("named as in `text`")
    text: str = key("the part in words")


class AnswerShape(JsonShape):
    """One object for each environment and layout with a verdict on a primary metric."""

    environment: str = key("its name in the campaign")
    layout: str = key("the layout")
    sentence: str = key("the answer in words")
    parts: list[AnswerPartShape] = key(
        "its parts in order: losses first, then metrics that are like native, then the rest"
    )


class AnswersJson(JsonShape):
    answers: list[AnswerShape] = key("the verdict on each environment over all primary metrics")


def print_answers(analysis: Analysis, console: Console) -> None:
    """Print the sentences, each with the mark of what it says first."""
    sentences = Table.grid(padding=(0, 1))
    sentences.add_column(width=1)
    sentences.add_column(overflow="fold")
    for answer in arrange.answers(analysis):
        line = Text(f"{answer.subject}: ")
        for number, (word, text) in enumerate(answer.parts):
            line.append("; " if number else "").append(text, style=STYLE[word] if word else "")
        sentences.add_row(Text(MARK[answer.word], style=STYLE[answer.word]) if answer.word else "", line)
    console.print(sentences)


def print_answer_table(analysis: Analysis, console: Console) -> None:
    """Print a table for each layout with several primary metrics, in pieces where the terminal is narrow.

    Of a single primary metric its own table says the same.
    """
    columns = arrange.primaries(analysis)
    layouts = dict.fromkeys(metric.cell.layout for _, metric in columns)
    for layout in layouts:
        own = [(name, metric) for name, metric in columns if metric.cell.layout == layout]
        if len(own) > 1:
            _print_layout(own, layout if len(layouts) > 1 else "", console)


def _print_layout(columns: Sequence[_Column], layout: str, console: Console) -> None:
    verdicts = [verdict for _, metric in columns for verdict in metric.verdicts]
    names = list(dict.fromkeys(verdict.overhead.summary.environment for verdict in verdicts))
    width = name_width([*names, _NOISE], console.width - _LEAST_ROOM - _BETWEEN)
    for piece in _pieces(columns, console.width - width - _BETWEEN):
        console.print()
        console.print(_table(piece, names, width, one_line(layout) or "environment"))
    if said := "; ".join(_keys(verdicts)):
        console.print(Text(said, style="dim"))


def _pieces(columns: Iterable[_Column], room: int) -> Iterator[list[_Column]]:
    piece: list[_Column] = []
    left = room
    for column in columns:
        needed = _width(column) + _BETWEEN
        if piece and needed > left:
            yield piece
            piece, left = [], room
        piece.append(column)
        left -= needed
    if piece:
        yield piece


def _width(column: _Column) -> int:
    name, metric = column
    cells = [cell_said(verdict) for verdict in metric.verdicts] + [noise_said(metric.control)]
    return max(map(cell_len, (*_heading(name), *cells)))


def _heading(name: str) -> list[str]:
    return textwrap.wrap(name, _HEADING_WIDTH)


def _table(columns: Sequence[_Column], names: Sequence[str], width: int, title: str) -> Table:
    table = ruled_table()
    add_name_column(table, title, width)
    for name, _ in columns:
        table.add_column(Text("\n".join(_heading(name))), justify="right", no_wrap=True)
    for name in names:
        table.add_row(name_cell(name, width), *(_cell(metric, name) for _, metric in columns))
    noise = (noise_said(metric.control) for _, metric in columns)
    table.add_row(name_cell(_NOISE, width), *noise, style="dim")
    return table


def _cell(metric: MetricSection, environment: str) -> Text:
    own = [verdict for verdict in metric.verdicts if verdict.overhead.summary.environment == environment]
    return Text(cell_said(own[0]), style=STYLE[own[0].word]) if own else Text(NO_VALUE)


def cell_said(verdict: Verdict) -> str:
    """The verdict as short as it goes: an interval, a margin, a bound, or that there is none."""
    if verdict.withheld:
        return _BUSY
    if verdict.word is Word.WITHIN:
        return f"\N{PLUS-MINUS SIGN}{100 * (verdict.within or verdict.margin):g} %"
    if verdict.word is Word.BOUNDED:
        return f"\N{LESS-THAN OR EQUAL TO} {verdict.bound_percent} %"
    return "?" if verdict.word is Word.UNDECIDED else _difference(verdict)


def _difference(verdict: Verdict) -> str:
    """The change of the metric that heads the column, with signs, as multiples where the sentences have them."""
    direction = verdict.overhead.summary.direction
    change = own_change(verdict.shown, direction)
    low, high = change.low or 0.0, change.high or 0.0
    if in_times(change, direction):
        return f"\N{MULTIPLICATION SIGN}{DASH.join(times_ends(low, high))}"
    return signed_range(low, high)


def noise_said(control: Overhead | None) -> str:
    """How far native against native may lie from 0."""
    if control is None or control.typical.low is None or control.typical.high is None:
        return NO_VALUE
    furthest = max(abs(control.typical.low), abs(control.typical.high))
    return f"\N{PLUS-MINUS SIGN}{percent_ends(0.0, furthest)[1]} %"


def _keys(verdicts: Sequence[Verdict]) -> Iterator[str]:
    words = {verdict.word for verdict in verdicts if not verdict.withheld}
    yield from (said for word, said in _KEYS.items() if word in words)
    if any(map(typically, verdicts)):
        yield "where a sentence says typically, the mean may lie elsewhere"
    if any(verdict.withheld for verdict in verdicts):
        yield f"{_BUSY}: too busy to tell"
