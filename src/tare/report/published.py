# SPDX-License-Identifier: Apache-2.0
"""A paper's table or figure beside what a result shows of it: for programs, a terminal, the page and a picture."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.artist import Artist, Figure, Specification
from tare.drawing.axis import Axis
from tare.drawing.interval_chart import Frame, Section, interval_chart, interval_row
from tare.drawing.marks import CONTROL, PAPER, MarkStyle
from tare.drawing.table import add_name_column, name_cell, ruled_table
from tare.drawing.words import NO_VALUE, counted, interval_percent, point_percent
from tare.foreign import one_line
from tare.records import NATIVE, SCHEMA, Estimate, Integrity, Replication
from tare.records.published import (
    Agreement,
    AgreementWord,
    ClaimKind,
    Part,
    PublishedClaim,
    Quantity,
    Tick,
    TickColumn,
    View,
)
from tare.report.published_shapes import PrintedViews
from tare.report.shape import printed
from tare.units import signed

MARK = {
    AgreementWord.REPRODUCED: "\N{BLACK CIRCLE}",
    AgreementWord.CONTRADICTED: "\N{MULTIPLICATION SIGN}",
    AgreementWord.UNDECIDED: "\N{WHITE CIRCLE}",
    AgreementWord.NOT_MEASURED: "\N{EM DASH}",
}
STYLE = {
    AgreementWord.REPRODUCED: "green",
    AgreementWord.CONTRADICTED: "red",
    AgreementWord.UNDECIDED: "yellow",
    AgreementWord.NOT_MEASURED: "dim",
}
EXPLANATION = (
    "A claim is reproduced if our intervals lie inside what it states, and contradicted if one lies outside. A number "
    "that the paper prints stands for half to twice of it, and alike for a difference below 5 %. Each claim is judged "
    "by itself at 95 %."
)
OF = {
    Quantity.RATE: "change of the rate",
    Quantity.TIME: "change of the time",
    Quantity.VARIATION: "coefficient of variation",
}
PUBLISHED_LOOK = MarkStyle("diamond", "var(--ink)")
_PUBLISHED = "published"
_NAME_WIDTH = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownView:
    """A view with all that is shown of it."""

    view: View
    paper: str
    """Such as ``B16, stage 2``."""
    agreements: tuple[Agreement, ...]
    ticks: tuple[TickColumn, ...]
    """One column for each claim about the best environments."""
    treated: tuple[Replication, ...]
    """The paper's own treatment of our runs; empty where it names none."""

    @property
    def title(self) -> str:
        return f"{self.paper}, {self.view.name} ({self.view.where}): {self.view.shows}"

    @property
    def can_fill(self) -> bool:
        """Whether anything of it was measured."""
        return any(part.ours for each in self.agreements for part in each.parts)

    @property
    def is_lacking(self) -> bool:
        """Whether it can be filled and is not: what has no claims has words alone."""
        return bool(self.view.claims) and not self.can_fill


def said(agreement: Agreement) -> str:
    """The word, with what it would be for the point that was measured, where that differs."""
    if agreement.here is None or agreement.word is not AgreementWord.NOT_MEASURED:
        return str(agreement.word)
    return f"not the paper's own point (here {agreement.here})"


def tally(agreements: Iterable[Agreement]) -> str:
    """Such as "2 reproduced, 1 undecided; as measured here 1 reproduced"."""
    own, here = list[AgreementWord](), list[AgreementWord]()
    for each in agreements:
        scaled = each.word is AgreementWord.NOT_MEASURED and each.here is not None
        (here if scaled else own).append(each.here if scaled and each.here else each.word)
    words = [_counted(own), f"as measured here {_counted(here)}" if here else ""]
    return "; ".join(filter(None, words)) or "no claim"


def _counted(words: Sequence[AgreementWord]) -> str:
    counts = [(word, words.count(word)) for word in AgreementWord]
    return ", ".join(f"{count} {word}" for word, count in counts if count)


def claimed(claim: PublishedClaim) -> str:
    """The bounds of a claim in words, such as ``-10 to -2.5 %``."""
    if claim.kind is ClaimKind.BEST:
        return "better than the others"
    low, high = (None if end is None else signed(f"{100 * end:.3g}") for end in (claim.low, claim.high))
    size = "by " if claim.either_sign else ""
    if low is None or high is None:
        return f"{size}above {low} %" if high is None else f"{size}below {high} %"
    return f"{size}{low} to {high} %"


