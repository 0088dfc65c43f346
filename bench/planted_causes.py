# SPDX-License-Identifier: Apache-2.0
"""Does the right cause come first, and is its cure confirmed, by ``tare explain`` itself?

    python -m bench.planted_causes [--runs 10] [--blocks 8] [--only quota ...]     (as root, with the image and Docker)

Each run measures native against one environment to which one thing is done, and explains the result. The claim: the
cause comes first and is confirmed in at least 9 of 10 runs each; with nothing planted at least 19 of 20 name none.
"""

import argparse
import io
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from bench.plant_list import NONE, PLANTED, PLANTS, WORK, Plant
from bench.planted_size import Size
from bench.quiet import Quiet
from tare.commands.explain import run_explain
from tare.commands.explained import ExplainOptions
from tare.environments import PROVIDERS
from tare.errors import LockedError
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request, measure_campaign
from tare.nodes.provider import Provider
from tare.pipeline import analyse_result
from tare.plan.campaign import Campaign
from tare.records import (
    Analysis,
    Attributed,
    Exclude,
    Explanation,
    Layout,
    Limits,
    Status,
    Summary,
    Suspicion,
)
from tare.report.reasons import reasons
from tare.units import GIBIBYTE, MEBIBYTE

_NOTHING = "nothing"
_WAIT_S = 2.0
_LONGEST_WAIT_S = 1800.0
_CLAIM = "no claim"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What the product said of one planted cause."""

    first: str
    """Cause of the first suspicion, or why there is none."""
    strength: str
    explanation: Explanation | None
    """Of the planted metric; ``None``: nothing was claimed of it."""
    named: tuple[str, ...]
    """What any claim's explanation names, confirmed or suspected."""
    sentence: str
    measured_s: float
    explained_s: float

    def confirms(self, cause: str | None) -> bool:
        own = self.explanation
        return own is not None and own.standing is Attributed.CAUSE and own.cause == cause

    @property
    def said(self) -> str:
        """Such as "confirmed cpu-quota"."""
        own = self.explanation
        return _CLAIM if own is None else f"{own.standing} {own.cause or ''}".strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--runs", type=int, default=10, help="of each plant; twice as many with nothing planted"
    )
    parser.add_argument("--blocks", type=int, default=8, help="of each campaign")
    parser.add_argument("--only", nargs="*", choices=[*PLANTS, _NOTHING], default=[*PLANTS, _NOTHING])
    parser.add_argument("--verbose", action="store_true", help="print all that tare explain prints")
    chosen = parser.parse_args()
    again = Repeat(runs=chosen.runs, blocks=chosen.blocks, verbose=chosen.verbose)
    holds = [again.show(name, plant) for name, plant in PLANTS.items() if name in chosen.only]
    if _NOTHING in chosen.only:
        holds.append(again.show_nothing())
    print("the claim holds" if all(holds) else "the claim does not hold")
    return 0 if all(holds) else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """How often, and how."""

    runs: int
    blocks: int
    verbose: bool

    def show(self, name: str, plant: Plant) -> bool:
        """Print one plant's line; whether it holds, which what cannot be planted does."""
        missing = plant.missing()
        if missing is not None:
            print(f"{name}: skipped: {missing}", flush=True)
            return True
        runs = self._repeated(name, plant)
        first = sum(run.first == plant.cause for run in runs)
        confirmed = sum(run.confirms(plant.cause) for run in runs)
        hits = sum(run.first == plant.cause and run.confirms(plant.cause) for run in runs)
        print(
            f"{name}: {plant.cause} first in {first} of {len(runs)}, confirmed in {confirmed} of {len(runs)}"
        )
        print(f"  {_others(runs, plant)}; {_seconds(runs)}")
        print(f"  such as {runs[-1].sentence}", flush=True)
        return hits >= 0.9 * len(runs)

    def show_nothing(self) -> bool:
        runs = [run for name, plant in NONE.items() for run in self._repeated(name, plant)]
        named = [run for run in runs if run.named]
        print(f"nothing planted: no cause named in {len(runs) - len(named)} of {len(runs)}; {_seconds(runs)}")
        for run in named:
            print(f"  {run.sentence}")
        return len(named) <= 0.05 * len(runs)

    def _repeated(self, name: str, plant: Plant) -> list[Run]:
        runs = []
        for number in range(1, self.runs + 1):
            runs.append(self._run(plant))
            self._say(f"  {name} {number}: first {runs[-1].first} ({runs[-1].strength}), {runs[-1].said}")
        return runs

    def _run(self, plant: Plant) -> Run:
        with tempfile.TemporaryDirectory(prefix="tare-bench-") as name, listed(plant.providers):
            folder = ResultFolder(Path(name) / "result")
            request = Request(campaign=campaign(plant, Path(name), self.blocks), folder=folder)
            size, measured_s = self._measured(plant, lambda: measure_campaign(request, Quiet()))
            explained_s = timed_s(lambda: self._explain(folder.path))
            analysis = analyse_result(folder.path)
        self._say_why(analysis, plant)
        self._say_size(analysis, plant, size)
        run = judged(analysis, plant, measured_s, explained_s)
        if run.explanation is None:
            for verdict in analysis.verdicts:
                self._say(f"  {verdict.sentence}")
        return run

    def _say_why(self, analysis: Analysis, plant: Plant) -> None:
        """What failed, and what each knob did."""
        for outcome in analysis.outcomes:
            if outcome.status is not Status.OK:
                self._say(f"  {outcome.trial.identity}: {outcome.reason}")
        for tried in analysis.interventions:
            if tried.metric == plant.metric:
                self._say(f"  {tried.turned.cause}: {tried.sentence}")

    @staticmethod
    def _measured(plant: Plant, measure: Callable[[], object]) -> tuple[Size | None, float]:
        """Measure; give the true size if it can be known, and how long Tare took."""
        taken_s: list[float] = []

        def timed() -> None:
            taken_s.append(timed_s(lambda: patiently(measure)))

        if plant.size is not None:
            size = plant.size.around(plant.providers[0], plant.options, timed)
            return size, taken_s[0]
        timed()
        return None, taken_s[0]

    def _say_size(self, analysis: Analysis, plant: Plant, size: Size | None) -> None:
        """The true size beside the interval of the measurement that was explained."""
        if size is None or plant.size is None:
            return
        for verdict in analysis.verdicts:
            if _is_planted(verdict.overhead.summary, plant):
                self._say(f"  {plant.size.said(verdict, size)}")

    def _explain(self, folder: Path) -> None:
        said = io.StringIO()
        with redirect_stdout(said), redirect_stderr(said):
            patiently(lambda: run_explain(folder, ExplainOptions(blocks=self.blocks), as_json=False))
        if self.verbose:
            self._say(said.getvalue())

    @staticmethod
    def _say(words: str) -> None:
        print(words, file=sys.stderr, flush=True)


