# SPDX-License-Identifier: Apache-2.0
"""The list of ``tare reproduce``: each published claim with its fate, for a terminal, as Markdown, and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.words import counted, interval_percent, point_percent
from tare.foreign import one_line
from tare.records import Estimate
from tare.records.published import Agreement, AgreementWord, Quantity
from tare.records.reproduced import ClaimFate, ListedClaim, ListedPaper
from tare.report.shape import EstimateShape, JsonShape, Versioned, key, printed

_STYLE = {
    ClaimFate.REPRODUCED: "green",
    ClaimFate.CONTRADICTED: "red",
    ClaimFate.UNDECIDED: "yellow",
    ClaimFate.NOT_YET: "dim",
    ClaimFate.IMPOSSIBLE: "dim",
}
_OF = {Quantity.RATE: "rate", Quantity.TIME: "time", Quantity.VARIATION: "variation"}
_MOST_PARTS = 3


class _Notes:
    """The reasons of a paper's list, each once, with the numbers by which its lines name them."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def after(self, claim: ListedClaim) -> str:
        """What follows the fate: our figures, and the number of why and what would be needed."""
        shown = "; ".join(filter(None, (_figures(claim.agreement), _at_this_size(claim.agreement))))
        reasons = [one_line(claim.why)] if claim.why else []
        if claim.needs:
            reasons.append(f"needed: {'; '.join(map(one_line, claim.needs))}")
        text = "; ".join(reasons)
        number = f" ({self._numbers.setdefault(text, len(self._numbers) + 1)})" if text else ""
        return f"{number}{f': {shown}' if shown else ''}"

    def lines(self) -> Iterator[str]:
        """Such as "(1) xen-pv: the program 'xl' is not on this host; needed: ..."."""
        return (f"({number}) {text}." for text, number in self._numbers.items())


def tally(claims: Sequence[ListedClaim]) -> str:
    """Such as "2 reproduced, 1 undecided"."""
    return ", ".join(f"{count} {fate}" for fate, count in counts(claims).items()) or "no claim"


def table(papers: Sequence[ListedPaper], console: Console) -> None:
    """Print each paper with its claims, and the sum of all."""
    for listed in papers:
        console.print(Text(f"\n{listed.paper.short}: {tally(listed.claims)}", style="bold"))
        for words in (listed.measured, *_errors(listed)):
            if words:
                console.print(Text(words))
        notes = _Notes()
        grid = Table("figure", "claim", "here", box=None, pad_edge=False, header_style="bold")
        for claim in listed.claims:
            here = Text(str(claim.fate), style=_STYLE[claim.fate])
            grid.add_row(
                claim.view.identity, Text(claim.agreement.claim.text), here + Text(notes.after(claim))
            )
        console.print(grid)
        for note in notes.lines():
            console.print(Text(note))
    if len(papers) > 1:
        console.print(
            Text(f"\nAll: {tally([claim for own in papers for claim in own.claims])}", style="bold")
        )


def markdown(papers: Sequence[ListedPaper]) -> str:
    """The list as docs/papers.md holds it."""
    lines = []
    for listed in papers:
        lines += [f"### {listed.paper.short}", "", f"{tally(listed.claims)}.", ""]
        lines += [one_line(words) for words in (listed.measured, *_errors(listed)) if words]
        notes = _Notes()
        lines += ["", "| figure | the paper says | here |", "|---|---|---|"]
        lines += [
            f"| {claim.view.identity} ({_cell(claim.agreement.claim.where)}) | {_cell(claim.agreement.claim.text)} "
            f"| **{claim.fate}**{_cell(notes.after(claim))} |"
            for claim in listed.claims
        ]
        lines += ["", *(line for note in notes.lines() for line in (note, "")), *_points(listed)]
    return "\n".join(lines).rstrip("\n") + "\n"


class OwnFigureShape(JsonShape):
    """A figure of ours that a claim is judged by."""

    what: str = key("environment, metric and place in words")
    ours: EstimateShape | None = key("the change, as a fraction; `null`: not measured")


class ListedClaimShape(JsonShape):
    """A published claim with its fate."""

    view: str = key("the table or figure, such as `b16:fig20`", "view.identity")
    where: str = key("page or section of the paper", "agreement.claim.where")
    claim: str = key("what the paper says, in Tare's words", "agreement.claim.text")
    fate: ClaimFate = key("whether it holds here, or why nobody knows")
    why: str = key("why it is undecided, or was not measured; empty otherwise")
    needs: list[str] = key("what would be needed; empty but for `not possible here` and `not measured yet`")
    scaled: AgreementWord | None = key(
        "what it would be if the points not as asked did not matter; `null` without any", "agreement.here"
    )
    figures: list[OwnFigureShape] = key("our figures", "agreement.parts")


class ListedPaperShape(JsonShape):
    """A paper with all its claims."""

    paper: str = key("the name of its preset", "paper.identity")
    title: str = key("authors, year and title", "paper.title")
    result: str = key("the result's folder")
    error: str | None = key("why nothing could be run now; `null`: it ran, or nothing was to run")
    counts: dict[ClaimFate, int] = key(
        "fate \N{RIGHTWARDS ARROW} how many claims have it", lambda own: counts(own.claims)
    )
    not_as_asked: list[str] = key(
        "what was measured otherwise than the paper had it, or not at all", "points"
    )
    claims: list[ListedClaimShape] = key("every claim, in the order of the pages")


@dataclass(frozen=True)
class _Listed:
    papers: tuple[ListedPaper, ...]


class PrintedReproduction(Versioned):
    """What `tare reproduce --json` prints."""

    papers: list[ListedPaperShape] = key("one for each paper that was asked for")


def json(papers: Sequence[ListedPaper]) -> dict[str, Any]:
    """What ``json.dumps`` takes."""
    return printed(PrintedReproduction, _Listed(tuple(papers)))


def counts(claims: Sequence[ListedClaim]) -> dict[ClaimFate, int]:
    """How many claims have each fate that there is."""
    fates = [claim.fate for claim in claims]
    return {fate: fates.count(fate) for fate in ClaimFate if fate in fates}


def _errors(listed: ListedPaper) -> Iterator[str]:
    if listed.error is not None:
        yield f"Nothing was run now: {listed.error}"


def _figures(agreed: Agreement) -> str:
    """Our figures, with intervals; a few of many."""
    of = _OF[agreed.claim.quantity]
    known = [part for part in agreed.parts if part.ours is not None]
    figures = [
        f"{part.environment} {_figure(part.ours)}" for part in known[:_MOST_PARTS] if part.ours is not None
    ]
    more = [f"and {len(known) - _MOST_PARTS} more"] if len(known) > _MOST_PARTS else []
    return f"{of}: {', '.join((*figures, *more))}" if figures else ""


def _figure(ours: Estimate) -> str:
    interval = "no interval" if ours.low is None else interval_percent(ours)
    return f"{point_percent(ours)} ({interval}, n = {ours.n})"


def _at_this_size(agreed: Agreement) -> str:
    if agreed.here is None or agreed.word is not AgreementWord.NOT_MEASURED:
        return ""
    return f"as measured here {agreed.here}"


def _points(listed: ListedPaper) -> Iterator[str]:
    if listed.points:
        yield f"{counted(len(listed.points), 'point')} not as in the paper:"
        yield ""
        yield from (f"- {one_line(sentence)}" for sentence in listed.points)
        yield ""


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")
