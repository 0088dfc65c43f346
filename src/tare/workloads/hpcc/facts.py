# SPDX-License-Identifier: Apache-2.0
"""Evidence from hpcc's summary: what was solved, on what grid, and whether a test was cut."""

from collections.abc import Mapping

from tare.untrusted import whole
from tare.workloads import excerpt

_LABELS = {
    "hpl problem size": "HPL_N",
    "hpl block size": "HPL_NB",
    "hpcc ranks": "CommWorldProcs",
    "stream vector words": "STREAM_VectorSize",
    "fft vector words": "FFT_N",
    "dgemm size": "DGEMM_N",
    "random access table words": "MPIRandomAccess_N",
}
UPDATES_PER_WORD = 4
"""RandomAccess updates each word four times unless its time bound cuts it."""


def run_facts(summary: Mapping[str, str]) -> dict[str, str]:
    """Label what the summary holds; a key that is absent gives no fact."""
    facts = {label: summary[key] for label, key in _LABELS.items() if key in summary}
    if "HPL_nprow" in summary and "HPL_npcol" in summary:
        facts["hpl grid"] = f"{summary['HPL_nprow']} x {summary['HPL_npcol']}"
    version = [summary.get(f"Version{part}") for part in ("Major", "Minor", "Micro")]
    if all(version):
        facts["hpcc version"] = ".".join(map(str, version)) + summary.get("VersionRelease", "")
    for test in ("MPIRandomAccess", "MPIRandomAccess_LCG"):
        if share := _share_cut(summary, test):
            facts[f"{test} cut by its time bound"] = share
    return {label: excerpt.printable(value) for label, value in facts.items()}


def _share_cut(summary: Mapping[str, str], test: str) -> str | None:
    try:
        executed, words = (whole(summary.get(f"{test}_{key}", "")) for key in ("ExeUpdates", "N"))
    except ValueError:
        return None
    wanted = UPDATES_PER_WORD * words
    return f"{executed} of {wanted} updates" if 0 <= executed < wanted else None
