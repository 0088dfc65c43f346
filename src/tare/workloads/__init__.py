# SPDX-License-Identifier: Apache-2.0
"""What runs: one file per kind of workload, and this one explicit list.

In: a kind's options and a node's shape. Out: an argv with its files, and later samples from its output.
Nothing here starts a process or writes a file.
"""

from tare.records import Workload
from tare.workloads.command import Command
from tare.workloads.fake import Fake
from tare.workloads.hpcc import Hpcc
from tare.workloads.kind import Piece, WorkloadKind
from tare.workloads.netpipe import Netpipe
from tare.workloads.npb import Npb
from tare.workloads.npb_reference import NpbReference
from tare.workloads.slices import COMPUTE, MEMORY, MESSAGES, OS

KINDS: dict[str, WorkloadKind] = {
    kind.name: kind
    for kind in (
        *(COMPUTE, MEMORY, OS, MESSAGES),
        *(Hpcc(), Netpipe(), Npb(), NpbReference(), Command(), Fake()),
    )
}


def pieces_of(workload: Workload) -> tuple[Piece, ...]:
    """What a workload's program does slice by slice; empty: it runs from start to end."""
    kind = KINDS[workload.kind]
    return kind.pieces(kind.options_model.model_validate(dict(workload.options)))


def primary_metrics(workload: Workload) -> tuple[str, ...]:
    """What a campaign declared, else all that its slices measure, else its kind's own."""
    slices = tuple(piece.metric for piece in pieces_of(workload))
    return workload.primary or slices or (KINDS[workload.kind].primary_metric,)
