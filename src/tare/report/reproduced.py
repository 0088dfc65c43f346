# SPDX-License-Identifier: Apache-2.0
"""The list of ``tare reproduce``: each published claim with its fate, for a terminal, as Markdown, and for programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tare.drawing.words import counted, interval_percent, point_percent
from tare.foreign import one_line
from tare.records import SCHEMA, Agreement, AgreementWord, Fate, ListedClaim, ListedPaper, Quantity

_STYLE = {
    Fate.REPRODUCED: "green",
    Fate.CONTRADICTED: "red",
    Fate.UNDECIDED: "yellow",
    Fate.NOT_YET: "dim",
    Fate.IMPOSSIBLE: "dim",
}
_OF = {Quantity.RATE: "rate", Quantity.TIME: "time", Quantity.VARIATION: "variation"}
_MOST_PARTS = 3


def tally(claims: Sequence[ListedClaim]) -> str:
    """Such as "2 reproduced, 1 undecided"."""
    fates = [claim.fate for claim in claims]
    return ", ".join(f"{fates.count(fate)} {fate}" for fate in Fate if fate in fates) or "no claim"


def table(papers: Sequence[ListedPaper], console: Console) -> None:
    """Print each paper with its claims, and the sum of all."""
    for listed in papers:
        console.print(Text(f"\n{listed.paper.short}: {tally(listed.claims)}", style="bold"))
        for words in (listed.measured, *_errors(listed)):
            if words:
                console.print(Text(words))
        grid = Table("figure", "claim", "here", box=None, pad_edge=False, header_style="bold")
        for claim in listed.claims:
            here = Text(str(claim.fate), style=_STYLE[claim.fate])
            grid.add_row(claim.view.identity, Text(claim.agreement.claim.text), here + Text(_after(claim)))
        console.print(grid)
    if len(papers) > 1:
        console.print(
            Text(f"\nAll: {tally([claim for own in papers for claim in own.claims])}", style="bold")
        )


def markdown(papers: Sequence[ListedPaper]) -> str:
    """The list as docs/papers.md holds it."""
    lines = []
    for listed in papers:
        lines += [f"### {listed.paper.short}", "", f"{tally(listed.claims)}.", ""]
        lines += [f"{words}" for words in (listed.measured, *_errors(listed)) if words]
        lines += ["", "| figure | the paper says | here |", "|---|---|---|"]
        lines += [
            f"| {claim.view.identity} ({_cell(claim.agreement.claim.where)}) | {_cell(claim.agreement.claim.text)} "
            f"| **{claim.fate}**{_cell(_after(claim))} |"
            for claim in listed.claims
        ]
        lines += ["", *_points(listed)]
    return "\n".join(lines).rstrip("\n") + "\n"


def json(papers: Sequence[ListedPaper]) -> dict[str, Any]:
    """What ``json.dumps`` takes."""
    return {
        "schema": SCHEMA,
        "papers": [
            {
                "paper": listed.paper.identity,
                "title": listed.paper.title,
                "result": listed.result,
                "error": listed.error,
                "counts": {str(fate): sum(own.fate is fate for own in listed.claims) for fate in Fate},
                "not_as_asked": list(listed.points),
                "claims": [_claim_json(claim) for claim in listed.claims],
            }
            for listed in papers
        ],
    }


def _claim_json(claim: ListedClaim) -> dict[str, Any]:
    return {
        "view": claim.view.identity,
        "where": claim.agreement.claim.where,
        "claim": claim.agreement.claim.text,
        "fate": str(claim.fate),
        "why": claim.why,
        "needs": list(claim.needs),
        "scaled": None if claim.agreement.here is None else str(claim.agreement.here),
        "ours": [
            {
                "what": part.what,
                "point": part.ours.point,
                "low": part.ours.low,
                "high": part.ours.high,
                "n": part.ours.n,
            }
            for part in claim.agreement.parts
            if part.ours is not None
        ],
    }


def _errors(listed: ListedPaper) -> Iterator[str]:
    if listed.error is not None:
        yield f"Nothing was run now: {listed.error}"


def _after(claim: ListedClaim) -> str:
    """What follows the word: our figures, why, and what would be needed."""
    said = [_figures(claim.agreement), _at_this_size(claim.agreement), one_line(claim.why)]
    if claim.needs:
        said.append(f"needed: {'; '.join(map(one_line, claim.needs))}")
    words = "; ".join(filter(None, said))
    return f": {words}" if words else ""


def _figures(agreed: Agreement) -> str:
    """Our figures, with intervals; a few of many."""
    of = _OF[agreed.claim.quantity]
    known = [part for part in agreed.parts if part.ours is not None]
    figures = [
        f"{part.environment} {point_percent(part.ours)} ({interval_percent(part.ours)}, n = {part.ours.n})"
        for part in known[:_MOST_PARTS]
        if part.ours is not None
    ]
    more = [f"and {len(known) - _MOST_PARTS} more"] if len(known) > _MOST_PARTS else []
    return f"{of}: {', '.join((*figures, *more))}" if figures else ""


def _at_this_size(agreed: Agreement) -> str:
    if agreed.here is None or agreed.word is not AgreementWord.NOT_MEASURED:
        return ""
    return f"at this host's size {agreed.here}"


def _points(listed: ListedPaper) -> Iterator[str]:
    if listed.points:
        yield f"{counted(len(listed.points), 'point')} not as in the paper:"
        yield ""
        yield from (f"- {one_line(sentence)}" for sentence in listed.points)
        yield ""


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")
