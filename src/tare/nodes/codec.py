# SPDX-License-Identifier: Apache-2.0
"""Records from what JSON makes of them, without pydantic: the other host may have nothing but Python."""

import types
import typing
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any


def build(kind: Any, value: Any) -> Any:
    """Turn back what ``dataclasses.asdict`` and ``json.dumps(default=str)`` made of a value of this type.

    ``TypeError``, ``ValueError`` or ``KeyError`` when it is none.
    """
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        made: Any = kind
        return made(**{name: build(hints[name], part) for name, part in value.items()})
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in {types.UnionType, typing.Union}:
        (inner, *others) = [one for one in arguments if one is not types.NoneType]
        return value if value is None or others else build(inner, value)
    if origin is tuple:
        return tuple(build(arguments[0], part) for part in value)
    if origin is not None and issubclass(origin, Mapping):
        return dict(value)
    return kind(value) if isinstance(kind, type) and issubclass(kind, (Path, Enum)) else value
