# SPDX-License-Identifier: Apache-2.0
"""A paper's tables and figures beside ours as a section of the page, as a page, and as a picture."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tare.drawing.artist import Artist, Figure
from tare.records import Analysis, Replication
from tare.report import arrange, page, published, replication
from tare.report.page import PageSection, section
from tare.report.published import ShownView


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnView:
    """A view with its picture."""

    shown: ShownView
    figure: Figure | None
    treated: dict[str, list[Replication]]
    """Title → the rows of a table of the paper's own treatment."""


def views_html(views: Sequence[ShownView], artist: Artist) -> Iterator[PageSection]:
    """The section of a paper's preset; nothing for any other campaign."""
    if not views:
        return
    filled = [each for each in views if each.can_fill]
    yield section(
        "published",
        "The paper",
        title=f"Beside {views[0].paper}",
        summary=published.few_words(views),
        drawn=[_drawn(each, artist) for each in filled],
        missing=[each for each in views if each.is_lacking],
        **_words(),
    )


def render_view(analysis: Analysis, shown: ShownView) -> str:
    """A page of its own."""
    artist = Artist(arrange.environments(analysis), analysis.margin, arrange.CONTROL)
    return page.rendered(
        "view", view=_drawn(shown, artist), analysis=analysis, looks=artist.looks, **_words()
    )


def _drawn(shown: ShownView, artist: Artist) -> DrawnView:
    return DrawnView(
        shown=shown,
        figure=published.figure_of(shown, artist),
        treated=replication.grouped(shown.treated),
    )


def _words() -> dict[str, Any]:
    return {
        "explanation": published.EXPLANATION,
        "marks": published.MARK,
        "said": published.said,
        "claimed": published.claimed,
        "of_what": published.OF,
        "tick_mark": published.tick_mark,
        "tick_said": published.tick_said,
        "values_of": published.values_of,
        "treatment_note": replication.NOTE,
        "treatment_what": replication.WHAT,
        "treatment_against": replication.AGAINST,
        "published_look": published.PUBLISHED_LOOK,
        "in_words": replication.in_words,
    }
