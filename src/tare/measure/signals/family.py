# SPDX-License-Identifier: Apache-2.0
"""What every family of signals owes: the texts it is read from, and a pure parser of one of them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from tare.host.kernel_files import read_whole
from tare.measure.signals.place import Place
from tare.records import Scope

_NUMBER = rb" [ \t]*(\d+)[ \t\r]*$"
_KEYED = re.compile(rb"^[^ \n]+" + _NUMBER, re.MULTILINE)


class Unreadable(Exception):
    """Why a signal is missing, in words that are the same in every trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One signal, as docs/signals.md lists it."""

    name: str
    unit: str
    scope: Scope
    lost_time: bool = False
    """As in ``Signal``."""
    level: bool = False
    """A state such as a temperature, of which the mean over the run and its end is told; else a count or a time that
    grows, of which the difference is told."""
    of_network: bool = False
    """Whether it is of the nodes' network, and so of the whole host where they share the host's."""


class TextSource(Protocol):
    """Where one text is read."""

    def read(self) -> bytes:
        """All of it as it is now; ``Unreadable`` when it cannot be had."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        return


class SignalFamily(Protocol):
    """Signals that come from the same texts; the explicit list is in ``measure/signals/__init__.py``."""

    kinds: tuple[Kind, ...]

    def sources(self, place: Place) -> Sequence[TextSource]:
        """One for each node, disk or namespace of this trial; ``Unreadable`` says why there is none."""
        ...

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:
        """Names of ``kinds`` → how much of it so far, purely; what the text does not tell is left out.

        Raises ``ValueError`` when the text is not what it should be.
        """
        ...

    def joined(self, values: Sequence[float]) -> float:
        """Join the figures of all sources into one."""
        return sum(values)


@dataclass(frozen=True, slots=True)
class File(TextSource):
    """A file of the kernel's; what it cannot be called by is its path, where that is another one in every trial."""

    path: str
    called: str = ""

    def read(self) -> bytes:
        try:
            return read_whole(self.path)
        except OSError as error:
            raise Unreadable(f"{self.called or self.path} cannot be read: {error.strerror}") from error


def keyed(text: bytes, names: Iterable[str]) -> dict[str, int]:
    """The numbers that lines ``name number`` give for ``names``; ``ValueError`` when the text has no such line."""
    numbers = {name.decode(): int(number) for name, number in _lines_of(tuple(names)).findall(text)}
    if not numbers and not _KEYED.search(text):
        raise ValueError("it holds no line of a name and a number")
    return numbers


@cache
def _lines_of(names: tuple[str, ...]) -> re.Pattern[bytes]:
    """One table may hold two hundred, of which ten are asked for in every trial."""
    wanted = b"|".join(re.escape(name.encode()) for name in names)
    return re.compile(rb"^(%s)%s" % (wanted, _NUMBER), re.MULTILINE)
