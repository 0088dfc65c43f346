# SPDX-License-Identifier: Apache-2.0
"""A glance at all arms about once a second, between two turns, so that its cost falls into no turn."""

import math
import time
from collections.abc import Sequence

from tare.measure.context import Context
from tare.measure.turns.player import Player

PAUSE_S = 1.0
"""Minimum time between two glances; whole trials have them equally often."""


class Glances:
    """Glances at the arms of one workload and block."""

    def __init__(self, context: Context, ready: Sequence[Player]) -> None:
        self._context, self._ready = context, ready
        self._last_s = -math.inf

    def between_turns(self) -> None:
        """Glance if it is time; call this whenever no arm has its turn."""
        if time.monotonic() - self._last_s < PAUSE_S:
            return
        self._context.tick()
        for player in self._ready:
            player.glance()
        self._last_s = time.monotonic()
