# SPDX-License-Identifier: Apache-2.0
"""An audience for benchmarks: keeps stamps, says nothing."""

import secrets
import time

from tare.host.paths import nodes_directory
from tare.image.store import Image
from tare.nodes.provider import NodeSpec
from tare.plan.budget import BudgetPlan
from tare.records import HostLoad, Outcome, Trial


class Quiet:
    """Remembers when each trial ended, and the CPU time between the second and the eighth tick of each."""

    FIRST_TICK, LAST_TICK = 1, 9

    def __init__(self) -> None:
        self.ends: list[tuple[float, Outcome]] = []
        self.waiting_cpu_s: list[float] = []
        self._ticks = 0
        self._cpu_begun_s = 0.0

    def says(self, words: str, *, detail: bool = False) -> None:
        """Nobody listens."""

    def meets(self, load: HostLoad) -> None:
        """Nobody listens."""

    def plans(self, plan: BudgetPlan) -> None:
        """Nobody listens."""

    def begins(self, trial: Trial) -> None:
        self._ticks = 0

    def ended(self, outcome: Outcome) -> None:
        self.ends.append((time.perf_counter(), outcome))

    def stops(self, words: str, spared_trials: int) -> None:
        """Nothing is shown."""

    def tick(self) -> None:
        self._ticks += 1
        if self._ticks == self.FIRST_TICK:
            self._cpu_begun_s = time.process_time()
        elif self._ticks == self.LAST_TICK:
            per_second = (time.process_time() - self._cpu_begun_s) / (self.LAST_TICK - self.FIRST_TICK)
            self.waiting_cpu_s.append(per_second * 10)

    @staticmethod
    def spec(technology: str, image: Image, processors: tuple[int, ...]) -> NodeSpec:
        name = f"tare-bench-{secrets.token_hex(4)}"
        return NodeSpec(
            name=name,
            technology=technology,
            options={},
            directory=nodes_directory() / name,
            image_root=image.root,
            image_digest=image.digest,
            processors=processors,
            memory_byte=1 << 28,
            shm_byte=1 << 20,
            cpu_quota=None,
        )
