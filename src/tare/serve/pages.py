# SPDX-License-Identifier: Apache-2.0
"""Each page: what is set into its template. The figures are those of the report, from the same analysis."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup, escape

from tare.analyze import compare_results
from tare.drawing import words
from tare.drawing.artist import Artist
from tare.errors import InputError
from tare.records import NATIVE, Analysis, Status
from tare.report import arrange, equal_arms, host_software, hosts, provenance, signals
from tare.report.across_results import limits_said
from tare.report.machine import to_json
from tare.report.page import templates
from tare.report.stacked import stackable
from tare.serve.book import Book
from tare.serve.chart import ROWS, chart
from tare.serve.choice import EVERY, ViewChoice
from tare.serve.follow import LiveProgress
from tare.serve.heads import MOST_RESULTS, ShelvedResult, begun, head
from tare.serve.panel import HEIGHT_PX, panel, trial_page
from tare.serve.parts import PARTS
from tare.serve.shelf import Shelf
from tare.treat.pairing import cell_of
from tare.units import format_byte

LISTED = 50
"""Results on one page of the list."""
MOST_COMPARED = 6
"""Results beside each other."""
PATIENCE_S = 0.4
"""How long a page waits for a first reading before it says that it takes longer."""
STATIC = {
    "/static/report.css": ("tare.report", "templates/style.css", "text/css"),
    "/static/explorer.css": ("tare.serve", "static/explorer.css", "text/css"),
    "/static/icon.svg": ("tare.serve", "static/icon.svg", "image/svg+xml"),
    "/static/explorer.js": ("tare.serve", "static/explorer.js", "text/javascript"),
}
"""Address → package, file and type: no other file is ever sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An answer."""

    content: bytes
    status: HTTPStatus = HTTPStatus.OK
    kind: str = "text/html; charset=utf-8"
    refresh_s: int | None = None
    """After how long the browser asks again; ``None``: never."""
    refresh_to: str = ""
    """For what; empty: the same."""


def static_file(path: str) -> Page:
    package, name, kind = STATIC[path]
    return Page(content=(files(package) / name).read_bytes(), kind=f"{kind}; charset=utf-8")


def problem(status: HTTPStatus, said: str) -> Page:
    """Say what is wrong, without anything that the browser sent."""
    return _page("problem", status=status, title=status.phrase, said=said)


def entered(target: str) -> Page:
    """Lead on to a page without the token; ``target`` is quoted, as part of an address."""
    page = _page("entered", title="Results", target=target)
    return replace(page, refresh_s=0, refresh_to=target)


def data_page(shelf: Shelf, entry: ShelvedResult) -> Page:
    """What ``tare show --json`` prints of it."""
    book, _ = shelf.book(entry, PATIENCE_S)
    if book is None:
        return replace(_waiting(shelf, entry), status=HTTPStatus.ACCEPTED)
    text = json.dumps(to_json(book.analysis), allow_nan=False)
    return Page(content=text.encode(), kind="application/json")


def list_page(shelf: Shelf, choice: ViewChoice) -> Page:
    """Only the results on the page are looked into."""
    entries = sorted(shelf.entries(), key=begun, reverse=True)
    pages = max(1, math.ceil(len(entries) / LISTED))
    page = min(choice.page, pages)
    return _page(
        "list",
        title="Results",
        heads=[head(entry) for entry in entries[(page - 1) * LISTED : page * LISTED]],
        count=len(entries),
        page=page,
        pages=pages,
        choice=choice,
        places=[str(place) for place in shelf.places],
        most=MOST_RESULTS,
        moment=words.moment,
        size=format_byte,
    )


def result_page(shelf: Shelf, entry: ShelvedResult, choice: ViewChoice, *, anew: bool) -> Page:
    """The answer, the filters, the chart, the samples behind a chosen point, and where its parts are to be had."""
    book, is_reading = shelf.first(entry, PATIENCE_S, anew=anew)
    if book is None:
        return _waiting(shelf, entry)
    live = book.kept or shelf.follower(entry).progress()
    drawn = chart(book, choice)
    return _page(
        "result",
        **_about(entry, book, "overheads"),
        choice=choice,
        live=live,
        is_reading=is_reading,
        newer=max(0, live.measured - book.trials_read),
        answers=book.answers,
        reasons=book.reasons,
        warnings=book.warnings,
        filters=filters(book, choice),
        chart=drawn,
        rows_most=ROWS,
        panel=panel(book, choice) if choice.point else None,
        picture_px=HEIGHT_PX,
        samples=book.samples,
        trials=book.trials_read,
        parts=book.parts.present,
        left=book.parts.left(choice),
        lost=book.lost,
    )


def part_page(shelf: Shelf, entry: ShelvedResult, name: str, choice: ViewChoice) -> Page:
    """A part of a result, drawn: a page of its own, from which the result's page takes what it shows."""
    book, _ = shelf.first(entry, PATIENCE_S)
    if book is None:
        return _waiting(shelf, entry)
    part = PARTS[name]
    if part not in book.parts.present:
        return problem(HTTPStatus.NOT_FOUND, "This result has no such part.")
    return _page(
        "part",
        **_about(entry, book, ""),
        choice=choice,
        part=part,
        drawn=book.parts.drawn(part, choice),
        left_out=book.parts.left_out if name == "curves" else 0,
    )


