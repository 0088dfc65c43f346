# SPDX-License-Identifier: Apache-2.0
"""A good campaign file, and small lists of environments and workloads to read it with."""

import json
from collections.abc import Mapping
from pathlib import Path

from tare.errors import InputError
from tare.nodes.provider import Node, NodeSpec, Probe, Provider
from tare.plan.campaign import Campaign, load_campaign
from tare.records import NetworkKind, Outcome, Sample, Status, Trial
from tare.workloads.kind import Job, Options, Output, Shape, WorkloadKind

PROCESSORS = 4
MEMORY_BYTE = 8 * 1024**3

GOOD = """\
# one of everything
name = "one-host"
seed = 7
blocks = { count = 12, margin = 0.02 }
budget = "30m"
layouts = ["1c2p1i", "1c2p2i"]

[limits]
memory = "1 GiB"
shm = "128 MiB"
cpu_quota = 1.5
time = "5m"

[[environment]]
technology = "docker"

[[environment]]
technology = "bottle"
name = "small-bottle"
cork = "tight"
stoppers = ["red", "blue"]

[[environment]]
technology = "native"
name = "no-op"

[[workload]]
name = "count"
steps = 30

[[workload]]
kind = "count"
name = "long-count"
steps = 90
"""


class StubProvider(Provider):
    networks = frozenset(NetworkKind)

    def __init__(self, technology: str, option_names: Mapping[str, str]) -> None:
        self.technology = technology
        self.option_names = option_names

    def probe(self) -> Probe:
        raise NotImplementedError

    def start(self, spec: NodeSpec) -> Node:
        raise NotImplementedError

    def prefix(self, node: Node) -> list[str]:
        raise NotImplementedError

    def stop(self, spec: NodeSpec) -> None:
        raise NotImplementedError


class CountOptions(Options):
    steps: int = 10
    known: bool = True
    label: str | None = None


class Count(WorkloadKind):
    """Takes a second for each step, says so unless ``known`` is false, and needs a mebibyte for each."""

    name = "count"
    options_model: type[Options] = CountOptions
    primary_metric = "wall_s"

    def expected_s(self, options: Options, shape: Shape) -> float | None:  # noqa: ARG002 - the protocol's
        assert isinstance(options, CountOptions)
        return float(options.steps) if options.known else None

    def job(self, options: Options, shape: Shape) -> Job:
        assert isinstance(options, CountOptions)
        if options.steps * 1024**2 > shape.memory_byte:
            raise InputError(f"{options.steps} steps do not fit into the memory; give fewer")
        return Job(argv=("count", str(options.steps)))

    def samples(self, options: Options, output: Output) -> list[Sample]:  # noqa: ARG002 - the protocol's
        return []

    def facts(self, options: Options, output: Output) -> dict[str, str]:  # noqa: ARG002 - the protocol's
        return {}


PROVIDERS: dict[str, Provider] = {
    "native": StubProvider("native", {}),
    "docker": StubProvider("docker", {}),
    "bottle": StubProvider("bottle", {"cork": "how tight", "stoppers": "which"}),
}
KINDS: dict[str, WorkloadKind] = {"count": Count()}


def load(path: Path, *, processors: int = PROCESSORS, memory_byte: int = MEMORY_BYTE) -> Campaign:
    return load_campaign(
        path, host_processors=processors, host_memory_byte=memory_byte, providers=PROVIDERS, kinds=KINDS
    )


def load_text(folder: Path, text: str, *, processors: int = PROCESSORS) -> Campaign:
    path = folder / "campaign.toml"
    path.write_text(text)
    return load(path, processors=processors)


def kept_and_read(campaign: Campaign) -> Campaign:
    data = json.loads(json.dumps(campaign.to_json()))
    return Campaign.from_json(data, "campaign.json", providers=PROVIDERS, kinds=KINDS)


def outcome(trial: Trial, elapsed_s: float, status: Status = Status.OK) -> Outcome:
    return Outcome(
        trial=trial,
        status=status,
        reason=None if status is Status.OK else "broken on purpose",
        excerpt=None,
        started_utc="2025-01-01T00:00:00Z",
        elapsed_s=elapsed_s,
        node_start_s=None,
        node_stop_s=None,
        barrier_skew_s=None,
        cpu_s=None,
        samples=(),
        instances=(),
        image_digest="",
    )
