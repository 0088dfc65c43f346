# SPDX-License-Identifier: Apache-2.0
"""hpcc's summary: figures, by a table of its key → our name, unit, factor to SI and direction; and facts."""

from collections.abc import Mapping
from dataclasses import dataclass

from tare.records import Direction
from tare.untrusted import whole
from tare.workloads import excerpt

MISSING = -1.0
"""hpcc's mark for a figure that it did not measure, such as a ping-pong of one rank."""


@dataclass(frozen=True, slots=True)
class HpccMetric:
    """One figure of the summary; ``factor`` converts hpcc's value to ``unit``."""

    key: str
    name: str
    unit: str
    factor: float
    direction: Direction


def _rate(key: str, name: str, unit: str, factor: float = 1e9) -> HpccMetric:
    return HpccMetric(key, name, unit, factor, Direction.MORE)


def _latency(key: str, name: str) -> HpccMetric:
    return HpccMetric(key, name, "s", 1e-6, Direction.LESS)


def _stream() -> tuple[HpccMetric, ...]:
    return tuple(
        _rate(f"{mode}STREAM_{kernel}", f"stream_{kernel.lower()}_{mode.lower()}_byte_per_s", "B/s")
        for mode in ("Star", "Single")
        for kernel in ("Copy", "Scale", "Add", "Triad")
    )


def _random_access() -> tuple[HpccMetric, ...]:
    return tuple(
        _rate(
            f"{mode}RandomAccess{generator}_GUPs",
            f"random_access{generator.lower()}_{mode.lower()}_update_per_s",
            "updates/s",
        )
        for generator in ("", "_LCG")
        for mode in ("MPI", "Star", "Single")
    )


METRICS: tuple[HpccMetric, ...] = (
    _rate("HPL_Tflops", "hpl_flop_per_s", "flop/s", 1e12),
    _rate("StarDGEMM_Gflops", "dgemm_star_flop_per_s", "flop/s"),
    _rate("SingleDGEMM_Gflops", "dgemm_single_flop_per_s", "flop/s"),
    _rate("PTRANS_GBs", "ptrans_byte_per_s", "B/s"),
    *_stream(),
    *_random_access(),
    _rate("MPIFFT_Gflops", "fft_mpi_flop_per_s", "flop/s"),
    _rate("StarFFT_Gflops", "fft_star_flop_per_s", "flop/s"),
    _rate("SingleFFT_Gflops", "fft_single_flop_per_s", "flop/s"),
    _latency("MinPingPongLatency_usec", "ping_pong_minimum_latency_s"),
    _latency("AvgPingPongLatency_usec", "ping_pong_average_latency_s"),
    _latency("MaxPingPongLatency_usec", "ping_pong_maximum_latency_s"),
    _latency("NaturallyOrderedRingLatency_usec", "natural_ring_latency_s"),
    _latency("RandomlyOrderedRingLatency_usec", "random_ring_latency_s"),
    _rate("MinPingPongBandwidth_GBytes", "ping_pong_minimum_bandwidth_byte_per_s", "B/s"),
    _rate("AvgPingPongBandwidth_GBytes", "ping_pong_average_bandwidth_byte_per_s", "B/s"),
    _rate("MaxPingPongBandwidth_GBytes", "ping_pong_maximum_bandwidth_byte_per_s", "B/s"),
    _rate("NaturallyOrderedRingBandwidth_GBytes", "natural_ring_bandwidth_byte_per_s", "B/s"),
    _rate("RandomlyOrderedRingBandwidth_GBytes", "random_ring_bandwidth_byte_per_s", "B/s"),
)


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
    """Label the facts in the summary; an absent key gives no fact."""
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
