# SPDX-License-Identifier: Apache-2.0
"""The papers' tables and figures as data: a TOML file each, with what is printed, where, and what that claims.

Only numbers that a text or table prints stand in the files; a figure whose values are only drawn has the relations that
the text states. ``tare.analyze.published`` compares a result with them; docs/papers-views.md explains how to read it.
"""

import tomllib
from functools import cache
from pathlib import Path

from tare.errors import InputError
from tare.papers.schema import PaperFile
from tare.records.published import PUBLISHED_AGAIN, Paper, View

PAPERS = ("b16-stage1", "b16-stage2", "b16-stage3", "b17", "y15", "r15", "l12")
"""The presets' names."""


@cache
def paper(identity: str) -> Paper:
    """One of ``PAPERS``; ``InputError`` for another name."""
    if identity not in PAPERS:
        raise InputError(f"{identity}: there is no such paper; choose one of {', '.join(PAPERS)}")
    file = PUBLISHED_AGAIN.get(identity, identity)
    text = Path(__file__).with_name(f"{file}.toml").read_text(encoding="utf-8")
    return PaperFile.model_validate(tomllib.loads(text)).paper(identity)


def papers() -> tuple[Paper, ...]:
    """All of them, with all their views."""
    return tuple(map(paper, PAPERS))


def views() -> tuple[View, ...]:
    """The views of all papers, in the order of their pages."""
    return tuple(view for each in papers() for view in each.views)


def view(identity: str) -> View:
    """The view of this name, such as ``b16:fig20``; ``InputError`` for another name."""
    known = {each.identity: each for each in views()}
    if identity.lower() not in known:
        near = [name for name in known if name.partition(":")[0] == identity.lower().partition(":")[0]]
        raise InputError(
            f"{identity}: no paper has such a table or figure; "
            + (f"choose one of {', '.join(near)}" if near else "--as list names all of them")
        )
    return known[identity.lower()]
