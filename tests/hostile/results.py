# SPDX-License-Identifier: Apache-2.0
"""Results of small campaigns of every kind, measured with fakes, for attacks on whoever reads them."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tare.image.store import install
from tare.measure.campaign import measure_campaign
from tare.nodes.provider import TOOLS_DIRECTORY
from tare.plan.campaign import Campaign, load_campaign
from tare.records import Exclude, OptionValue, Way, Workload
from tests.conftest import BUILD
from tests.fake_campaign import Listener, fake_campaign, fake_environment, fake_request, fake_workload

_SHARING = """\
name = "shared"
blocks = 6
seed = 1

[limits]
memory = "256 MiB"
shm = "1 MiB"
time = "20s"

[[environment]]
technology = "fake"
slowdown = 0.1

[[workload]]
kind = "fake"
name = "work"
noise = 0.002

[[sharing]]
alone = "1c1p1i"
together = ["1c2p2i"]
"""


def plain() -> Campaign:
    return fake_campaign(
        fake_environment(slowdown=0.2), fake_environment("same"), workload=fake_workload(curve=6), blocks=7
    )


def sliced() -> Campaign:
    """Its environments take turns by slices."""
    options: dict[str, OptionValue] = {"slices": True, "noise": 0.02}
    return fake_campaign(workload=Workload(name="work", kind="fake", options=options, way=Way.SLICES))


def campaigns(folder: Path) -> Iterator[Campaign]:
    """Curves, iterations, instances, slices, and what shares a machine."""
    yield plain()
    yield fake_campaign(workload=replace(fake_workload(), iterations=3), layout="2c1p2i")
    yield sliced()
    path = folder / "sharing.toml"
    path.write_text(_SHARING)
    shared = load_campaign(path, host_processors=2, host_memory_byte=1 << 32)
    yield replace(shared, exclude=Exclude(foreign_load=None))


def measured(campaign: Campaign, folder: Path) -> Path:
    """The result folder; ``TARE_STATE`` has to name a state folder with an image."""
    measure_campaign(fake_request(campaign, folder), Listener())
    return folder


def install_programs(state: Path) -> None:
    """An image of Tare's own programs alone, in the state folder that ``TARE_STATE`` names from now on."""
    os.environ["TARE_STATE"] = str(state)
    staged = state / "images" / ".staged"
    shutil.copytree(BUILD / "bin", staged / "rootfs" / TOOLS_DIRECTORY.lstrip("/"))
    install(staged, "default", {"packages": {}, "source": {"kind": "test"}})
