# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks of Tare beside binaries of the reference, in one run on one machine.

    python -m bench.npb REFERENCE [--avx2 REFERENCE] [--kernels cg lu] [--classes S W A B] [--ranks 1 2 4] [--rounds 5]
                        [--warm-ups 1] [--simd avx512 avx2] [--other LABEL=FOLDER] [--threads 2]

REFERENCE is a folder with programs named as the reference names them (``cg.A.x``), and ``--avx2`` one of the same
compiled for AVX2; docs/npb.md has how both are made, and the bench says where a program's own words differ from that.
``--other`` adds more such folders, ``--threads`` ours with so many in each rank. Each vector code of this processor
has a ratio and claims of its own, as one of AVX-512 holds on no processor without it; ``--simd`` chooses. Ours and
theirs run in random order within a round, each rank of one thread bound to a core. BT and SP run on square numbers of
ranks only. The claims: no kernel slower than the reference, the geometric mean 1.3 times as fast, and at most 1.1 times
its memory.
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

from tare.host.facts import cpu_flags
from tare.statistics.signed_rank import hodges_lehmann
from tare.units import MEBIBYTE
from tare.workloads.npb import VARIANTS
from tare.workloads.npb.problems import SQUARES, active_ranks

KERNELS = ("ep", "is", "cg", "mg", "ft", "lu", "bt", "sp")
LEVEL = 0.95
LEAST, LEAST_MEAN, MOST_MEMORY = 1.0, 1.3, 1.1
LIMIT_S = 1800
PROGRAMS = Path(__file__).resolve().parent.parent / "build" / "native" / "bin"
WIDEST = ("avx512", "avx2", "plain")
"""Vector codes, from the widest on."""
FORTRAN = "-fallow-argument-mismatch -fallow-invalid-boz"
"""What gfortran since version 10 needs for these sources."""
FLAGS = {"avx512": "-O3 -march=native", "avx2": "-O3 -march=x86-64-v3"}
"""Of the reference beside ours of each vector code: docs/npb.md. The second is what ours of AVX2 is compiled for."""
RANDOM = "randi8"
"""Its generator of random numbers in 64-bit integers."""
NONE = "(none)"
"""What a kernel without random numbers says of their generator."""
_OPTION = re.compile(r"^ +(FFLAGS|CFLAGS|RAND) *= (.*?)(\.\.\.)?$", re.MULTILINE)
"""What a program of the reference says that it was made with; what is too long for the line is cut."""
_RATE = re.compile(r"Mop/s total\s*=\s*([0-9.eE+]+)")
_VERIFIED = re.compile(r"Verification\s*=\s*SUCCESSFUL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row of the table."""

    kernel: str
    problem_class: str
    ranks: int


@dataclass(frozen=True, slots=True)
class Rounds:
    """How often each program runs, and how often before that to warm up, which long runs do by themselves."""

    kept: int
    warm_ups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One verified run."""

    million_operations_per_s: float
    rank_byte: int
    """The largest rank's resident memory at its peak; this process's own where no rank needs more."""
    said: str


@dataclass(frozen=True, slots=True)
class Program:
    """What is started, and how many processors each rank of it needs."""

    argv: Sequence[str]
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Programs:
    """Whose programs are compared: ours of each vector code, those in folders, and perhaps ours with threads."""

    folders: Mapping[str, Path]
    threads: int | None
    codes: Sequence[str]

    def reference(self, code: str) -> str:
        """The label of what ours of a vector code is compared with."""
        return "reference, AVX2" if code == "avx2" and "reference, AVX2" in self.folders else "reference"

    @property
    def labels(self) -> list[str]:
        """All but ours."""
        return [*self.folders, *([] if self.threads is None else [f"{self.threads} threads"])]

    def of(self, case: Case) -> dict[str, Program]:
        ours = [str(PROGRAMS / f"npb-{case.kernel}"), "--class", case.problem_class, "--json"]
        programs = {code: Program([*ours, "--simd", code]) for code in self.codes}
        for label, folder in self.folders.items():
            programs[label] = Program([str(folder / f"{case.kernel}.{case.problem_class}.x")])
        if self.threads is not None:
            hybrid = [*ours, "--simd", self.codes[0], "--threads", str(self.threads)]
            programs[self.labels[-1]] = Program(hybrid, self.threads)
        return programs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reference", type=Path)
    parser.add_argument("--avx2", type=Path, metavar="REFERENCE")
    parser.add_argument("--other", action="append", default=[], metavar="LABEL=FOLDER")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--simd", nargs="*", choices=WIDEST)
    parser.add_argument("--kernels", nargs="*", default=KERNELS, choices=KERNELS)
    parser.add_argument("--classes", nargs="*", default=["S", "W", "A", "B"])
    parser.add_argument("--ranks", nargs="*", type=int, default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warm-ups", type=int, default=1, help="rounds before them that are not kept")
    chosen = parser.parse_args()
    folders = {"reference": chosen.reference}
    folders |= {"reference, AVX2": chosen.avx2} if chosen.avx2 else {}
    folders |= {label: Path(folder) for label, _, folder in (text.partition("=") for text in chosen.other)}
    cases = [
        Case(kernel=kernel, problem_class=name, ranks=ranks)
        for name in chosen.classes
        for kernel in chosen.kernels
        for ranks in chosen.ranks
        if fits(kernel, ranks)
    ]
    programs = Programs(folders, chosen.threads, chosen.simd or codes_here())
    return 0 if compare(cases, programs, Rounds(chosen.rounds, chosen.warm_ups)) else 1


def codes_here() -> list[str]:
    """The vector codes beyond the plain one that this processor can run, else the plain one."""
    able = [code for code, needed in VARIANTS.needs if needed and needed <= cpu_flags()]
    return able or ["plain"]


def fits(kernel: str, ranks: int) -> bool:
    """Squares for BT and SP, and as many ranks as there are processors for the others."""
    if kernel in SQUARES:
        return active_ranks(kernel, ranks) == ranks
    return ranks <= (os.cpu_count() or 1)


def compare(cases: Sequence[Case], programs: Programs, rounds: Rounds) -> bool:
    """Print a row for each case as soon as it is measured, then what the claims come to; whether they hold."""
    print(heading(programs))
    ratios: dict[str, dict[Case, float]] = {code: {} for code in programs.codes}
    memory: dict[str, dict[Case, float]] = {code: {} for code in programs.codes}
    made: dict[str, set[str]] = {}
    for case in cases:
        runs = measured(case, programs.of(case), rounds)
        for code in programs.codes:
            ours, theirs = runs[code], runs[programs.reference(code)]
            ratios[code][case] = ratio_of(ours, theirs)
            if min(map(largest_byte, (ours, theirs))) > own_byte():
                memory[code][case] = largest_byte(ours) / largest_byte(theirs)
            made.setdefault(code, set()).update(otherwise_made(theirs[0].said, code))
        print(row(case, runs, programs), flush=True)
    held = [
        claims_hold(
            f"{code} beside {programs.reference(code)}", ratios[code], memory[code], sorted(made[code])
        )
        for code in programs.codes
    ]
    return all(held)


def otherwise_made(said: str, code: str) -> Iterator[str]:
    """Where a program of the reference says to be made otherwise than docs/npb.md has it for this vector code."""
    flags = FLAGS.get(code, "")
    documented = {"FFLAGS": f"{flags} {FORTRAN}", "CFLAGS": flags, "RAND": RANDOM}
    for name, words, cut in _OPTION.findall(said):
        whole = documented[name]
        if words != NONE and not (whole.startswith(words) if cut else whole == words):
            yield f"{name} = {words}{cut}, not {whole}"


def measured(case: Case, programs: Mapping[str, Program], rounds: Rounds) -> dict[str, list[Run]]:
    """All programs once in each round, in random order."""
    runs: dict[str, list[Run]] = {label: [] for label in programs}
    for number in range(rounds.warm_ups + rounds.kept):
        for label in random.sample(sorted(programs), len(programs)):
            done = run_once(programs[label], case.ranks)
            if number >= rounds.warm_ups:
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
    return Run(million_operations_per_s=rate, rank_byte=usage.ru_maxrss * 1024, said=said)


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


def heading(programs: Programs) -> str:
    columns = ["kernel", "class", "ranks"]
    columns += [f"Mop/s, ours by {code}: median (best)" for code in programs.codes]
    columns += [f"{label}: median (best)" for label in programs.labels]
    columns += [f"{mine} / {other}" for mine, other in compared(programs)]
    columns += [f"MiB of a rank: {programs.codes[0]} / reference"]
    return f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"


def compared(programs: Programs) -> list[tuple[str, str]]:
    """Each vector code with its reference first; the widest with all others."""
    own = [(code, programs.reference(code)) for code in programs.codes]
    return [
        *own,
        *((programs.codes[0], label) for label in programs.labels if not label.startswith("reference")),
    ]


def row(case: Case, runs: dict[str, list[Run]], programs: Programs) -> str:
    cells = [case.kernel.upper(), case.problem_class, str(case.ranks)]
    cells += [rates(runs[label]) for label in (*programs.codes, *programs.labels)]
    cells += [interval(runs[mine], runs[other]) for mine, other in compared(programs)]
    cells.append(" / ".join(size(runs[label]) for label in (programs.codes[0], "reference")))
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


def claims_hold(
    label: str, ratios: dict[Case, float], memory: dict[Case, float], made: Sequence[str]
) -> bool:
    print(f"\n{label}")
    for differing in made:
        print(f"\nnot as docs/npb.md has it: {differing}")
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
