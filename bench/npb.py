# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks of Tare beside binaries of the reference, in one run on one machine.

    python -m bench.npb REFERENCE [--kernels cg lu] [--classes S W A B] [--ranks 1 2 4] [--rounds 5]
                        [--other LABEL=FOLDER] [--threads 2] [--simd avx2]

REFERENCE is a folder with programs named as the reference names them (``cg.A.x``); ``--other`` adds more such
folders, such as the same sources with other flags, and ``--threads`` ours with so many in each rank; ``--simd`` holds
ours to the vector code of an older processor. Ours and theirs run in random order within a round, each rank of one
thread bound to a core. BT and SP run on square numbers of ranks only. The claims: no kernel slower than the
reference, the geometric mean 1.3 times as fast, and at most 1.1 times its memory.
"""

import argparse
import json
import math
import os
import random
import re
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tare.statistics.signed_rank import hodges_lehmann
from tare.units import MEBIBYTE
from tare.workloads.npb.problems import SQUARES, active_ranks

KERNELS = ("ep", "is", "cg", "mg", "ft", "lu", "bt", "sp")
LEVEL = 0.95
LEAST, LEAST_MEAN, MOST_MEMORY = 1.0, 1.3, 1.1
LIMIT_S = 1800
PROGRAMS = Path(__file__).resolve().parent.parent / "build" / "native" / "bin"
_RATE = re.compile(r"Mop/s total\s*=\s*([0-9.eE+]+)")
_VERIFIED = re.compile(r"Verification\s*=\s*SUCCESSFUL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of the table."""

    kernel: str
    problem_class: str
    ranks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One verified run."""

    million_operations_per_s: float
    rank_byte: int
    """The largest rank's resident memory at its peak; this process's own where no rank needs more."""


@dataclass(frozen=True, slots=True)
class Program:
    """What is started, and how many processors each rank of it needs."""

    argv: Sequence[str]
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Programs:
    """Whose programs are compared: ours, those in folders, and perhaps ours with threads."""

    folders: Mapping[str, Path]
    threads: int | None
    simd: str | None = None
    """The vector code of ours; ``None``: the widest."""

    @property
    def labels(self) -> list[str]:
        """All but ours."""
        return [*self.folders, *([] if self.threads is None else [f"{self.threads} threads"])]

    def of(self, case: Case) -> dict[str, Program]:
        ours = [str(PROGRAMS / f"npb-{case.kernel}"), "--class", case.problem_class, "--json"]
        ours += ["--simd", self.simd] if self.simd else []
        programs = {"ours": Program(ours)}
        for label, folder in self.folders.items():
            programs[label] = Program([str(folder / f"{case.kernel}.{case.problem_class}.x")])
        if self.threads is not None:
            programs[self.labels[-1]] = Program([*ours, "--threads", str(self.threads)], self.threads)
        return programs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reference", type=Path)
    parser.add_argument("--other", action="append", default=[], metavar="LABEL=FOLDER")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--simd", choices=("plain", "avx2", "avx512"))
    parser.add_argument("--kernels", nargs="*", default=KERNELS, choices=KERNELS)
    parser.add_argument("--classes", nargs="*", default=["S", "W", "A", "B"])
    parser.add_argument("--ranks", nargs="*", type=int, default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    folders = {"reference": chosen.reference}
    folders |= {label: Path(folder) for label, _, folder in (text.partition("=") for text in chosen.other)}
    cases = [
        Case(kernel=kernel, problem_class=name, ranks=ranks)
        for name in chosen.classes
        for kernel in chosen.kernels
        for ranks in chosen.ranks
        if fits(kernel, ranks)
    ]
    return 0 if compare(cases, Programs(folders, chosen.threads, chosen.simd), chosen.rounds) else 1


def fits(kernel: str, ranks: int) -> bool:
    """Squares for BT and SP, and as many ranks as there are processors for the others."""
    if kernel in SQUARES:
        return active_ranks(kernel, ranks) == ranks
    return ranks <= (os.cpu_count() or 1)


def compare(cases: Sequence[Case], programs: Programs, rounds: int) -> bool:
    """Print a row for each case as soon as it is measured, then what the claims come to; whether they hold."""
    print(heading(programs.labels))
    ratios: dict[Case, float] = {}
    memory: dict[Case, float] = {}
    for case in cases:
        runs = measured(case, programs.of(case), rounds)
        ratios[case] = ratio_of(runs["ours"], runs["reference"])
        if min(map(largest_byte, (runs["ours"], runs["reference"]))) > own_byte():
            memory[case] = largest_byte(runs["ours"]) / largest_byte(runs["reference"])
        print(row(case, runs), flush=True)
    return claims_hold(ratios, memory)


def measured(case: Case, programs: Mapping[str, Program], rounds: int) -> dict[str, list[Run]]:
    """All programs once in each round, in random order; the first round warms up and is not kept."""
    runs: dict[str, list[Run]] = {label: [] for label in programs}
    for number in range(rounds + 1):
        for label in random.sample(sorted(programs), len(programs)):
            done = run_once(programs[label], case.ranks)
            if number > 0:
                runs[label].append(done)
    return runs


def run_once(program: Program, ranks: int) -> Run:
    """Raise ``SystemExit`` with what it said when a run is not verified."""
    bound = program.threads == 1 and ranks <= (os.cpu_count() or 1)
    bind = ["--bind-to", "core"] if bound else ["--bind-to", "none", "--oversubscribe"]
    argv = ["mpirun", "--allow-run-as-root", *bind, "-np", str(ranks), *program.argv]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        said = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    rate = rate_of(said)
    if process.returncode or rate is None:
        sys.exit(f"{' '.join(argv)}: exit code {process.returncode}, not verified:\n{said[-2000:]}")
    return Run(million_operations_per_s=rate, rank_byte=usage.ru_maxrss * 1024)


def rate_of(said: str) -> float | None:
    if said.lstrip().startswith("{"):
        line = json.loads(said)
        return line["million_operations_per_s"] if line["verification"] == "SUCCESSFUL" else None
    match = _RATE.search(said)
    return float(match[1]) if match and _VERIFIED.search(said) else None


def log_ratios(ours: Sequence[Run], theirs: Sequence[Run]) -> list[float]:
    return [
        math.log(mine.million_operations_per_s / other.million_operations_per_s)
        for mine, other in zip(ours, theirs, strict=True)
    ]


def ratio_of(ours: Sequence[Run], theirs: Sequence[Run]) -> float:
    """The ratio of the median rates."""
    return middle(ours) / middle(theirs)


def middle(runs: Sequence[Run]) -> float:
    return statistics.median(run.million_operations_per_s for run in runs)


def best(runs: Sequence[Run]) -> float:
    return max(run.million_operations_per_s for run in runs)


def largest_byte(runs: Sequence[Run]) -> int:
    return max(run.rank_byte for run in runs)


def own_byte() -> int:
    """A child counts the memory of this process, whose copy it began as, as its own: less than that is not seen."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + MEBIBYTE