def host_page(shelf: Shelf, entry: ShelvedResult) -> Page:
    """What the host is, what each arm ran under, and what was asked for."""
    book, _ = shelf.book(entry, PATIENCE_S)
    if book is None:
        return _waiting(shelf, entry)
    analysis = book.analysis
    artist = Artist(arrange.environments(analysis), analysis.margin, arrange.CONTROL)
    topics = (hosts, host_software, equal_arms, signals)
    return _page(
        "host",
        **_about(entry, book, "host"),
        host=provenance.host_facts(analysis),
        asked=provenance.campaign_facts(analysis),
        ran=provenance.session_facts(analysis),
        evidence=provenance.evidence(analysis),
        sections=[_named(section.text) for topic in topics for section in topic.html(analysis, artist)],
    )


def one_trial_page(shelf: Shelf, entry: ShelvedResult, choice: ViewChoice) -> Page:
    """A trial with all of its samples, page by page."""
    book, _ = shelf.book(entry, PATIENCE_S)
    if book is None:
        return _waiting(shelf, entry)
    shown = trial_page(book, choice)
    if shown is None:
        return problem(HTTPStatus.NOT_FOUND, "This result has no such trial.")
    return _page("trial", **_about(entry, book, ""), choice=choice, shown=shown, cell_of=cell_of)


def compare_page(shelf: Shelf, identities: Sequence[str], *, oldest_first: bool) -> Page:
    """Results against the first of them, or the oldest, and the facts of their hosts side by side."""
    unique = list(dict.fromkeys(identities))
    entries = [entry for identity in unique if (entry := shelf.entry(identity))]
    if len(entries) < 2 or len(entries) < len(unique) or len(entries) > MOST_COMPARED:  # noqa: PLR2004 - two sides
        return problem(
            HTTPStatus.BAD_REQUEST, f"Choose two to {MOST_COMPARED} results of the list to compare."
        )
    read: list[tuple[ShelvedResult, Analysis]] = []
    for entry in entries:
        book, _ = shelf.book(entry, PATIENCE_S)
        if book is None:
            return _waiting(shelf, entry)
        read.append((entry, book.analysis))
    if oldest_first:
        read.sort(key=lambda each: each[1].sessions[0].started_utc)
    entries, analyses = [entry for entry, _ in read], [analysis for _, analysis in read]
    _refuse_shared(analyses)
    comparison = compare_results(analyses)
    return _page(
        "compare",
        title="Results compared",
        entries=entries,
        names=_names(entries),
        first=partial(_beginning_with, entries),
        comparison=comparison,
        limits=tuple(limits_said(comparison)),
        differences=[(each.label, each.values, True) for each in comparison.differences],
        hosts=host_rows(analyses),
        native=NATIVE,
    )


def host_rows(analyses: Sequence[Analysis]) -> list[tuple[str, list[str | None], bool]]:
    """Each fact of the hosts: its label, its value in each result, and whether they differ."""
    facts = [
        {fact.label: " / ".join(fact.values) for fact in provenance.host_facts(each)} for each in analyses
    ]
    labels = dict.fromkeys(label for own in facts for label in own)
    rows = [(label, [own.get(label) for own in facts]) for label in labels]
    return [(label, values, len(set(values)) > 1) for label, values in rows]


