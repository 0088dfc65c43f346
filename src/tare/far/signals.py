# SPDX-License-Identifier: Apache-2.0
"""The signals of a node and its host, read here between two questions (``tare.signals``)."""

from dataclasses import asdict, replace
from typing import Any

from tare.nodes.provider import Node, NodeGroup
from tare.signals import FAMILIES
from tare.signals.place import place_of
from tare.signals.used import used_between
from tare.signals.watch import SignalWatch


class SignalsHere:
    """From the construction to ``end``; a construction takes the first look."""

    def __init__(self, node: Node, group: NodeGroup | None, processors: tuple[int, ...]) -> None:
        """``processors``: those of all the trial's nodes here, as one of them reads for the whole host."""
        place = place_of([node], [] if group is None else [group])
        self._watch = SignalWatch(replace(place, processors=processors), FAMILIES)
        self._group = group
        self._node_s = self._now_s()
        self._watch.begin()

    def glance(self) -> None:
        self._watch.glance()

    def end(self) -> dict[str, Any]:
        """Look again, release everything, and say what happened in between."""
        try:
            self._watch.end()
            after_s = self._now_s()
            used_s = None if self._node_s is None or after_s is None else after_s - self._node_s
            return {**self._said(), "node_s": used_s}
        finally:
            self._watch.close()

    def _said(self) -> dict[str, Any]:
        found = self._watch.found()
        before, after = self._watch.looks()
        return {
            "signals": [asdict(signal) for signal in found.signals],
            "missing": found.missing,
            "span_s": self._watch.span_s,
            "used_s": used_between(self._watch),
            "own_s": after.runner_cpu_s - before.runner_cpu_s,
        }

    def _now_s(self) -> float | None:
        return None if self._group is None else self._group.cpu_s()
