# SPDX-License-Identifier: Apache-2.0
"""A tool's output as values: any fault in it is a ``NodeError`` that names the tool and quotes the output."""

from typing import Any, TypeVar

from tare.errors import NodeError
from tare.untrusted import from_json, of_kind, start_of, whole

_EXCERPT = 400
_MOST_PROCESSES = 1 << 22
"""Linux process ids are below this (proc(5), pid_max)."""
Kind = TypeVar("Kind")


def told(kind: type[Kind], text: str | bytes, tool: str) -> Kind:
    """The JSON that ``tool`` printed, which must be of this kind (``tare.untrusted.of_kind``)."""
    try:
        return of_kind(kind, from_json(text))
    except ValueError as error:
        raise _nonsense(tool, text, str(error)) from None


def part(kind: type[Kind], value: Any, tool: str) -> Kind:
    """The same for a value that has already been read."""
    try:
        return of_kind(kind, value)
    except ValueError as error:
        raise _nonsense(tool, repr(value), str(error)) from None


def number(text: str, tool: str) -> int:
    """An integer of at most 64 bits."""
    try:
        return whole(text.strip())
    except ValueError as error:
        raise _nonsense(tool, text, str(error)) from None


def process_id(text: str, tool: str) -> int:
    """The id of a process on this host."""
    pid = number(text, tool)
    if not 0 < pid < _MOST_PROCESSES:
        raise NodeError(f"{tool} names {start_of(text)} as a process, and there is none of that number")
    return pid


def _nonsense(tool: str, text: str | bytes, why: str) -> NodeError:
    said = text.decode(errors="replace") if isinstance(text, bytes) else text
    return NodeError(f"what {tool} prints is not understood: {why}", said[:_EXCERPT] or None)
