# SPDX-License-Identifier: Apache-2.0
"""What the list says of a result: only the first lines of its journal are read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

from tare.errors import TareError
from tare.journal.one_file import OneFile
from tare.journal.result import CAMPAIGN_FILE, EXPLANATIONS, ResultFolder, journal_files
from tare.measure.kept import kept_campaign
from tare.records import NATIVE, Session
from tare.report.provenance import Fact

MOST_RESULTS = 1000
"""More are left out of the list, which says so."""
_DEPTH = 4
"""Levels of folders below the named ones in which results are looked for."""
_FACTS = ("processor", "kernel", "virtualization")


@dataclass(frozen=True, slots=True)
class ShelvedResult:
    """A result that may be read; a browser knows its identity alone."""

    identity: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultHead:
    """What is known of a result before it is read."""

    entry: ShelvedResult
    campaign: str
    started_utc: str | None
    """Of the newest session; ``None``: nothing was measured."""
    host: tuple[str, ...]
    """A few of its facts."""
    facts: tuple[Fact, ...]
    """All of them."""
    asked: tuple[Fact, ...]
    """What the campaign is to measure."""
    journal_byte: int
    problem: str | None
    """Why it cannot be read."""


def find_results(places: Sequence[Path]) -> tuple[ShelvedResult, ...]:
    """Each named result, and those some levels below each named folder, without those that explain another."""
    known = (path for place in places for path in _below(place, _DEPTH))
    unique = islice(dict.fromkeys(known), MOST_RESULTS + 1)
    return tuple(ShelvedResult(sha256(bytes(path.absolute())).hexdigest()[:12], path) for path in unique)


def _below(place: Path, levels: int) -> Iterator[Path]:
    try:
        is_result = (place / CAMPAIGN_FILE).is_file()
    except OSError:
        return
    if is_result:
        yield place
    elif levels and place.is_dir():
        try:
            inner = sorted(path for path in place.iterdir() if _is_folder(path))
        except OSError:
            return
        for path in inner:
            yield from _below(path, levels - 1)


def _is_folder(path: Path) -> bool:
    return path.name != EXPLANATIONS and path.is_dir() and not path.is_symlink()


def head(entry: ShelvedResult) -> ResultHead:
    """Read the beginning of each journal file; never raises."""
    folder = ResultFolder(entry.path)
    campaign, session, problem, size_byte = entry.path.name, None, None, 0
    asked: tuple[Fact, ...] = ()
    try:
        campaign, asked = _asked(folder)
        size_byte = folder.journal_byte
        session = _newest(folder)
    except (TareError, OSError) as error:
        problem = str(error)
    host = session.host if session else {}
    return ResultHead(
        entry=entry,
        campaign=campaign,
        started_utc=session.started_utc if session else None,
        host=tuple(host[label] for label in _FACTS if label in host),
        facts=tuple(Fact(label, (value,)) for label, value in host.items()),
        asked=asked,
        journal_byte=size_byte,
        problem=problem,
    )


def _asked(folder: ResultFolder) -> tuple[str, tuple[Fact, ...]]:
    """The campaign's name, and what it is to measure."""
    campaign = kept_campaign(folder)
    environments = [f"{each.name} ({each.technology})" for each in campaign.environments]
    return campaign.name, (
        Fact("environments", (NATIVE, *environments)),
        Fact("workloads", tuple(f"{each.name} ({each.kind})" for each in campaign.workloads)),
        Fact("layouts", tuple(map(str, campaign.layouts))),
        Fact("blocks", (str(campaign.blocks),)),
        Fact("margin", (f"±{campaign.margin * 100:.4g} %",)),
    )


def begun(entry: ShelvedResult) -> str:
    """What sorts results by their newest start, from names alone: a journal's files begin with it."""
    try:
        return max((path.name for path in journal_files(ResultFolder(entry.path).journal)), default="")
    except OSError:
        return ""


def _newest(folder: ResultFolder) -> Session | None:
    for path in reversed(journal_files(folder.journal)):
        first = next(OneFile(path).records(), None)
        if isinstance(first, Session):
            return first
    return None