def table(shown: ShownView, console: Console) -> None:
    """Print the view: each claim with its word, and our figures beside the published one."""
    console.print(Text(shown.title, style="bold"))
    if shown.view.note:
        console.print(Text(shown.view.note))
    console.print(Text(EXPLANATION, style="dim"))
    for each in shown.agreements:
        _print_claim(each, console)
    for column in shown.ticks:
        console.print(_ticks_table(column))
    if shown.view.values:
        console.print(_values_table(shown.view))
    if shown.is_lacking:
        console.print(
            Text(
                f"\nThis result has nothing of it; `{shown.view.command}` measures what a host can of it",
                style="bold",
            )
        )


def _print_claim(each: Agreement, console: Console) -> None:
    head = Text(f"\n{MARK[each.word]} {said(each)}", style=STYLE[each.word])
    console.print(head + Text(f": {each.claim.text} ({each.claim.where})", style="default"))
    console.print(Text(f"  {OF[each.claim.quantity]}, claimed: {claimed(each.claim)}", style="dim"))
    if any(part.ours for part in each.parts):
        console.print(_parts_table(each, console.width))
    if each.reason:
        console.print(Text(f"  {one_line(each.reason)}"))


def _parts_table(each: Agreement, console_width: int) -> Table:
    measured = [part for part in each.parts if part.ours]
    width = min(max(len(part.what) for part in measured), max(_NAME_WIDTH, console_width - 46))
    made = ruled_table()
    add_name_column(made, "ours", width)
    for title in ("typical", "interval", "n"):
        made.add_column(title, justify="right", no_wrap=True)
    made.add_column("", no_wrap=True)
    for part, ours in ((part, part.ours) for part in measured):
        if ours:
            figures = (point_percent(ours), interval_percent(ours), str(ours.n))
            made.add_row(name_cell(part.what, width), *figures, MARK[part.here or part.word])
    return made


def _ticks_table(column: TickColumn) -> Table:
    made = ruled_table(f"\n{column.text}")
    add_name_column(made, "among the best", _NAME_WIDTH)
    made.add_column(_PUBLISHED, justify="center")
    made.add_column("ours", justify="center")
    made.add_column("")
    for tick in column.ticks:
        made.add_row(tick.role, tick_mark(tick.published), tick_mark(tick.ours), one_line(tick_said(tick)))
    return made


def tick_mark(value: bool | None) -> str:
    """A tick, nothing, or that it is not known."""
    return {True: "\N{CHECK MARK}", False: "", None: NO_VALUE}[value]


def tick_said(tick: Tick) -> str:
    """Why it has no tick, and how it differs from the paper's."""
    beaten = f"{', '.join(tick.beaten_by)} shown to be better" if tick.beaten_by else ""
    return "; ".join(filter(None, (beaten, tick.reason)))


def _values_table(view: View) -> Table:
    columns, rows = values_of(view)
    made = ruled_table("as printed")
    add_name_column(made, "", _NAME_WIDTH)
    for column in rows:
        made.add_column(column, justify="right", no_wrap=True)
    for name, cells in columns.items():
        made.add_row(name_cell(name, _NAME_WIDTH), *(cells.get(row, "") for row in rows))
    return made


def values_of(view: View) -> tuple[Mapping[str, Mapping[str, str]], Sequence[str]]:
    """Column of the printed table → row → its values; and the rows: tables are wide, and terminals are not."""
    cells: dict[str, dict[str, str]] = {}
    for value in view.values:
        own = cells.setdefault(value.column, {})
        text = f"{value.value} {value.unit}".strip().replace("tick", tick_mark(True)).replace("none", "")
        own[value.row] = f"{own[value.row]}, {text}" if own.get(value.row) else text
    return cells, list(dict.fromkeys(value.row for value in view.values))


def list_of(shown: Sequence[ShownView], console: Console) -> None:
    """Print the views that the result can fill, and for all others what to run."""
    filled = [each for each in shown if each.can_fill]
    made = ruled_table()
    add_name_column(made, "--as", 14)
    made.add_column("of this result")
    made.add_column("shows")
    for each in filled:
        where = f"{each.paper}, {each.view.where}: {each.view.shows}"
        made.add_row(each.view.identity, tally(each.agreements), where)
    if filled:
        console.print(made)
    for command, names in _missing(shown).items():
        console.print(Text(f"\nNothing of these; `{command}` measures them:", style="bold"))
        console.print(Text(", ".join(names)))


def _missing(shown: Iterable[ShownView]) -> Mapping[str, Sequence[str]]:
    """Command → the views that it measures."""
    names: dict[str, list[str]] = {}
    for each in shown:
        if each.is_lacking:
            names.setdefault(each.view.command, []).append(each.view.identity)
    return names


