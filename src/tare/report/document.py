# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML file: answer, pictures, all figures, and where they come from."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from tare.analyze.load_said import short_said
from tare.analyze.qualification import word_said
from tare.drawing.artist import Artist
from tare.errors import HostError
from tare.records import Analysis, Status
from tare.report import arrange, cells, losses, page, provenance, trust
from tare.report.bounds import bounded, left_out_said
from tare.report.emulation import emulated, restored
from tare.report.hosts import uneven_paths_said
from tare.report.integrity import integrity_said
from tare.report.published import ShownView
from tare.report.published_page import views_html
from tare.report.reasons import reasons
from tare.report.stacked import stackable
from tare.report.stops import decisions_said, stops_said
from tare.report.topics import HOST_ORDER, PAGE_ORDER
from tare.report.weaker import HEADING, weaker


def write_report(analysis: Analysis, path: Path, views: Sequence[ShownView] = ()) -> None:
    """Write the report to ``path``, replacing a file there only once it is whole; ``views``: of the paper's preset.

    Raises ``HostError`` when the folder is missing or the file cannot be written.
    """
    write_page(render_report(analysis, views=views), path)


def write_page(text: str, path: Path) -> None:
    """As ``write_report``, for a page that is made already."""
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(text)
        _put(temporary, path)
    except OSError as error:
        raise HostError(
            f"{path}: the report cannot be written: {error.strerror or error}; choose another place with --output"
        ) from error


def _put(temporary: Path, path: Path) -> None:
    try:
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def render_report(
    analysis: Analysis, artist_of: Callable[..., Artist] = Artist, views: Sequence[ShownView] = ()
) -> str:
    """Give the HTML text; everything that came from a campaign, a host or a program is escaped in it.

    ``artist_of`` makes who draws the pictures.
    """
    left_out, analysis = left_out_said(analysis), bounded(analysis)
    artist = artist_of(arrange.environments(analysis), analysis.margin, arrange.CONTROL)
    text = page.rendered(
        "report",
        analysis=analysis,
        answers=arrange.answers(analysis),
        open_claims=arrange.open_claims(analysis),
        controls=arrange.primary_controls(analysis),
        unlike_natives=arrange.unlike_natives(analysis),
        cells=cells.cell_sections(artist, analysis),
        counts=Counter(outcome.status for outcome in analysis.outcomes),
        evidence=provenance.evidence(analysis),
        headline=cells.headline(artist, analysis),
        sections=[
            *views_html(views, artist),
            *(section for topic in PAGE_ORDER for section in topic.html(analysis, artist)),
            losses.html(analysis, left_out),
        ],
        host_sections=[section for topic in HOST_ORDER for section in topic.html(analysis, artist)],
        reasons=reasons(analysis),
        host=provenance.host_facts(analysis),
        asked=provenance.campaign_facts(analysis),
        ran=provenance.session_facts(analysis),
        looks=artist.looks,
        damage=[
            said[0].upper() + said[1:] if not place else said
            for place, said in enumerate(integrity_said(analysis.integrity))
        ],
        warnings=losses.warnings_said(analysis),
        stops=stops_said(analysis),
        decisions=decisions_said(analysis),
        weaker=weaker(analysis.outcomes),
        weaker_heading=HEADING,
        emulated=emulated(analysis.outcomes),
        restored=restored(analysis.outcomes),
        uneven_paths=uneven_paths_said(analysis.outcomes),
        Status=Status,
        alone_said=trust.alone_said,
        word_said=word_said,
        load_said=short_said,
        tail_said=trust.tail_said,
        control_said=arrange.control_said,
        control_word=arrange.control_word,
        **cells.CURVE_WORDS,
    )
    return stackable(text)
