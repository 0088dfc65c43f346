# SPDX-License-Identifier: Apache-2.0
"""What every family of signals provides: the texts it is read from, and a pure parser of one of them."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from tare.host.cgroups.hierarchies import UNIFIED, V1
from tare.host.kernel_files import read_whole
from tare.records import Scope
from tare.signals.place import Place

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
    """A state such as a temperature, reported as the mean over the run and its end; else a growing count or time,
    reported as the difference."""
    of_network: bool = False
    """Whether it concerns the nodes' network, and so the whole host if they share the host's."""


class TextSource(Protocol):
    """The source of one text."""

    def read(self) -> bytes:
        """The present content; ``Unreadable`` if it is not available."""
        ...

    def close(self) -> None:
        """Release its resources."""
        return

    def begin_turn(self) -> None:
        """Before a turn of the arm among others; for sources that count what all arms cause together."""
        return

    def end_turn(self) -> None:
        """After it."""
        return


class SignalFamily(Protocol):
    """Signals that come from the same texts; the explicit list is in ``signals/__init__.py``."""

    kinds: tuple[Kind, ...]
    wraps: bool = False
    """Whether its counters begin again at 0, so that they are also read while the command runs."""

    def sources(self, place: Place) -> Sequence[TextSource]:
        """One for each node, disk or namespace of this trial; ``Unreadable`` says why there is none."""
        ...

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:
        """Names of ``kinds`` → amount so far, purely; signals missing in the text are left out.

        Raises ``ValueError`` if the text is malformed.
        """
        ...

    def joined(self, values: Sequence[float]) -> float:
        """Combine the figures of all sources."""
        return sum(values)


@dataclass(frozen=True, slots=True)
class File(TextSource):
    """A file of the kernel; its label cannot be its path where that differs in every trial."""

    path: str
    called: str = ""

    def read(self) -> bytes:
        try:
            return read_whole(self.path)
        except OSError as error:
            raise Unreadable(f"{self.called or self.path} cannot be read: {error.strerror}") from error


def keyed(text: bytes, names: Iterable[str]) -> dict[str, int]:
    """The numbers in lines ``name number`` for ``names``; ``ValueError`` if the text has no such line."""
    numbers = {name.decode(): int(number) for name, number in _lines_of(tuple(names)).findall(text)}
    if not numbers and not _KEYED.search(text):
        raise ValueError("it holds no line of a name and a number")
    return numbers


@cache
def _lines_of(names: tuple[str, ...]) -> re.Pattern[bytes]:
    """A pattern for these lines: a table may have two hundred, of which ten are needed in every trial."""
    wanted = b"|".join(re.escape(name.encode()) for name in names)
    return re.compile(rb"^(%s)%s" % (wanted, _NUMBER), re.MULTILINE)


def group_files(place: Place, controller: str, name: str, *, unified: bool = False) -> Sequence[TextSource]:
    """This file of each node's group; ``unified``: the one of version 2, which a hybrid host has too.

    ``Unreadable`` if a node has no such file.
    """
    if not place.groups:
        raise Unreadable("no control group of this host holds the nodes")
    text_sources: list[TextSource] = []
    for group in place.groups:
        directory = group.path(UNIFIED if unified and group.version == V1 else controller)
        path = f"{directory}/{name}"
        if directory is None or not os.path.exists(path):  # noqa: PTH110 - eight of each node, in every trial
            raise Unreadable(f"the nodes' control group has no {name}")
        text_sources.append(File(path, f"the control group's {name}"))
    return text_sources