def json(shown: Sequence[ShownView], integrity: Integrity) -> dict[str, Any]:
    """Give the object of ``tare show --as``."""
    record = PrintedViews(schema_version=SCHEMA, views=list(shown), journal=integrity)
    return printed(PrintedViews, record)


def figure_of(shown: ShownView, artist: Artist) -> Figure | None:
    """Published hollow, ours with intervals, over the claimed range; ``None`` where there is nothing to draw."""
    drawn = [each for each in shown.agreements if each.claim.printed or any(part.ours for part in each.parts)]
    if not drawn:
        return None
    return artist.overheads(
        lambda axis, frame: published_chart(drawn, artist.looks, axis, frame),
        list(_extent(drawn)),
        shown.title,
        described(drawn),
        [_label(part, each) for each in drawn for part in each.parts if part.ours],
    )


def _extent(drawn: Iterable[Agreement]) -> Iterator[float]:
    for each in drawn:
        claim = each.claim
        yield from claim.printed or ()
        yield from (end for end in (claim.low, claim.high) if end is not None)
        for ours in (part.ours for part in each.parts if part.ours):
            yield from (value for value in (ours.point, ours.low, ours.high) if value is not None)


def described(drawn: Iterable[Agreement]) -> str:
    """The picture in words."""
    return "; ".join(
        f"{each.claim.text}: claimed {claimed(each.claim)}, ours "
        + (", ".join(f"{part.what} {point_percent(part.ours)}" for part in each.parts if part.ours) or "none")
        for each in drawn
    )


def published_chart(
    drawn: Sequence[Agreement], looks: Mapping[str, MarkStyle], axis: Axis, frame: Frame
) -> Specification:
    """Describe the chart in Vega-Lite: below each claim a hollow mark for the paper, and ours."""
    sections = [
        Section(
            heading=f"{MARK[each.word]} {each.claim.text}",
            rows=[*_published_row(each.claim), *_own_rows(each, looks)],
            band=_band(each.claim, axis),
        )
        for each in drawn
    ]
    return interval_chart(sections, axis, 0.0, frame)


def _published_row(claim: PublishedClaim) -> Iterator[dict[str, Any]]:
    if claim.printed is None:
        return
    low, high = claim.printed
    known = Estimate(point=(low + high) / 2, low=low, high=high, level=1.0, n=0)
    row = interval_row(_PUBLISHED, claim.text, known, "", PUBLISHED_LOOK, decided=False)
    figure = point_percent(known) if low == high else interval_percent(known)
    words = {"figure": figure if low == high else "", "interval": "" if low == high else figure, "count": ""}
    yield {**row, **words, "fill": PAPER, "told": f"{_PUBLISHED}: {claim.text}: {figure}"}


def _own_rows(each: Agreement, looks: Mapping[str, MarkStyle]) -> Iterator[dict[str, Any]]:
    for part in each.parts:
        if part.ours is None:
            continue
        look = CONTROL if part.environment == NATIVE else looks.get(part.environment, CONTROL)
        word = str(part.word) if part.here is None else f"({part.here})"
        row = interval_row(
            _label(part, each), part.what, part.ours, word, look, decided=True, quiet=part.here is not None
        )
        yield {
            **row,
            "interval": row["interval"].removesuffix(" %"),
        }  # two signs and two decimals fill the column


def _label(part: Part, each: Agreement) -> str:
    """The environment, and where it is if the claim speaks of several places."""
    if len(each.claim.places) > 1 and " on " in part.what:
        return f"{part.environment} {part.what.partition(' on ')[2].partition(' against ')[0]}"
    if each.claim.kind is ClaimKind.BEST:
        return f"{part.environment} against {part.what.rpartition(' against ')[2]}"
    return part.environment


def _band(claim: PublishedClaim, axis: Axis) -> tuple[float, float] | None:
    if claim.low is None and claim.high is None:
        return None
    low = axis.low if claim.low is None else max(claim.low, axis.low)
    high = axis.high if claim.high is None else min(claim.high, axis.high)
    return (low, high) if low < high else None


def few_words(shown: Sequence[ShownView]) -> str:
    """What the section says above its views."""
    filled = [each for each in shown if each.can_fill]
    return (
        f"{counted(len(filled), 'table or figure', 'tables and figures')} of {shown[0].paper} "
        f"({len(shown)} in all): {tally(each for view in filled for each in view.agreements)}"
    )
