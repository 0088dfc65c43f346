# SPDX-License-Identifier: Apache-2.0
"""A glance at all arms about once a second, between two turns: what it costs falls into nobody's."""

import math
import time
from collections.abc import Sequence

from tare.measure.context import Context
from tare.measure.turns.player import Player

PAUSE_S = 1.0
"""Between two glances at least; whole trials have them as often."""


class Glances:
    """Of the arms of one workload and block."""

    def __init__(self, context: Context, ready: Sequence[Player]) -> None:
        self._context, self._ready = context, ready
        self._last_s = -math.inf

    def between_turns(self) -> None:
        """Call it while no arm has its turn, as often as that comes."""
        if time.monotonic() - self._last_s < PAUSE_S:
            return
        self._context.tick()
        for player in self._ready:
            player.glance()
        self._last_s = time.monotonic()
