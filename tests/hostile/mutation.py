# SPDX-License-Identifier: Apache-2.0
"""Inputs that nobody meant: recorded ones with bytes, numbers, values and pieces changed, alike for the same seed."""

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

LONGEST_BYTE = 1 << 18
"""Of a mutated input: long enough that whatever takes the square of its length is found out."""
_LARGE = 0.02
"""The share of changes that add some 100 KB: a large input costs as much as a hundred others."""
_USUAL_BYTE = 4000
"""What other changes add at most."""
_LONG_WORD = b"A" * 70_000
_NUMBERS = (
    *(
        "0",
        "-0",
        "-1",
        "1",
        "00",
        "1.5",
        "0x10",
        "1_000",
        "+1",
        "1e999",
        "-1e999",
        "1e308",
        "5e-324",
        "NaN",
        "Infinity",
    ),
    *("-inf", "9" * 18, "9" * 19, "9" * 20, "9" * 400, "9" * 5000, "-" + "9" * 5000, "0." + "1" * 5000),
    *(
        str(1 << 31),
        str(1 << 63),
        str((1 << 64) - 1),
        str(1 << 64),
        "\N{ARABIC-INDIC DIGIT ONE}",
        "1" + "0" * 309,
    ),
)
_WORDS = (
    *(
        "",
        "\0",
        "\x1b[31m\x1b]0;x\x07",
        "\r",
        "\n",
        "\n\n",
        " ",
        "\t",
        "=",
        ":",
        ",",
        "-",
        "%s%n",
        "../../..",
        "null",
    ),
    *(
        "true",
        "[]",
        "{}",
        '"',
        "\\",
        "\\ud800",
        "\\u0000",
        "[" * 2000,
        '{"a":' * 300,
        "[[]," * 200,
        "]" * 50,
    ),
    *("\N{RIGHT-TO-LEFT OVERRIDE}", "\N{GRINNING FACE}", "\u2028", "\x85", "\x1c"),
)
_BYTES = (b"\xff", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\x80" * 40, bytes(range(256)))
_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1.5,
        1 << 63,
        1 << 64,
        10**400,
        "",
        "x",
        "\0",
        "9" * 400,
        "\ud800",
        "a" * 10_000,
    ),
    *([], {}, [[]], {"a": {}}, [None] * 50, {"": 1}, [0, "1", 2.5], float("inf"), float("nan"), -0.0, 1e308),
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")


class Mutator:
    """Of one parser's recorded inputs."""

    def __init__(self, name: str, seeds: Sequence[bytes], seed: int) -> None:
        self._name, self._seeds, self._seed = name, tuple(seeds), seed
        self._values = [text for text in seeds if _is_json(text)]

    def input(self, number: int) -> bytes:
        """The ``number``-th of all; the first are the recorded ones themselves."""
        if number < len(self._seeds):
            return self._seeds[number]
        draw = random.Random(f"{self._seed}-{self._name}-{number}")  # noqa: S311 - repeatable, not secret
        text = self._structured(draw) if self._values and draw.random() < 0.4 else draw.choice(self._seeds)
        for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
            text = draw.choice(_CHANGES)(text, draw, self._seeds)[:LONGEST_BYTE]
        return text

    def _structured(self, draw: random.Random) -> bytes:
        """A JSON value of which one part is another, missing, or there twice."""
        value = json.loads(draw.choice(self._values))
        place, key = _any_place([value], draw)
        if isinstance(place, dict) and draw.random() < 0.3:
            del place[key]
        elif isinstance(place, list) and draw.random() < 0.2:
            place.extend(place[:1] * (1000 if draw.random() < _LARGE else draw.choice((1, 30))))
        else:
            place[key] = draw.choice(_VALUES)
        text = json.dumps(value, ensure_ascii=draw.random() < 0.5)
        return text.encode(errors="surrogatepass") + b"\n" * draw.randrange(2)


def _is_json(text: bytes) -> bool:
    try:
        return json.loads(text) is not None
    except ValueError:
        return False


def _any_place(place: Any, draw: random.Random) -> tuple[Any, Any]:
    """Some container within, and a key of it."""
    while True:
        key = draw.choice(list(place)) if isinstance(place, dict) else draw.randrange(len(place))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or draw.random() < 0.15:
            return place, key
        place = inner


def _at(text: bytes, draw: random.Random) -> int:
    return draw.randrange(len(text) + 1)


def _piece(text: bytes, draw: random.Random) -> tuple[int, int]:
    start = _at(text, draw)
    return start, min(len(text), start + draw.choice((1, 2, 8, 60, 500)))


def _flip(text: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    changed = bytearray(text)
    for _number in range(draw.choice((1, 2, 20)) if changed else 0):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _cut(text: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    return text[: _at(text, draw)] if draw.random() < 0.7 else text[_at(text, draw) :]


def _remove(text: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _piece(text, draw)
    return text[:start] + text[end:]


def _repeat(text: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    start, end = _piece(text, draw)
    return text[:start] + _repeated(text[start:end], draw, (2, 3, 10, 100), (20_000, 250_000)) + text[end:]


def _repeat_line(text: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    line, at = _line(text, draw), text.rfind(b"\n", 0, _at(text, draw)) + 1
    return text[:at] + _repeated(line, draw, (1, 1, 5), (500, 5000)) + text[at:]


def _repeated(piece: bytes, draw: random.Random, usual: Sequence[int], large: Sequence[int]) -> bytes:
    is_large = draw.random() < _LARGE
    times = draw.choice(large if is_large else usual)
    return piece * min(times, max(1, (LONGEST_BYTE if is_large else _USUAL_BYTE) // max(1, len(piece))))


def _line(text: bytes, draw: random.Random) -> bytes:
    """Some line, its end included."""
    at = _at(text, draw)
    return text[text.rfind(b"\n", 0, at) + 1 : (text.find(b"\n", at) + 1) or len(text)]


def _insert(text: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    at = _at(text, draw)
    what = draw.choice(_BYTES) if draw.random() < 0.2 else draw.choice((*_WORDS, *_NUMBERS)).encode()
    what = _LONG_WORD if draw.random() < _LARGE else what
    return text[:at] + what + text[at if draw.random() < 0.5 else at + 1 :]


def _renumber(text: bytes, draw: random.Random, _: Sequence[bytes]) -> bytes:
    number = _NUMBER.search(text, _at(text, draw)) or _NUMBER.search(text)
    if number is None:
        return _insert(text, draw, _)
    start, end = number.span()
    return text[:start] + draw.choice(_NUMBERS).encode() + text[end:]


def _splice(text: bytes, draw: random.Random, seeds: Sequence[bytes]) -> bytes:
    other = draw.choice(seeds)
    return text[: _at(text, draw)] + other[_at(other, draw) :]


_CHANGES: tuple[Callable[[bytes, random.Random, Sequence[bytes]], bytes], ...] = (
    _flip,
    _cut,
    _remove,
    _repeat,
    _repeat_line,
    _insert,
    _insert,
    _renumber,
    _renumber,
    _splice,
)
