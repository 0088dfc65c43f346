# SPDX-License-Identifier: Apache-2.0
"""Short, printable excerpts of an output that show what is wrong with it."""

LIMIT = 1000
"""Characters kept: enough for a screenful, small enough for a line of the journal."""


def printable(text: str) -> str:
    """Replace unprintable characters, so that garbage can be shown."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def tail(text: str, limit: int = LIMIT) -> str:
    """Keep the end of ``text``, where a cut or an error shows."""
    return printable(text[-limit:])


def head(text: str, limit: int = LIMIT) -> str:
    """Keep the beginning of ``text``, where repeated messages begin."""
    return printable(text[:limit])


def around(text: str, start: int, limit: int = LIMIT) -> str:
    """Keep ``text`` from two lines before ``start`` on."""
    before = text.rfind("\n", 0, max(text.rfind("\n", 0, start), 0)) + 1
    first = max(before, start - limit // 2)
    return printable(text[first : first + limit])
