# SPDX-License-Identifier: Apache-2.0
r"""Whether the true overhead of applications lies in the interval that `tare advise` predicts for them.

    scripts/with-dockerd .venv/bin/python -m bench.advise_held_out --folder DIR   (root)
    .venv/bin/python -m bench.advise_held_out --folder DIR --environment bubblewrap --blocks 2
    .venv/bin/python -m bench.advise_held_out --folder DIR --read

Measures in one campaign of 14 minutes at most the preset `advise`, whose last workloads are applications (seven NPB
kernels, and HPL by Tare's own program), and which has pieces like HPCC's STREAM and RandomAccess; and three MPI
programs from Debian's packages (MrBayes, and LU and Cholesky of ScaLAPACK), whose files are fetched and unpacked below
DIR without being installed. Each application is then predicted in each environment twice: from all other workloads,
and from those alone that are no application. Prints both tables and writes them to DIR/held-out.txt. Ends with 1 if
fewer than nine of ten predictions from all others hold, or there is none; what "must be measured" is none. Their
system calls are counted in spare runs. The same DIR goes on where it was interrupted; `--read` measures nothing.
"""

import argparse
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tare.analyze.advice import advise
from tare.commands.advised import KnownHere, application_of, gathered, known_of
from tare.commands.counting import count_calls
from tare.records.advice import Advice, Basis, KnownWorkload, Predicted
from tare.units import signed

ENVIRONMENTS = ("docker", "lxc", "systemd-nspawn", "bubblewrap")
KERNELS = ("ep", "is", "cg", "mg", "ft", "lu", "sp")
LIKE_HPCC = ("hpl", "bandwidth", "random")
"""Of the preset, by Tare's own programs: as HPL, STREAM and RandomAccess."""
PACKAGES = (
    *("mrbayes-mpi", "libhmsbeagle1v5", "libreadline8", "scalapack-mpi-test", "libscalapack-openmpi2.2"),
    *("libgfortran5", "libquadmath0", "liblapack3", "libblas3"),
)
LIBRARIES = "usr/lib/x86_64-linux-gnu"
PROGRAMS = {
    "mrbayes": ("usr/lib/mrbayes-mpi/mb-mpi", "tree.nex"),
    "scalapack-lu": (f"{LIBRARIES}/scalapack/openmpi-tests/xdlu", "LU.dat"),
    "scalapack-cholesky": (f"{LIBRARIES}/scalapack/openmpi-tests/xdllt", "LLT.dat"),
}
"""Name -> program and its input."""
HELD_OUT = (*(f"npb-{kernel}" for kernel in KERNELS), *LIKE_HPCC, *PROGRAMS)
SPECIES, LETTERS, CHANGE = 12, 800, 0.05
"""Of the tree that MrBayes looks for; a letter changes with this chance from a species to its descendant."""
GOAL = 0.9
LIMIT_S = 1800.0


@dataclass(frozen=True)
class Case:
    """One application in one environment."""

    application: str
    environment: str
    truth: float
    predicted: Predicted

    @property
    def holds(self) -> bool | None:
        """Whether the truth lies in the interval; ``None`` without one."""
        overhead = self.predicted.overhead
        if overhead is None or overhead.low is None or overhead.high is None:
            return None
        return overhead.low <= self.truth <= overhead.high


def write_inputs(folder: Path) -> None:
    """A tree of twelve species with 800 letters each, and systems of equations; always the same."""
    chance = random.Random(1)  # noqa: S311 - data, not a secret
    species = ["".join(chance.choice("ACGT") for _ in range(LETTERS))]
    while len(species) < SPECIES:
        parent = species.pop(0)
        species += [changed(parent, chance) for _ in range(2)]
    rows = "".join(f"t{place} {letters}\n" for place, letters in enumerate(species[:SPECIES]))
    (folder / "tree.nex").write_text(
        f"#NEXUS\nbegin data;\ndimensions ntax={SPECIES} nchar={LETTERS};\nformat datatype=dna interleave=no;\nmatrix\n"
        f"{rows};\nend;\nbegin mrbayes;\nset autoclose=yes nowarn=yes seed=1 swapseed=1;\nlset nst=2 rates=gamma;\n"
        "mcmc ngen=12000 nruns=1 nchains=2 samplefreq=1000 printfreq=12000 diagnfreq=20000;\nend;\n"
    )
    sizes = " ".join(["500"] * 10)
    rest = "1 NBs\n32\n1 NRHS\n1\n1 NBRHS\n1\n1 grids\n1\n2\n1.0 threshold\nF condition\n"
    head, count = "'ScaLAPACK'\n'two processes'\n'out'\n6 device\n", "10 sizes\n"
    (folder / "LU.dat").write_text(f"{head}{count}{sizes}\n{sizes}\n{rest}")
    (folder / "LLT.dat").write_text(f"{head}'U'\n{count}{sizes}\n{rest}")


def changed(letters: str, chance: random.Random) -> str:
    """A descendant of the species."""
    return "".join(chance.choice("ACGT") if chance.random() < CHANGE else own for own in letters)


def fetch_programs(folder: Path) -> None:
    """Unpack Debian's packages below the folder, once; nothing is installed."""
    if (folder / "done").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True, timeout=300)
    for package in sorted(folder.glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True, timeout=60)
    write_inputs(folder)
    (folder / "done").touch()


