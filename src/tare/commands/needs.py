# SPDX-License-Identifier: Apache-2.0
"""What ``tare advise --needs`` takes: a resource with its rate, or a requirement; a text or a TOML file of them."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tare.errors import InputError
from tare.foreign import one_line
from tare.host.own_files import read_plain
from tare.records.advice import Isolation, Need, Required, Resource

IMAGES = ("oci", "sif", "squashfs", "directory", "disk")
_BOUND = {"memory-bound": 1.0, "compute-bound": 0.0}
_PREFIX = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_RATE = re.compile(r"([0-9.]+(?:e[0-9]{1,2})?) ?([kMG]?)B?(/s)?", re.ASCII)
_PERCENT = re.compile(r"([0-9.]+) ?%", re.ASCII)
_EXAMPLE = '"messages 1000/s, time in the kernel 20 %, memory-bound, no root, image sif"'
_VALUES = {Need.ISOLATION: tuple(each.name.lower() for each in Isolation), Need.IMAGE: IMAGES}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedNeeds:
    """What was stated."""

    rates: Mapping[Resource, float] = field(default_factory=dict)
    required: tuple[Required, ...] = ()


def parse_needs(texts: tuple[str, ...]) -> StatedNeeds:
    """Texts of items with commas between them, or names of TOML files; ``InputError`` says which item is wrong."""
    rates: dict[Resource, float] = {}
    required: dict[Required, None] = {}
    for item in (item for text in texts for item in _items(text)):
        words = " ".join(item.replace("_", " ").split())
        if (stated := _resource(words)) is not None:
            rates[stated[0]] = stated[1]
        elif (requirement := _required(words)) is not None:
            required[requirement] = None
        else:
            raise InputError(_refusal(item))
    return StatedNeeds(rates=rates, required=tuple(required))


def _items(text: str) -> Iterator[str]:
    if text.endswith(".toml"):
        yield from _of_file(Path(text))
        return
    yield from (item.strip() for item in text.split(",") if item.strip())


def _of_file(path: Path) -> Iterator[str]:
    """``key = value``; a key alone is ``key = true``, and ``key = false`` is not stated."""
    try:
        table = tomllib.loads(read_plain(path).decode())
    except OSError as error:
        raise InputError(f"--needs {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"--needs {path} is no TOML: {one_line(str(error))}") from error
    for key, value in table.items():
        if value is True:
            yield key
        elif isinstance(value, str | int | float) and value is not False:
            yield f"{key} {value}"
        elif value is not False:
            raise InputError(f"--needs {path}: {one_line(key)} must be a text, a number or true")


def _resource(words: str) -> tuple[Resource, float] | None:
    if (bound := _BOUND.get(words.replace(" ", "-"))) is not None:
        return Resource.MEMORY, bound
    for resource in sorted(Resource, key=len, reverse=True):
        if resource is not Resource.MEMORY and words.startswith(f"{resource} "):
            value = _value(resource, words.removeprefix(f"{resource} "))
            return None if value is None else (resource, value)
    return None


def _value(resource: Resource, text: str) -> float | None:
    """A rate such as ``1000/s`` or ``10 MB/s``, or a part of the time such as ``20 %``."""
    pattern = _PERCENT if resource.unit == "1" else _RATE
    match = pattern.fullmatch(text)
    if match is None:
        return None
    try:
        number = float(match[1])
    except ValueError:
        return None
    if resource.unit == "1":
        return number / 100 if number <= 100 else None  # noqa: PLR2004 - per cent
    return number * _PREFIX[match[2]]


def _required(words: str) -> Required | None:
    plain = words.replace("-", " ").lower()
    for need in Need:
        if need in _VALUES and plain.startswith(f"{need} "):
            value = plain.removeprefix(f"{need} ")
            return Required(need=need, value=value) if value in _VALUES[need] else None
        if need not in _VALUES and plain == need:
            return Required(need=need)
    return None


def _refusal(item: str) -> str:
    resources = ", ".join(resource for resource in Resource if resource is not Resource.MEMORY)
    needs = ", ".join(f"{need} {'|'.join(_VALUES[need])}" if need in _VALUES else need for need in Need)
    return (
        f"--needs: {one_line(item)!r} is neither a resource with its rate ({resources}; memory-bound, compute-bound) "
        f"nor a requirement ({needs}); write such as {_EXAMPLE}"
    )
