# SPDX-License-Identifier: Apache-2.0
"""MPI by the verbs of InfiniBand and RoCE: the settings of Open MPI's UCX transport, and its report of what it used.

TCP is not among what UCX may use, so a job either sends between its nodes by verbs, in every arm, or does not start.
Source of the names: UCX's documentation of UCX_TLS, and ompi_info(1).
"""

import re
from collections.abc import Iterable, Iterator, Mapping

SETTINGS: Mapping[str, str] = {
    "pml": "ucx",
    "osc": "ucx,sm",
    "opal_common_ucx_tls": "any",
    "opal_common_ucx_devices": "any",
}
"""Of Open MPI 4, which by itself takes UCX only with adapters of one maker."""
SHARED_MEMORY = "shared memory"
_BY_COPY: Mapping[str, str] = {"natural": "sm", "none": "posix,sysv", "cma": "posix,sysv,cma"}
"""How large messages cross within a node (``workloads.mpi.SingleCopy``) → UCX's transports there."""
_LINE = r"^\[[0-9.]+\] \[[^\]\n]*\] .*UCX  (?:INFO|WARN) "
_CHATTER = re.compile(rf"{_LINE}.*\n?", re.MULTILINE)
_USED = re.compile(rf"{_LINE}.*\btag\(([^)\n]*)\)", re.MULTILINE)
_WITHIN = frozenset({"self", "sysv", "posix", "cma", "knem", "xpmem"})


def variables(single_copy: str) -> dict[str, str]:
    """Of every process: what UCX may use, and that it reports what it does on standard error."""
    return {
        "UCX_TLS": f"self,{_BY_COPY[single_copy]},ib",
        "UCX_LOG_LEVEL": "info",
        "UCX_LOG_FILE": "stderr",
    }


def carriers(stderr: str) -> list[str]:
    """What UCX sent messages by, in words, such as "verbs (rc_mlx5 on mlx5_0:1)"; empty where it reported nothing."""
    return sorted({words for used in _USED.findall(stderr) for words in _said(used.split())})


def _said(used: Iterable[str]) -> Iterator[str]:
    """Words for each transport and device of one list; a process's messages to itself are no transport."""
    for each in used:
        transport, _, device = each.partition("/")
        if transport not in _WITHIN:
            yield f"verbs ({transport} on {device})" if device else f"verbs ({transport})"
        elif transport != "self":
            yield SHARED_MEMORY


def without_chatter(stderr: str) -> str:
    """Remove UCX's report."""
    return _CHATTER.sub("", stderr)
