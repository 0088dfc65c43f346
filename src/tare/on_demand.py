# SPDX-License-Identifier: Apache-2.0
"""A registry whose modules are loaded on access: few commands need them all."""

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import TypeVar

Thing = TypeVar("Thing")


class OnDemand(MutableMapping[str, Thing]):
    """Name → thing, made once. Testing for a name, or listing all names, loads nothing.

    Items that are set, such as fakes, add to the places or override one of the same name.
    """

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        """``places``: name → ``module:attribute`` in ``package``; a class is instantiated."""
        self._package = package
        self._places = dict(places)
        self._made: dict[str, Thing] = {}

    def __getitem__(self, name: str) -> Thing:
        if name not in self._made:
            module, attribute = self._places[name].split(":")
            thing = getattr(import_module(f"{self._package}.{module}"), attribute)
            self._made[name] = thing() if isinstance(thing, type) else thing
        return self._made[name]

    def __setitem__(self, name: str, thing: Thing) -> None:
        self._places.setdefault(name, "")
        self._made[name] = thing

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._made.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