def progress_data(live: LiveProgress, shown: int) -> dict[str, Any]:
    """What an event of a running campaign says; ``shown``: trials in what was read."""
    return {
        "state": live.state,
        "said": live.said,
        "last": live.last,
        "measured": live.measured,
        "planned": live.planned,
        "newer": max(0, live.measured - shown),
    }


def filters(book: Book, choice: ViewChoice) -> list[tuple[str, str, list[tuple[str, str]], str]]:
    """Each filter's name, label, values with their words, and chosen value."""
    summaries = [verdict.overhead.summary for verdict in book.analysis.verdicts]
    places = [*((summary.environment, summary.cell) for summary in summaries), *book.parts.places]
    every = [("", "all")]
    metrics = dict.fromkeys(summary.metric for summary in summaries)
    return [
        (
            "environment",
            "Environment",
            every + _same(name for name, _ in places if name != NATIVE),
            choice.environment,
        ),
        ("workload", "Workload", every + _same(cell.workload for _, cell in places), choice.workload),
        ("layout", "Layout", every + _same(cell.layout for _, cell in places if cell.layout), choice.layout),
        (
            "metric",
            "Metric",
            [("", "primary ones"), (EVERY, "all"), *((name, name) for name in metrics)],
            choice.metric,
        ),
    ]


def _same(values: Any) -> list[tuple[str, str]]:
    return [(value, value) for value in dict.fromkeys(values)]


def _names(entries: Sequence[ShelvedResult]) -> list[str]:
    """Of the results' folders; the whole paths where two have one name."""
    short = [entry.path.name for entry in entries]
    return short if len(set(short)) == len(short) else [str(entry.path) for entry in entries]


def _beginning_with(entries: Sequence[ShelvedResult], first: ShelvedResult) -> str:
    """The address of the same comparison with another reference."""
    order = [first, *(entry for entry in entries if entry is not first)]
    return f"/compare?{urlencode([('r', entry.identity) for entry in order])}"


def _named(section: Markup) -> Markup:
    """Give the column of the settings' names, which has none on the report, a heading."""
    return section.replace(Markup('<th scope="col"></th>'), Markup('<th scope="col">setting</th>'))


def _about(entry: ShelvedResult, book: Book, tab: str) -> dict[str, Any]:
    """What stands at the top of each page of a result."""
    analysis = book.analysis
    return {
        "title": f"{analysis.campaign}: {entry.path.name}",
        "entry": entry,
        "analysis": analysis,
        "tab": tab,
        "failed": book.counts[Status.FAILED],
        "invalid": book.counts[Status.INVALID],
        "started": [words.moment(session.started_utc) for session in analysis.sessions],
    }


def _waiting(shelf: Shelf, entry: ShelvedResult) -> Page:
    """What is known of a result before it is read: campaign, host, and how far the trials are."""
    return _page(
        "wait",
        refresh_s=1,
        title=f"Reading {entry.path.name}",
        entry=entry,
        head=head(entry),
        live=shelf.follower(entry).known,
        moment=words.moment,
        size=format_byte,
    )


def _refuse_shared(analyses: Sequence[Analysis]) -> None:
    """``InputError`` for results that hold the same session: they are not independent."""
    owners = Counter(
        identity for each in analyses for identity in {session.identity for session in each.sessions}
    )
    if any(count > 1 for count in owners.values()):
        raise InputError("two of these results hold the same measurements; leave one of them out")


def _page(
    template: str, *, status: HTTPStatus = HTTPStatus.OK, refresh_s: int | None = None, **values: Any
) -> Page:
    environment = templates("tare.serve")
    text = environment.get_template(f"{template}.html.j2").render(
        {"attribute": _attribute, "address": _address, **values}
    )
    return Page(content=stackable(text).encode(), status=status, refresh_s=refresh_s)


def _attribute(value: object) -> Markup:
    """A value for an attribute, as it is: it comes back with the next request. What cannot be seen is a reference."""
    text = str(escape(value))
    return Markup("".join(each if each.isprintable() else f"&#{ord(each)};" for each in text))  # noqa: S704 - escaped


def _address(path: str, **parameters: str | int) -> Markup:
    return escape(f"{path}?{urlencode(parameters)}" if parameters else path)
