# SPDX-License-Identifier: Apache-2.0
"""``tare capacity``: how many neighbours fit before an instance of the user's command loses too much."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tare.analyze.capacity import answered, most_tests, next_count, step_of
from tare.commands.audience import Progress
from tare.commands.line import Shown
from tare.commands.run import new_folder, uncompared_said
from tare.commands.weigh import composed, image_of
from tare.commands.weigh_files import WeighOptions, asked
from tare.errors import ExitCode, HostError, InputError
from tare.foreign import one_line
from tare.host.facts import memory_byte, online_processors
from tare.journal.reader import read_journal
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request
from tare.measure.more import added_blocks
from tare.pipeline import run_campaign
from tare.plan.campaign import Campaign
from tare.plan.schema import LEAST_MEMORY_BYTE, MOST_NODES, MOST_OVERSUBSCRIPTION, Host, size_problem
from tare.plan.sharing import Sharing
from tare.records import NATIVE, Analysis, Capacity, CapacityStep, Layout, Ruling, SharingLoss, Status, Way
from tare.report.capacity import print_capacities, step_said, to_json
from tare.units import format_byte

_LOOKS = (12, 24, 48)
"""Blocks after which a number of neighbours is decided, or gets more. In 12 the signed ranks reach the error that is
left to each test of a search among up to ``MOST_NODES``."""
_PERCENT = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityOptions:
    """Settings of the search."""

    loss: str
    """Tolerated loss, such as ``10%``."""
    most: int | None
    """The largest number of neighbours; ``None``: two instances for each processor."""


def run_capacity(
    options: WeighOptions, search: CapacityOptions, output: Path | None, image_name: str, shown: Shown
) -> ExitCode:
    """Search for each environment and natively, print the answers; a result folder for each number is kept."""
    limit = _limit(search.loss)
    alone = asked("--layout", Layout.parse, options.layout or "1c1p1i")
    if alone.nodes > 1 or alone.instances > 1:
        raise InputError(f"--layout: {alone} is no single instance in one node; write such as 1c2p1i")
    options, campaign = composed(options, image_name, shown)
    most = _most(search.most, alone)
    campaign = _sized(campaign, most)
    image = image_of(image_name, options, campaign)
    finder = _Finder(
        campaign=campaign,
        alone=alone,
        folder=output or new_folder("capacity"),
        image=image,
        limit=limit,
        most=most,
        shown=shown,
    )
    try:
        capacities = [finder.capacity(name) for name in finder.names]
    except KeyboardInterrupt:
        print(f"interrupted; the same command with --output {finder.folder} goes on", file=sys.stderr)
        return ExitCode.INTERRUPTED
    _show(capacities, finder.folder, shown)
    return ExitCode.DONE


def _limit(text: str) -> float:
    """``"10%"`` or ``"0.1"`` as a fraction; ``InputError`` for others, such as ``"10"``, which may mean either."""
    number, percent, rest = text.strip().partition("%")
    try:
        value = float(number) / (_PERCENT if percent else 1)
    except ValueError:
        value = 0.0
    if rest or not 0 < value < _PERCENT or (not percent and value >= 1):
        raise InputError(f"--loss: write the tolerated loss such as 10%, not {text!r}")
    return value


def _most(wanted: int | None, alone: Layout) -> int:
    """The largest number of neighbours, which may oversubscribe; ``InputError`` if the host cannot hold so many."""
    host = Host(len(online_processors()), memory_byte(), MOST_OVERSUBSCRIPTION)
    most = max(1, min(2 * host.processors // alone.processors, MOST_NODES) - 1) if wanted is None else wanted
    together = _together(alone, most)
    if problem := size_problem(together, host):
        raise InputError(f"--most: {together} {problem}")
    return most


def _sized(campaign: Campaign, most: int) -> Campaign:
    """Each instance has the same memory, whatever their number: an equal share where there are most."""
    share_byte = campaign.limits.memory_byte // (most + 1)
    if share_byte < LEAST_MEMORY_BYTE:
        raise InputError(
            f"--memory: {format_byte(campaign.limits.memory_byte)} leave {format_byte(share_byte)} to each of "
            f"{most + 1} instances; give more, or fewer neighbours by --most"
        )
    limits = replace(
        campaign.limits,
        node_memory_byte=share_byte,
        shm_byte=min(campaign.limits.shm_byte, share_byte // 2),
    )
    return replace(campaign, limits=limits)


def _together(alone: Layout, neighbours: int) -> Layout:
    count = neighbours + 1
    return Layout(nodes=count, processors=alone.processors, instances=count)


@dataclass(kw_only=True)
class _Finder:
    """Measures numbers of neighbours, each once for all environments."""

    campaign: Campaign
    alone: Layout
    folder: Path
    image: str
    limit: float
    most: int
    shown: Shown
    known: dict[int, Analysis] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return (NATIVE, *(environment.name for environment in self.campaign.environments))

    def capacity(self, name: str) -> Capacity:
        """One environment's answer; numbers that another's search has measured are decided first.

        The search ends where there is no loss, and on a host too busy for one number: it would not be quiet for the
        next, and what failed would fail again.
        """
        steps = {count: self._step(name, count) for count in self.known}
        while not any(step.withheld or step.loss is None for step in steps.values()):
            count = next_count({n: step.ruling for n, step in steps.items()}, self.most)
            if count is None:
                break
            steps[count] = self._decided(name, count)
        return answered(name, self.limit, self.most, tuple(steps.values()))

    def _decided(self, name: str, count: int) -> CapacityStep:
        """Measure until a look decides, or the last is reached."""
        for blocks in _LOOKS:
            analysis = self.known[count] = self._measured(count, blocks)
            step = self._step(name, count)
            if not analysis.sharing:
                raise HostError(uncompared_said(analysis, self._result(count)))
            if step.ruling is not Ruling.UNDECIDED or step.withheld or step.loss is None:
                break
        if not self.shown.quiet:
            print(f"{one_line(name)}, {step_said(step)}", file=sys.stderr)
        return step

    def _step(self, name: str, count: int) -> CapacityStep:
        tests = most_tests(self.most, len(_LOOKS))
        analysis = self.known[count]
        step = step_of(_loss(analysis, name), count, self.limit, tests, _LOOKS)
        return step if step.loss else replace(step, lost=_lost(analysis, name, self._result(count)))

    def _result(self, count: int) -> ResultFolder:
        return ResultFolder(self.folder / f"neighbours-{count}")

    def _measured(self, count: int, blocks: int) -> Analysis:
        """The result with so many blocks; blocks that it has are not run again."""
        folder = self._result(count)
        request = Request(
            campaign=self._of(count), folder=folder, image_name=self.image, pilot=not self.known
        )
        added = (
            added_blocks(request.campaign, read_journal(folder.journal)) if folder.journal.exists() else ()
        )
        analysis = self.known.get(count) or run_campaign(request, Progress(shown=self.shown))
        if (missing := blocks - _LOOKS[0] - sum(added)) > 0:
            analysis = run_campaign(replace(request, more=missing), Progress(shown=self.shown))
        return analysis

    def _of(self, count: int) -> Campaign:
        together = _together(self.alone, count)
        return replace(
            self.campaign,
            name=f"capacity-{count}",
            workloads=tuple(replace(workload, way=Way.WHOLE) for workload in self.campaign.workloads),
            layouts=(self.alone, together),
            sharings=(Sharing(alone=self.alone, together=(together,)),),
            blocks=_LOOKS[0],
            looks=(_LOOKS[0],),
            turns=None,
        )


def _loss(analysis: Analysis, name: str) -> SharingLoss | None:
    """The environment's loss of the first primary metric."""
    losses = (loss for loss in analysis.sharing if loss.summary.environment == name and loss.summary.primary)
    return next(losses, None)


def _lost(analysis: Analysis, name: str, folder: ResultFolder) -> str:
    """Why an environment has no loss: it was skipped, or the most frequent reason of its trials."""
    skips = (skipped.reason for skipped in analysis.skipped if skipped.environment == name)
    failures = Counter(
        outcome.reason or "no reason was recorded"
        for outcome in analysis.outcomes
        if outcome.trial.environment.name == name and outcome.status is not Status.OK
    )
    reason = next((text for text, _ in failures.most_common(1)), None) or next(
        skips, "its blocks are incomplete"
    )
    return f"{one_line(reason)} (tare show {folder.path})"


def _show(capacities: Sequence[Capacity], folder: Path, shown: Shown) -> None:
    if shown.as_json:
        print(json.dumps(to_json(capacities), indent=2))
        return
    from tare.commands.console import PlainConsole

    print_capacities(capacities, PlainConsole(), verbose=shown.verbose)
    print(f"results: {folder}", file=sys.stderr)
