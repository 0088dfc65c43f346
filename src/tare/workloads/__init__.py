# SPDX-License-Identifier: Apache-2.0
"""What runs: one file per kind of workload, and this one explicit list.

In: a kind's options and a node's shape. Out: an argv with its files, and later samples from its output.
Nothing here starts a process or writes a file.
"""

from tare.workloads.command import Command
from tare.workloads.fake import Fake
from tare.workloads.hpcc import Hpcc
from tare.workloads.kind import WorkloadKind
from tare.workloads.netpipe import Netpipe
from tare.workloads.npb import Npb
from tare.workloads.npb_reference import NpbReference

KINDS: dict[str, WorkloadKind] = {
    kind.name: kind for kind in (Hpcc(), Netpipe(), Npb(), NpbReference(), Command(), Fake())
}
