# SPDX-License-Identifier: Apache-2.0
"""``--as VIEW`` of ``tare show`` and ``tare report``: a paper's tables and figures beside a result."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tare.errors import InputError, OutputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tare.analyze.view_evidence import ViewEvidence
    from tare.records import Analysis
    from tare.records.published import Paper, View
    from tare.report.published import ShownView

LIST = "list"
"""In the place of a view: all of them."""
_WRITTEN = (".html", ".svg", ".pdf")


def shown_views(analysis: "Analysis", name: str) -> "list[ShownView]":
    """The view of this name beside the result, or all of them; ``InputError`` for an unknown one."""
    from tare.papers import paper, papers, view

    if name == LIST:
        return [each for known in papers() for each in views_of(analysis, known)]
    chosen = view(name)
    return _shown(analysis, paper(chosen.paper), [chosen])


def own_views(analysis: "Analysis") -> "list[ShownView]":
    """The views of the paper whose preset the result is from; empty for any other campaign."""
    from tare.papers import PAPERS, paper

    return views_of(analysis, paper(analysis.campaign)) if analysis.campaign in PAPERS else []


def views_of(analysis: "Analysis", paper: "Paper") -> "list[ShownView]":
    """All views of a paper beside the result."""
    return _shown(analysis, paper, paper.views)


def print_views(analysis: "Analysis", name: str, *, as_json: bool) -> None:
    """Print the view, or with ``list`` all that there are."""
    from tare.commands.console import PlainConsole
    from tare.report import published

    shown = shown_views(analysis, name)
    if as_json:
        print(json.dumps(published.json(shown, analysis.integrity), indent=2, allow_nan=False))
    elif name == LIST:
        published.list_of(shown, PlainConsole())
    else:
        published.table(shown[0], PlainConsole())


def write_view(analysis: "Analysis", name: str, path: Path) -> None:
    """Write the view as HTML, SVG or PDF, by the ending of ``path``; ``InputError`` for another."""
    from tare.report.document import write_page
    from tare.report.published_page import render_view

    if path.suffix not in _WRITTEN:
        raise InputError(f"--output {path}: a view's file ends with {', '.join(_WRITTEN)}")
    (shown,) = shown_views(analysis, name)
    if path.suffix == ".html":
        write_page(render_view(analysis, shown), path)
        return
    try:
        path.write_bytes(_picture(analysis, shown, path.suffix))
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error


def _picture(analysis: "Analysis", shown: "ShownView", ending: str) -> bytes:
    from tare.drawing.svg import can_draw, to_pdf
    from tare.report.figures import view_figure

    if not can_draw():
        raise InputError(f"{ending[1:]} takes the extra \"pictures\": pip install 'tare[pictures]'")
    drawn = view_figure(analysis, shown)
    if drawn is None:
        raise InputError(
            f"{shown.view.identity} has nothing to draw here; `{shown.view.command}` measures it"
        )
    return to_pdf(drawn) if ending == ".pdf" else drawn.encode()


def _shown(analysis: "Analysis", paper: "Paper", views: "Sequence[View]") -> "list[ShownView]":
    from tare.analyze.view_evidence import ViewEvidence
    from tare.plan.matrix import preset_matrix

    evidence = ViewEvidence(analysis, preset_matrix(paper.identity))
    return [_one(view, paper, evidence) for view in views]


def _one(view: "View", paper: "Paper", evidence: "ViewEvidence") -> "ShownView":
    from tare.analyze.published import agreement, ticks, treated
    from tare.records.published import ClaimKind
    from tare.report.published import ShownView

    return ShownView(
        view=view,
        paper=paper.short,
        agreements=tuple(agreement(claim, evidence) for claim in view.claims),
        ticks=tuple(ticks(claim, evidence) for claim in view.claims if claim.kind is ClaimKind.BEST),
        treated=() if paper.treatment is None else treated(view, evidence, paper.treatment),
    )
