# SPDX-License-Identifier: Apache-2.0
"""How to cite a result: a CITATION.cff (Citation File Format 1.2.0, Druskat and others 2021)."""

import json
import re
from dataclasses import dataclass

from tare.errors import InputError
from tare.foreign import one_line
from tare.records import Analysis

ANONYMOUS = "Anonymous"
_ORCID = re.compile(r"\s*\(?(?:https://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])\)?$")
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPaper:
    """What only its authors know of a publication."""

    title: str
    authors: tuple[str, ...] = ()
    """``Family, Given``, or the name of a group; with an ORCID behind it. Empty: anonymous."""
    licence: str = ""
    """An SPDX identifier; empty: not yet chosen."""

    def __post_init__(self) -> None:
        """Raise ``InputError`` for a licence that is no identifier."""
        if self.licence and not _SPDX.fullmatch(self.licence):
            raise InputError(
                f"--licence: {self.licence!r} is no SPDX identifier; write one such as CC-BY-4.0"
            )


def citation_file(paper: CitedPaper, analysis: Analysis) -> str:
    """The text of the file; every value is a JSON string, which YAML reads the same."""
    ended = max((outcome.started_utc[:10] for outcome in analysis.outcomes), default="")
    version = analysis.sessions[-1].tare_version
    lines = [
        "cff-version: 1.2.0",
        f"message: {_text('If you use these measurements, please cite them as below.')}",
        "type: dataset",
        f"title: {_text(paper.title)}",
        "authors:",
        *(line for author in paper.authors or (ANONYMOUS,) for line in _person(author)),
        *([f"date-released: {_text(ended)}"] if re.fullmatch(r"\d{4}-\d\d-\d\d", ended) else []),
        *([f"license: {_text(paper.licence)}"] if paper.licence else []),
        "keywords:",
        *(f"  - {_text(word)}" for word in ("overhead", "containers", "virtual machines", "benchmark")),
        "references:",
        "  - type: software",
        '    title: "Tare"',
        f"    version: {_text(version)}",
        '    license: "Apache-2.0"',
        "    authors:",
        '      - name: "The Tare developers"',
    ]
    return "\n".join(lines) + "\n"


def _person(author: str) -> list[str]:
    orcid = _ORCID.search(author)
    name = one_line(author[: orcid.start()] if orcid else author).strip(" ,")
    family, comma, given = name.partition(",")
    if comma:
        lines = [f"  - family-names: {_text(family)}", f"    given-names: {_text(given.strip())}"]
    else:
        lines = [f"  - name: {_text(name)}"]
    # only a person has an ORCID of that form; a group's website would be another key
    return [*lines, f"    orcid: {_text(f'https://orcid.org/{orcid[1]}')}"] if orcid else lines


def _text(text: str) -> str:
    return json.dumps(one_line(text), ensure_ascii=False)
