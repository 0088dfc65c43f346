# SPDX-License-Identifier: Apache-2.0
"""Which compiled variant of a program runs: pinned equally in every arm, so that a guest's CPUID cannot change it.

In: the host's CPU flags and the flags that some environments' nodes lack. Out: a variant's name, and the reason in
words (docs/npb.md).
"""

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

PINNED = "pinned"
"""The best variant that the nodes of all environments can run."""
NATURAL = "natural"
"""The program chooses in the node, from the processor that the node shows."""
Lacking = Mapping[str, Collection[str]]
"""Environment of the campaign → the host's CPU flags that its nodes lack."""


def common_flags(cpu_flags: AbstractSet[str], lacking: Lacking) -> frozenset[str]:
    """The host's flags without flags that the nodes of any environment lack."""
    return frozenset(cpu_flags).difference(*lacking.values())


@dataclass(frozen=True, slots=True)
class Variants:
    """A program's variants, best first, each with the CPU flags (as in /proc/cpuinfo) that it needs."""

    needs: tuple[tuple[str, frozenset[str]], ...]

    @property
    def flags(self) -> frozenset[str]:
        """All flags on which the choice depends."""
        return frozenset[str]().union(*(needed for _, needed in self.needs))

    def best(self, cpu_flags: AbstractSet[str]) -> str | None:
        """The best variant that these flags allow; ``None`` when none is known to fit."""
        return next((name for name, needed in self.needs if needed <= cpu_flags), None)

    def told(self, cpu_flags: AbstractSet[str], lacking: Lacking) -> str:
        """Which variant is pinned and why, in words."""
        hosts, chosen = self.best(cpu_flags), self.best(common_flags(cpu_flags, lacking))
        name = chosen or "none is known to fit"
        if chosen == hosts:
            return f"{name}, by the host's processor"
        who = _lacks(self._needed_beyond(chosen) & cpu_flags, lacking)
        return f"{name} in every environment, not the host's {hosts}: {who}"

    def _needed_beyond(self, chosen: str | None) -> frozenset[str]:
        """The flags that variants better than this one need."""
        names = [name for name, _ in self.needs]
        better = self.needs if chosen is None else self.needs[: names.index(chosen)]
        return Variants(better).flags


def _lacks(needed: AbstractSet[str], lacking: Lacking) -> str:
    """Which environments lack which of these flags."""
    missing: dict[str, list[str]] = {}
    for name in sorted(lacking):
        if words := ", ".join(sorted(needed & set(lacking[name]))):
            missing.setdefault(words, []).append(name)
    return "; ".join(f"{', '.join(names)} without {words}" for words, names in missing.items())