def campaign(plant: Plant, folder: Path, blocks: int) -> Campaign:
    return Campaign(
        name="planted",
        environments=(plant.environment(folder),),
        layouts=(Layout.parse(plant.layout),),
        workloads=(plant.workload,),
        limits=Limits(
            memory_byte=GIBIBYTE,
            shm_byte=plant.shm_mebibyte * MEBIBYTE,
            time_s=60.0,
            storage=plant.storage,
        ),
        blocks=blocks,
        margin=0.01,
        budget_s=None,
        seed=None,
        turns=plant.turns,
        exclude=Exclude(foreign_load=None, frequency_change=None, temperature_c=None),
    )


def judged(analysis: Analysis, plant: Plant, measured_s: float, explained_s: float) -> Run:
    own = [explanation for explanation in analysis.explanations if _is_planted(explanation, plant)]
    suspected = [suspicion for suspicion in analysis.suspicions if _is_planted(suspicion, plant)]
    sentences = [reason.text for reason in reasons(analysis)]
    return Run(
        first=suspected[0].cause if suspected else "nothing" if own else _CLAIM,
        strength=suspected[0].strength.name.lower() if suspected else "-",
        explanation=own[0] if own else None,
        named=tuple(
            explanation.cause for explanation in analysis.explanations if explanation.cause is not None
        ),
        sentence="; ".join(sentences) or _CLAIM,
        measured_s=measured_s,
        explained_s=explained_s,
    )


def _is_planted(judged: Suspicion | Explanation | Summary, plant: Plant) -> bool:
    return (judged.environment, judged.cell.workload, judged.metric) == (PLANTED, WORK, plant.metric)


def _others(runs: Sequence[Run], plant: Plant) -> str:
    """What else came first, and what else was named."""
    firsts = Counter(run.first for run in runs if run.first != plant.cause)
    named = Counter(cause for run in runs for cause in set(run.named) if cause != plant.cause)
    return f"other firsts: {_listed(firsts)}; others named: {_listed(named)}"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def _seconds(runs: Sequence[Run]) -> str:
    measured, explained = (
        sum(values) / len(runs)
        for values in zip(*((run.measured_s, run.explained_s) for run in runs), strict=True)
    )
    return f"{measured:.0f} s measured and {explained:.0f} s explained per run"


@contextmanager
def listed(providers: Sequence[Provider]) -> Iterator[None]:
    """Put them into the list of environments: the product has no other way to hear of one."""
    known = cast("dict[str, Provider]", PROVIDERS)
    before = dict(known)
    known.update({provider.technology: provider for provider in providers})
    try:
        yield
    finally:
        known.clear()
        known.update(before)


def timed_s(action: Callable[[], None]) -> float:
    begun = time.monotonic()
    action()
    return time.monotonic() - begun


def patiently(action: Callable[[], object]) -> None:
    """Again, while another run of Tare holds the host."""
    deadline = time.monotonic() + _LONGEST_WAIT_S
    while True:
        try:
            action()
        except LockedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_WAIT_S)
        else:
            return


if __name__ == "__main__":
    sys.exit(main())
