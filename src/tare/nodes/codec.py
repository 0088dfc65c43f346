# SPDX-License-Identifier: Apache-2.0
"""Records to JSON values and back, by the types of their fields: for files, other hosts and command lines.

A field may be a string, a number, a boolean, ``None``, a path, a ``StrEnum``, another record, a list or tuple of any
length, a mapping from strings, or a union of types that differ in JSON. Any other type is refused before a value is
read or written, because its value would come back as something else. Uses only the standard library: other hosts may
have nothing else.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from tare.untrusted import start_of

Kind = TypeVar("Kind")
_Readers = Mapping[type, Callable[[Any], Any]]
"""Type of a value in JSON → what turns it into the field's value."""


def encode(record: Any) -> dict[str, Any]:
    """The record as JSON values that ``decode`` reads; ``TypeError`` for a field whose type cannot be read back."""
    kind: Any = type(record)
    _readers(kind)
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def decode(kind: type[Kind], value: Any) -> Kind:
    """The inverse of ``encode``; ``ValueError`` when ``value`` is not such a record, ``TypeError`` as in ``encode``.

    A missing field gets its default.
    """
    return _read(kind, value)  # type: ignore[no-any-return] # the reader calls ``kind``


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return encode(value)
    if isinstance(value, Path | StrEnum):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return {name: _plain(part) for name, part in value.items()} if isinstance(value, Mapping) else value


def _read(kind: Any, value: Any) -> Any:
    reader = _readers(kind).get(type(value))
    if reader is None:
        raise ValueError(f"{start_of(repr(value))} is no {getattr(kind, '__name__', kind)}")
    return reader(value)


@cache
def _readers(kind: Any) -> _Readers:
    """The readers for this type; ``TypeError`` when it, or a type within it, cannot be read back."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return _any_of(arguments)
    if origin is list or (origin is tuple and arguments[1:] == (...,)):
        return _list_of(origin, arguments[0])
    if origin is Mapping and arguments[0] is str:
        return _mapping_of(arguments[1])
    return _record_of(kind) if is_dataclass(kind) else _single(kind)


def _single(kind: Any) -> _Readers:
    if kind in {str, int, bool, types.NoneType}:
        return {kind: _as_it_is}
    if kind is float:
        return {float: _as_it_is, int: float}
    if isinstance(kind, type) and issubclass(kind, Path | StrEnum):
        return {str: kind}
    raise TypeError(f"{kind} cannot be read back from JSON; teach tare.nodes.codec to")


def _as_it_is(value: Any) -> Any:
    return value


def _any_of(kinds: tuple[Any, ...]) -> _Readers:
    merged: dict[type, Callable[[Any], Any]] = {}
    for readers in map(_readers, kinds):
        for plain, reader in readers.items():
            if reader is float and plain in merged:
                continue
            if merged.get(plain, float) is not float:
                raise TypeError(f"JSON does not tell {' from '.join(map(str, kinds))}")
            merged[plain] = reader
    return merged


def _list_of(made: Callable[[Any], Any], kind: Any) -> _Readers:
    _readers(kind)
    return {list: lambda value: made(_read(kind, part) for part in value)}


def _mapping_of(kind: Any) -> _Readers:
    _readers(kind)
    return {dict: lambda value: {name: _read(kind, part) for name, part in value.items()}}


def _record_of(made: Any) -> _Readers:
    kinds = get_type_hints(made)
    parts = fields(made)
    known = {field.name: kinds[field.name] for field in parts}
    needed = {field.name for field in parts if field.default is MISSING and field.default_factory is MISSING}
    for kind in known.values():
        _readers(kind)

    def read(value: dict[str, Any]) -> Any:
        if wrong := (value.keys() - known.keys()) | (needed - value.keys()):
            raise ValueError(f"{', '.join(sorted(wrong))}: unknown or missing in {made.__name__}")
        return made(**{name: _read(known[name], part) for name, part in value.items()})

    return {dict: read}
