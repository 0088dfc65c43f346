# SPDX-License-Identifier: Apache-2.0
"""MPI by the verbs of InfiniBand and RoCE: the settings of Open MPI's UCX transport, and its report of what it used.

TCP is not among what UCX may use, so a job either sends between its nodes by verbs, in every arm, or does not start.
Sources of the names: UCX's documentation of UCX_TLS, and ompi_info(1).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

SETTINGS: Mapping[str, str] = {
    "pml": "ucx",
    "osc": "ucx,sm",
    "opal_common_ucx_tls": "any",
    "opal_common_ucx_devices": "any",
}
"""Of Open MPI 4, which by itself takes UCX only with adapters of one maker."""
_BY_COPY: Mapping[str, str] = {"natural": "sm", "none": "posix,sysv", "cma": "posix,sysv,cma"}
"""How large messages cross within a node (``workloads.mpi.SingleCopy``) → UCX's transports there."""
_LINE = r"^\[[0-9.]{1,32}\] \[([^:\]\n]{1,64}):[^\]\n]{1,32}\][ ]+\S+[ ]+UCX  (?:INFO|DIAG|WARN) "
"""Of UCX's log. A command may print anything: no part of a line is tried twice, and none is long."""
_CHATTER = re.compile(rf"{_LINE}.*\n?", re.MULTILINE)
_USED = re.compile(rf"{_LINE}[^\n]{{0,80}}?\btag\(([^()\n]{{0,400}})\)", re.MULTILINE)
_UNREACHED = re.compile(r"UCX  ERROR +no (?:active messages transport to|usable transports)")
_TO_ITSELF = "self"
_WITHIN = frozenset({"sysv", "posix", "cma", "knem", "xpmem"})


def variables(single_copy: str) -> dict[str, str]:
    """Of every process: what UCX may use, and that it reports what it does on standard error."""
    return {
        "UCX_TLS": f"{_TO_ITSELF},{_BY_COPY[single_copy]},ib",
        "UCX_LOG_LEVEL": "info",
        "UCX_LOG_FILE": "stderr",
    }


def carriers(stderr: str) -> list[str]:
    """What UCX sent messages by, such as "verbs (rc_mlx5 on mlx5_0:1)"; empty where it reported nothing."""
    ways = _ways(stderr)
    within = ["shared memory"] if any(memory for _, memory, _ in ways) else []
    return within + sorted({_said(verbs) for _, _, verbs in ways if verbs})


def paths(stderr: str) -> tuple[list[str], str]:
    """What carried messages within and between nodes, and by what some hosts' processes differ from most; or nothing.

    UCX says what a process uses, and not for which other one: whatever has no part in a node's memory is between nodes.
    """
    ways = _ways(stderr)
    within = sorted({_within(verbs) for _, memory, verbs in ways if memory})
    between = {(name, _said(verbs)): None for name, memory, verbs in ways if verbs and not memory}
    parts = [f"within a node: {' or '.join(within)}"] if within else []
    if not between:
        return parts, ""
    usual, _ = Counter(carrier for _, carrier in between).most_common(1)[0]
    others = [f"{name}: {carrier}" for name, carrier in between if carrier != usual]
    differ = f"{'; '.join(others)}, where most use {usual}" if others else ""
    return [*parts, f"between nodes: {usual}", *others], differ


def obstacle(stderr: str) -> str | None:
    """Why no verbs lead to another node, with what to look at; ``None`` where UCX does not say that."""
    if _UNREACHED.search(stderr) is None:
        return None
    return (
        "UCX reaches another node by no verbs: see that a port is active (tare doctor, fabrics), that the image has "
        "the adapter's library (ibverbs-providers), and for RoCE that the nodes have their hosts' network"
    )


def without_chatter(stderr: str) -> str:
    """Remove UCX's report."""
    return _CHATTER.sub("", stderr)


def _ways(stderr: str) -> list[tuple[str, list[str], list[str]]]:
    """For each way of a process to others: its host's name, and the transports by a node's memory and by verbs."""
    ways = [(name, used.split()) for name, used in _USED.findall(stderr)]
    return [
        (name, *_parted(used))
        for name, used in ways
        if not any(each.startswith(f"{_TO_ITSELF}/") for each in used)
    ]


def _parted(used: Iterable[str]) -> tuple[list[str], list[str]]:
    memory: list[str] = []
    verbs: list[str] = []
    for each in used:
        (memory if each.partition("/")[0] in _WITHIN else verbs).append(each)
    return memory, verbs


def _within(verbs: Sequence[str]) -> str:
    """An adapter may carry a share of large messages within a node too."""
    return f"shared memory and {_said(verbs)}" if verbs else "shared memory"


def _said(verbs: Iterable[str]) -> str:
    return f"verbs ({', '.join(each.replace('/', ' on ', 1) for each in verbs)})"
