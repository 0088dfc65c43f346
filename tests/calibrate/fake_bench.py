# SPDX-License-Identifier: Apache-2.0
"""A calibration that needs no root and takes seconds: fakes plant, and every phase has a block or a few."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tare.calibrate.bench import WORK, Bench
from tare.calibrate.phases.phase import Phase
from tare.calibrate.sizes import QUICK
from tare.environments.fake import Fake
from tare.environments.planted import Planting
from tare.nodes.provider import Node, NodeSpec, Provider
from tare.records import Gate, Workload
from tests.fake_campaign import Listener

TINY = replace(
    QUICK,
    name="tiny",
    noise_blocks=2,
    truth_blocks=10,
    redrawn_campaigns=200,
    drift_blocks=2,
    sequential_blocks=2,
    clock_blocks=1,
    clean_clocks=1,
    boot_blocks=2,
    iterations=2,
)


class PlantedFake(Planting, Fake):
    def begin(self, spec: NodeSpec) -> Node:
        return Fake.start(self, spec)


def planted_fakes(drift: float, first: int) -> Mapping[str, Provider]:
    return {"native": PlantedFake(drift, first), "chroot": PlantedFake()}


def fake_work(iterations: int) -> Workload:  # noqa: ARG001 - it has no work to repeat
    return Workload(name=WORK, kind="fake", options={"value": 1.0, "noise": 0.03})


FAKE_BENCH = Bench(planted=planted_fakes, work=fake_work, headline="time_s", real=False)


class Heard(Listener):
    """Remembers what a calibration tells too."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[tuple[str, bool]] = []
        self.gates: list[Gate] = []

    def phase(self, phases: Sequence[Phase], again: bool) -> None:
        self.begun += [(phase.name, again) for phase in phases]

    def judged(self, gates: Sequence[Gate]) -> None:
        self.gates += gates
