# SPDX-License-Identifier: Apache-2.0
"""Argument lists with placeholders such as ``{name}``, given in a campaign file and filled in for a node."""

import string
from collections.abc import Collection, Mapping, Sequence


def complaint(argv: Sequence[str], known: Collection[str]) -> str | None:
    """What is wrong with the placeholders of ``argv``; ``None`` when all are among ``known``."""
    for word in argv:
        try:
            names = [name for _, name in _parts(word) if name is not None]
        except ValueError as error:
            return f"{word!r}: {error}; write {{{{ and }}}} for braces that are no placeholder's"
        for name in names:
            if name not in known:
                return f"unknown placeholder {name!r} in {word!r}; known: {', '.join(sorted(known))}"
    return None


def fill(argv: Sequence[str], values: Mapping[str, str | None]) -> list[str]:
    """Fill in each word separately; a word with a placeholder without a value (``None``) is left out.

    ``KeyError`` for a placeholder that ``complaint`` would have named.
    """
    filled = []
    for word in argv:
        parts = [(literal, "" if name is None else values[name]) for literal, name in _parts(word)]
        if all(value is not None for _, value in parts):
            filled.append("".join(f"{literal}{value}" for literal, value in parts))
    return filled


def mentions(argv: Sequence[str], name: str) -> bool:
    return any(placeholder == name for word in argv for _, placeholder in _parts(word))


def _parts(word: str) -> list[tuple[str, str | None]]:
    """Literal text, and the placeholder after it if any; ``ValueError`` for unbalanced braces."""
    parts = []
    for literal, name, form, conversion in string.Formatter().parse(word):
        if form or conversion:
            raise ValueError("a placeholder is a name in braces and nothing else")
        parts.append((literal, name))
    return parts
