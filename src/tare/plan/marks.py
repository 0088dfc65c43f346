# SPDX-License-Identifier: Apache-2.0
"""Numbers in braces that depend on the hosts: the layout ``{hosts}c{processors/2}p1i on {hosts}`` (docs/hosts.md)."""

import re
from collections.abc import Mapping
from fractions import Fraction

HOSTS, ALL, PROCESSORS = "hosts", "all", "processors"
_MARK = re.compile(r"\{([^{}]*)\}")
_INSIDE = re.compile(r"(power of )?((?:[a-z]+|[1-9]\d{0,5})(?:[*/](?:[a-z]+|[1-9]\d{0,5})){0,4})")
_ALLOWED = (
    "write {hosts}, {all} or {processors}, products and quotients of them such as {hosts*processors}, "
    "or {power of hosts}, the largest power of two up to it"
)


class NotWholeError(ValueError):
    """A mark comes out as no whole number from 1."""


def filled(text: str, known: Mapping[str, int]) -> str:
    """The text with its marks as numbers; one with a name that is not ``known`` stays a mark.

    ``ValueError`` for braces that are no mark; ``NotWholeError`` where one comes out as a fraction.
    """
    return _MARK.sub(lambda mark: _number(mark[0], mark[1], known), text)


def has_mark(text: str, name: str = "") -> bool:
    """Whether some mark has the name; any mark without one."""
    return any(name in mark for mark in _MARK.findall(text))


def _number(mark: str, inside: str, known: Mapping[str, int]) -> str:
    parts = _INSIDE.fullmatch(inside)
    words = re.findall(r"[a-z]+", parts[2]) if parts else [inside]
    if parts is None or not {HOSTS, ALL, PROCESSORS}.issuperset(words):
        raise ValueError(f"{mark} is no number of a layout; {_ALLOWED}")
    term = re.sub(r"[a-z]+", lambda word: str(known.get(word[0], word[0])), parts[2])
    if not known.keys() >= set(words):
        return f"{{{parts[1] or ''}{term}}}"
    value = _product(term)
    if value.denominator != 1:
        raise NotWholeError(f"{mark} is {value}, no whole number")
    return str(1 << (value.numerator.bit_length() - 1) if parts[1] else value.numerator)


def _product(term: str) -> Fraction:
    first, *others = re.split("([*/])", term)
    value = Fraction(first)
    for sign, number in zip(others[::2], others[1::2], strict=True):
        value = value * int(number) if sign == "*" else value / int(number)
    return value