def size(runs: Sequence[Run]) -> str:
    """In MiB."""
    seen = largest_byte(runs)
    return f"{seen / MEBIBYTE:.0f}" if seen > own_byte() else f"under {own_byte() / MEBIBYTE:.0f}"


def heading(labels: Sequence[str]) -> str:
    columns = ["kernel", "class", "ranks", "Mop/s, ours: median (best)"]
    for label in labels:
        columns += [f"{label}: median (best)", f"ours / {label}"]
    columns += ["MiB of a rank: ours / reference"]
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"


def row(case: Case, runs: dict[str, list[Run]]) -> str:
    ours = runs["ours"]
    cells = [case.kernel.upper(), case.problem_class, str(case.ranks), rates(ours)]
    for label in (label for label in runs if label != "ours"):
        cells += [rates(runs[label]), interval(ours, runs[label])]
    cells.append(" / ".join(size(runs[label]) for label in ("ours", "reference")))
    return f"| {' | '.join(cells)} |"


def rates(runs: Sequence[Run]) -> str:
    return f"{middle(runs):.0f} ({best(runs):.0f}, n = {len(runs)})"


def interval(ours: Sequence[Run], theirs: Sequence[Run]) -> str:
    """The ratio of medians; with six rounds or more the interval of the paired ratios too."""
    text = f"{ratio_of(ours, theirs):.2f}"
    estimate = hodges_lehmann(log_ratios(ours, theirs), LEVEL)
    return (
        text
        if estimate.low is None or estimate.high is None
        else f"{text} [{math.exp(estimate.low):.2f} to {math.exp(estimate.high):.2f}]"
    )


def claims_hold(ratios: dict[Case, float], memory: dict[Case, float]) -> bool:
    held = [said(line, holds=holds) for line, holds in claims(ratios, memory)]
    return all(held)


def claims(ratios: dict[Case, float], memory: dict[Case, float]) -> Iterator[tuple[str, bool]]:
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
    yield f"geometric mean of {len(ratios)} ratios {mean:.2f}, claimed {LEAST_MEAN}", mean >= LEAST_MEAN
    slow, ratio = min(ratios.items(), key=lambda pair: pair[1])
    yield f"least ratio {ratio:.2f} ({told(slow)}), claimed {LEAST}", ratio >= LEAST
    if not memory:
        return
    large, share = max(memory.items(), key=lambda pair: pair[1])
    yield f"most memory {share:.2f} times ({told(large)}), claimed {MOST_MEMORY}", share <= MOST_MEMORY


def told(case: Case) -> str:
    return f"{case.kernel.upper()} {case.problem_class} on {case.ranks}"


def said(line: str, *, holds: bool) -> bool:
    print(f"\n{'holds' if holds else 'DOES NOT HOLD'}: {line}")
    return holds


if __name__ == "__main__":
    sys.exit(main())
