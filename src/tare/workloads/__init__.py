# SPDX-License-Identifier: Apache-2.0
"""What runs: one file per kind of workload, and this one explicit list.

In: a kind's options and a node's shape. Out: an argv with its files, and later samples from its output.
Nothing here starts a process or writes a file.
"""

from collections.abc import Mapping

from tare.on_demand import OnDemand
from tare.records import Range, Workload
from tare.workloads.kind import Piece, Scan, Shape, WorkloadKind
from tare.workloads.part_used import part_used

KINDS: Mapping[str, WorkloadKind] = OnDemand(
    __name__,
    {
        "compute": "slices:COMPUTE",
        "memory": "memory:MEMORY",
        "os": "operations:OS",
        "messages": "slices:MESSAGES",
        "hpcc": "hpcc:Hpcc",
        "hpl": "hpl:Hpl",
        "hpcg": "hpcg:Hpcg",
        "netpipe": "netpipe:Netpipe",
        "mpiio": "mpiio:Mpiio",
        "collective": "collective:Collective",
        "imb": "imb:Imb",
        "osu": "osu:Osu",
        "npb": "npb:Npb",
        "npb-reference": "npb_reference:NpbReference",
        "files": "files:FioFiles",
        "iozone": "iozone:Iozone",
        "iperf3": "iperf3:Iperf3",
        "sockperf": "sockperf:Sockperf",
        "connections": "connections:Connections",
        "command": "command:AnyCommand",
        "fake": "fake:FakeWorkload",
    },
)


def pieces_of(workload: Workload, kinds: Mapping[str, WorkloadKind] = KINDS) -> tuple[Piece, ...]:
    """The pieces that a workload's program does in slices; empty: it runs from start to end."""
    kind = kinds[workload.kind]
    return kind.pieces(kind.options_model.model_validate(dict(workload.options)))


def primary_metrics(workload: Workload, kinds: Mapping[str, WorkloadKind] = KINDS) -> tuple[str, ...]:
    """The campaign's declared metrics, else the metrics of its slices or its kind, and of its ranges.

    A kind with ranges has its primary metric among them, if the options leave that one.
    """
    pieces = pieces_of(workload, kinds)
    figures = [piece.metric for piece in pieces if not piece.coordinates]
    joined = [each.name for each in ranges_of(workload, kinds)]
    own = figures or (
        [] if pieces or _usual_ranges(workload, kinds) else [kinds[workload.kind].primary_metric]
    )
    return workload.primary or tuple(dict.fromkeys((*own, *joined)))


def ranges_of(workload: Workload, kinds: Mapping[str, WorkloadKind] = KINDS) -> tuple[Range, ...]:
    """The figures over ranges of its curves: the kind's, then the campaign's, which replace those of their name."""
    usual = _usual_ranges(workload, kinds)
    return tuple({each.name: each for each in (*usual, *workload.ranges)}.values())


def scan_of(
    workload: Workload, shape: Shape, kinds: Mapping[str, WorkloadKind] = KINDS
) -> tuple[Scan | None, int]:
    """What native runs are to choose for an instance of this shape, and how many processors it uses."""
    kind = kinds[workload.kind]
    options = kind.options_model.model_validate(dict(workload.options))
    used = part_used(options, shape)
    return kind.scan(options, used), used.processors


def _usual_ranges(workload: Workload, kinds: Mapping[str, WorkloadKind]) -> tuple[Range, ...]:
    kind = kinds[workload.kind]
    return kind.ranges(kind.options_model.model_validate(dict(workload.options)))