def campaign(programs: Path, environments: Sequence[str], blocks: int) -> str:
    """The preset with these environments, and the three programs."""
    preset = (Path(__file__).parents[1] / "src/tare/plan/presets/advise.toml").read_text()
    head, workloads = preset.split("[[workload]]", 1)
    head = head[: head.index("[[environment]]")].replace('budget = "30m"', 'budget = "14m"')
    head = head.replace("blocks = 13", f'blocks = {blocks}\nbinds = ["{programs}"]')
    tables = "".join(f'[[environment]]\ntechnology = "{name}"\n\n' for name in environments)
    libraries = ":".join(f"{programs}/{LIBRARIES}{part}" for part in ("", "/blas", "/lapack"))
    libraries += f":{programs}/lib/x86_64-linux-gnu"
    commands = "".join(
        f'\n[[workload]]\nkind = "command"\nname = "{name}"\nmpi = true\n{profiled(name)}'
        f'argv = ["{programs}/{program}", "{data}"]\nprepare = ["cp", "{programs}/{data}", "."]\n'
        f'variables = ["LD_LIBRARY_PATH={libraries}"]\n'
        for name, (program, data) in PROGRAMS.items()
    )
    return f"{head}{tables}[[workload]]{workloads}{commands}"


def profiled(name: str) -> str:
    """MrBayes ends in a way that leaves no profile: its messages are not known."""
    return "" if name == "mrbayes" else "profile = true\n"


def cases(every: KnownHere, known_only: bool) -> Iterator[Case]:
    """Each application with a true overhead, predicted without what was measured of it."""
    for name in HELD_OUT:
        application = application_of(every, name, None)
        if application is None:
            continue
        known = known_of(every, application, None)
        truths = next((each for _, each, _ in every.workloads if each.cell.workload == name), None)
        if known_only:
            known = [each for each in known if each.cell.workload not in HELD_OUT]
        advice: Advice = advise(replace(application, measured=()), list(every.arms.values()), known)
        for predicted in advice.predicted:
            if truths is not None and predicted.arm.name in truths.overheads:
                yield Case(name, predicted.arm.name, truths.overheads[predicted.arm.name], predicted)


def table(title: str, own: Sequence[Case]) -> str:
    """One line for each case, and how many hold."""
    lines = [
        title,
        f"{'application':<20}{'environment':<16}{'true':>8}  {'predicted (90 %)':<28}n   holds  ground",
    ]
    for case in own:
        word = {True: "yes", False: "NO", None: "-"}[case.holds]
        lines.append(
            f"{case.application:<20}{case.environment:<16}{percent(case.truth):>8}  {said(case.predicted):<28}"
            f"{case.predicted.n:<4}{word:<7}{case.predicted.basis.value}"
        )
    held, all_of = counts(own)
    without = sum(case.holds is None for case in own)
    predicted = counts(predictions(own))
    lines.append(
        f"{held} of {all_of} true overheads lie in the interval: {predicted[0]} of {predicted[1]} predictions, the "
        f"others are simple guesses; {without} have none"
    )
    for environment in dict.fromkeys(case.environment for case in own):
        held, all_of = counts([case for case in own if case.environment == environment])
        lines.append(f"  {environment}: {held} of {all_of}")
    return "\n".join(lines)


def said(predicted: Predicted) -> str:
    """The prediction, or why there is none."""
    overhead = predicted.overhead
    if overhead is None or overhead.low is None or overhead.high is None:
        beyond = f": {', '.join(predicted.beyond)}" if predicted.basis is Basis.OUTSIDE else ""
        return f"must be measured{beyond}"
    return f"{percent(overhead.point)}, {percent(overhead.low)} to {percent(overhead.high)}"


def percent(fraction: float) -> str:
    """With its sign and one decimal."""
    return f"{signed(f'{100 * fraction:.1f}')} %"


def counts(own: Sequence[Case]) -> tuple[int, int]:
    """How many hold, and of how many there is an interval."""
    return sum(case.holds is True for case in own), sum(case.holds is not None for case in own)


def predictions(own: Sequence[Case]) -> list[Case]:
    """Without the simple guesses where nothing can be predicted, which Tare prints as "must be measured"."""
    return [case for case in own if case.predicted.stands]


def end(own: Sequence[Case]) -> int:
    """0 if there are predictions, and nine of ten hold."""
    held, all_of = counts(predictions(own))
    return 0 if all_of and held >= GOAL * all_of else 1


def workloads_said(known: Sequence[KnownWorkload]) -> str:
    """What is known of each workload."""
    return "\n".join(
        f"{each.name}: "
        + ", ".join(f"{resource} {rate:.4g}" for resource, rate in each.rates.items())
        + "; "
        + ", ".join(f"{arm} {percent(overhead)}" for arm, overhead in each.overheads.items())
        for each in known
    )


def main() -> int:
    """Measure, predict and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--environment", action="append", default=[])
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--read", action="store_true", help="measure nothing")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not options.read:
        fetch_programs(folder / "programs")
        text = campaign(folder / "programs", options.environment or ENVIRONMENTS, options.blocks)
        (folder / "held-out.toml").write_text(text)
        argv = [sys.executable, "-m", "tare", "run", str(folder / "held-out.toml")]
        subprocess.run([*argv, "-o", str(folder / "result"), "--yes"], check=False, timeout=LIMIT_S)
        count_calls(folder / "result")
    every = gathered([folder / "result"], [])
    from_all, from_own = list(cases(every, known_only=False)), list(cases(every, known_only=True))
    tables = [
        table("From all other workloads", from_all),
        table("From workloads alone that are no application", from_own),
        workloads_said([each for _, each, _ in every.workloads]),
    ]
    (folder / "held-out.txt").write_text("\n\n".join(tables) + "\n")
    print("\n\n".join(tables))
    return end(from_all)


if __name__ == "__main__":
    sys.exit(main())
