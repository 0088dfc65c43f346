# SPDX-License-Identifier: Apache-2.0
"""Untrusted text as values: from a node, another host, a tool, or a file that others may write.

Any fault is a ``ValueError`` that describes it, and returned values are safe to use: no number is longer than 64 bits
or infinite, nothing is nested so deeply that a recursive walk could end the program, and every text can be written as
UTF-8. Only Python's own library is needed, as other hosts have nothing else.
"""

import ipaddress
import json
import math
import re
import types
from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints, is_typeddict

MOST_CHARACTERS = 16 << 20
"""Limit of one JSON text, which takes up to thirty times as much memory as values."""
MOST_DEPTH = 64
"""Limit of nested arrays and objects."""
_MOST = 1 << 64
_WHOLE = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_FIGURE_CHARACTERS = 400
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_SHOWN = 40
Kind = TypeVar("Kind")


def from_json(text: str | bytes, most: int = MOST_CHARACTERS) -> Any:
    """The value of a JSON text (RFC 8259); ``ValueError`` if it is invalid or beyond the limits.

    ``most``: maximum number of characters, or bytes.
    """
    if len(text) > most:
        raise ValueError(f"{len(text)} characters of JSON; {most} are the most")
    decoded = text.decode() if isinstance(text, bytes) else text
    try:
        value = json.loads(
            decoded,
            object_pairs_hook=_object,
            parse_int=whole,
            parse_float=figure,
            parse_constant=_refuse_constant,
        )
    except RecursionError:
        raise ValueError(_too_deep()) from None
    if decoded.count("[") + decoded.count("{") > MOST_DEPTH:
        _refuse_depth(value)
    if _SURROGATE.search(decoded):
        json.dumps(value, ensure_ascii=False).encode()  # UnicodeEncodeError for half a pair
    return value


def object_from_json(text: str | bytes, most: int = MOST_CHARACTERS) -> dict[str, Any]:
    """The value of a JSON text that must be an object."""
    value = from_json(text, most)
    if not isinstance(value, dict):
        raise ValueError(  # noqa: TRY004 - the one kind of error that is promised
            f"JSON that is no object: {start_of(text)}"
        )
    return value


def of_kind(kind: type[Kind], value: Any) -> Kind:
    """``value`` if it is of this kind at every level; ``ValueError`` names the place where it is not.

    Kinds are as JSON has them: ``str``, ``int``, ``float`` (an integer too), ``bool``, ``None``, lists, dictionaries,
    unions of these, and ``TypedDict``, which may have additional keys, as a newer version may report more.
    """
    _refuse_other_kind(kind, value, "")
    return value  # type: ignore[no-any-return] # it has just been looked at


def _refuse_other_kind(kind: Any, value: Any, where: str) -> None:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any or (kind is float and type(value) is int):
        return
    if origin is types.UnionType:
        _refuse_all_kinds(arguments, value, where)
    elif origin is list and type(value) is list:
        for number, inner in enumerate(value):
            _refuse_other_kind(arguments[0], inner, f"{where}[{number}]")
    elif origin is dict and type(value) is dict:
        for name, inner in value.items():
            _refuse_other_kind(arguments[1], inner, f"{where}.{name[:_SHOWN]}")
    elif is_typeddict(kind) and type(value) is dict:
        _refuse_other_members(kind, value, where)
    elif type(value) is not kind:
        raise ValueError(f"{where.lstrip('.') or 'all of it'} is {start_of(repr(value))}, no {_called(kind)}")


def _refuse_all_kinds(kinds: Iterable[Any], value: Any, where: str) -> None:
    """Raise the last kind's error if no kind fits."""
    problem = None
    for kind in kinds:
        try:
            _refuse_other_kind(kind, value, where)
        except ValueError as error:
            problem = error if problem is None or kind is not types.NoneType else problem
        else:
            return
    raise problem or ValueError(f"{where} has no kind")


def _refuse_other_members(kind: Any, value: dict[str, Any], where: str) -> None:
    for name, inner in get_type_hints(kind).items():
        if name in value:
            _refuse_other_kind(inner, value[name], f"{where}.{name}")
        elif name in kind.__required_keys__:
            raise ValueError(f"{where.lstrip('.') or 'all of it'} has no {name}")


def _called(kind: Any) -> str:
    return getattr(kind, "__name__", str(kind))


def whole(text: str) -> int:
    """An integer of at most 64 bits in decimal ASCII digits; ``ValueError`` for anything else."""
    if not _WHOLE.fullmatch(text) or abs(value := int(text)) >= _MOST:
        raise ValueError(f"{start_of(text)} is no integer of at most 64 bits")
    return value


def figure(text: str) -> float:
    """A finite number; ``ValueError`` for anything else."""
    if len(text) > _FIGURE_CHARACTERS or not math.isfinite(value := float(text)):
        raise ValueError(f"{start_of(text)} is no finite number")
    return value


def is_address(text: str) -> bool:
    """Whether it is an IP address, of either version."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def writable(text: str) -> str:
    """The text in a form that UTF-8 can hold: file names need not be text, and may contain half surrogate pairs."""
    return text.encode(errors="backslashreplace").decode()


def start_of(text: str | bytes) -> str:
    """Its beginning, in a form for messages."""
    start = text[:_SHOWN]
    return repr(start.decode(errors="replace") if isinstance(start, bytes) else start)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("JSON with a key that is there twice")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} in JSON is no number")


def _refuse_depth(value: Any) -> None:
    """Refuse deep nesting, level by level, as a deep value would break a recursive walk."""
    level, depth = [value], 0
    while level := [entry for entry in level if isinstance(entry, dict | list)]:
        depth += 1
        if depth > MOST_DEPTH:
            raise ValueError(_too_deep())
        level = [inner for entry in level for inner in (entry.values() if isinstance(entry, dict) else entry)]


def _too_deep() -> str:
    return f"JSON nested more than {MOST_DEPTH} levels deep"
