# SPDX-License-Identifier: Apache-2.0
"""Does any NAS kernel with a fault in it still verify?

    python -m bench.npb_mutations [--kernels cg lu] [--jobs 2]

Each fault of ``bench/npb_mutations.toml`` is planted in a copy of ``native/``, one at a time, and the kernel compiled
and run: in class S on one rank and on several, and in class W where class S has not noticed. The copy is compiled for
plain vectors and with little optimization, as the faults are in what all variants share. The claim: none verifies in
all of these runs. What ends in a crash or is stopped after its time limit has not verified.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tare.workloads.npb.problems import SQUARES

NATIVE = Path(__file__).resolve().parent.parent / "native"
LIST = Path(__file__).with_suffix(".toml")
KERNELS = ("ep", "is", "cg", "mg", "ft", "lu", "bt", "sp")
RUN_LIMIT_S = 120
BUILD_LIMIT_S = 1200
QUICKLY_COMPILED = (
    ("set(NPB_FAST -O3 -ffast-math)", "set(NPB_FAST -O1 -ffast-math -Wno-error)"),
    (
        "target_compile_options(npb_${name}_parts PRIVATE -O3)",
        "target_compile_options(npb_${name}_parts PRIVATE -O1 -Wno-error)",
    ),
    ('if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")', "if(FALSE)"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """A fault in one kernel."""

    kernel: str
    place: str
    text: str
    faulty: str
    why: str
    arguments: Sequence[str] = ()


MUTATIONS = tuple(
    Mutation(kernel=kernel, **fault)
    for kernel, faults in tomllib.loads(LIST.read_text()).items()
    for fault in faults
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", nargs="*", default=KERNELS, choices=KERNELS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="npb-mutations-") as folder:
        copy = Copy(Path(folder), chosen.jobs)
        copy.configure()
        passing = [mutation for kernel in chosen.kernels for mutation in passing_faults(copy, kernel)]
    count = sum(mutation.kernel in chosen.kernels for mutation in MUTATIONS)
    print(f"\n{'DOES NOT HOLD' if passing else 'holds'}: {len(passing)} of {count} faults verify, claimed 0")
    return 1 if passing else 0


def passing_faults(copy: "Copy", kernel: str) -> Iterator[Mutation]:
    """Plant the kernel's faults, once it verifies without any, and give those that nothing notices."""
    mutations = [mutation for mutation in MUTATIONS if mutation.kernel == kernel]
    copy.build(kernel)
    for arguments in {tuple(mutation.arguments) for mutation in mutations}:
        if noticed := noticed_in(copy, kernel, arguments):
            sys.exit(f"{kernel} without a fault does not verify in {noticed}")
    for mutation in mutations:
        if passes(copy, mutation):
            yield mutation


def passes(copy: "Copy", mutation: Mutation) -> bool:
    """Plant a fault and print where it was noticed; whether it was not."""
    with planted(copy.source / "npb" / mutation.place, mutation.text, mutation.faulty):
        copy.build(mutation.kernel)
        noticed = noticed_in(copy, mutation.kernel, mutation.arguments)
    print(f"{mutation.kernel.upper()}, {mutation.place}: {mutation.why}: {noticed or 'VERIFIES'}", flush=True)
    return noticed is None


def noticed_in(copy: "Copy", kernel: str, arguments: Sequence[str]) -> str | None:
    """Give the first run that does not verify, and how it ended."""
    for name in "SW":
        for ranks in (1, 4 if kernel in SQUARES else 2):
            ended = copy.run(kernel, ("--class", name, *arguments), ranks)
            if ended != "SUCCESSFUL":
                return f"class {name} on {ranks}: {ended}"
    return None


@contextmanager
def planted(place: Path, text: str, faulty: str) -> Iterator[None]:
    """Replace a text that a file, or the sources of a folder, have once while the context lasts."""
    file = holder(place, text)
    whole = file.read_text()
    file.write_text(whole.replace(text, faulty))
    try:
        yield
    finally:
        file.write_text(whole)


def holder(place: Path, text: str) -> Path:
    """Give the only file with a text.

    Raises:
        SystemExit: the text is not there, or more than once.

    """
    files = [place] if place.is_file() else sorted(place.glob("*.?pp"))
    holders = [file for file in files for _ in range(file.read_text().count(text))]
    if len(holders) != 1:
        sys.exit(f"{place}: has {text!r} {len(holders)} times, not once: mend {LIST.name}")
    return holders[0]


class Copy:
    """A copy of ``native/`` and its build, in a folder of its own."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.source = folder / "native"
        self._built = folder / "built"
        self._jobs = jobs

    def configure(self) -> None:
        shutil.copytree(NATIVE, self.source)
        lists = self.source / "npb" / "CMakeLists.txt"
        for text, quick in QUICKLY_COMPILED:
            holder(lists, text).write_text(lists.read_text().replace(text, quick))
        _called(["cmake", "-S", str(self.source), "-B", str(self._built), "-G", "Ninja", "-DTARE_TESTS=OFF"])

    def build(self, kernel: str) -> None:
        _called(["ninja", "-C", str(self._built), "-j", str(self._jobs), f"npb-{kernel}"])

    def run(self, kernel: str, arguments: Sequence[str], ranks: int) -> str:
        """Give the verification that the kernel prints, or how it ended without one."""
        argv = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)]
        argv += ["--timeout", str(RUN_LIMIT_S), "--mca", "mpi_yield_when_idle", "1"]
        argv += [str(self._built / "bin" / f"npb-{kernel}"), "--json", *arguments]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=2 * RUN_LIMIT_S)
        line = next((line for line in done.stdout.splitlines() if line.startswith("{")), None)
        return str(json.loads(line)["verification"]) if line else f"exit code {done.returncode}"


def _called(argv: Sequence[str]) -> None:
    """Raise ``SystemExit`` with what a tool said when it fails."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=BUILD_LIMIT_S)
    if done.returncode:
        sys.exit(f"{' '.join(argv)}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")


if __name__ == "__main__":
    sys.exit(main())
