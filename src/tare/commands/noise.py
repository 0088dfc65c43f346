# SPDX-License-Identifier: Apache-2.0
"""How noisy this host is, from results that are there or from a minute's pilot, and what a campaign then decides."""

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tare.analyze import expected_blocks, look_foresights
from tare.analyze.student import standard_deviation
from tare.blocks import LEAST_BLOCKS
from tare.environments import PROVIDERS
from tare.environments.provider import Provider
from tare.errors import TareError
from tare.host.facts import host_facts
from tare.journal.reader import read_journal
from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.measure.campaign import Audience, Request, kept_campaign
from tare.pipeline import analyse_result, run_campaign
from tare.plan.campaign import Campaign
from tare.records import NATIVE, Analysis, Cell, Environment, Foresight, Noise, Overhead, Session, Workload
from tare.workloads import KINDS

PILOT_BUDGET_S = 60.0
_PILOT = "native once more"
_PILOT_BLOCKS = 30
_NEWEST = 5
"""Result folders that are looked through when none is named."""
_SAME_HOST = ("processor", "processors online", "virtualization")
_OF_NATIVE = math.sqrt(1.5 / 2)
"""Native against native varies by 2 s^2 and an environment against two natives by 1.5 s^2 (docs/method.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What an earlier result tells of the noise."""

    name: str
    workloads: Mapping[str, Workload]
    overheads: Sequence[Overhead]
    """On primary metrics."""
    controls: Sequence[Overhead]

    def noise(self, workload: Workload, layout: str, environment: str) -> Noise | None:
        """Of the same arm, else of native against native in the same cell; ``None`` for another workload."""
        if not _alike(self.workloads.get(workload.name), workload):
            return None
        cell = Cell(workload=workload.name, layout=layout)
        for found in self.overheads:
            if found.summary.cell == cell and found.summary.environment == environment:
                return _noise(found.summary.log_ratios, f"{environment} in {self.name}", 1.0)
        for found in self.controls:
            if found.summary.cell == cell:
                source = f"native against native in {self.name}"
                return _noise(found.summary.log_ratios, source, _OF_NATIVE)
        return None


def foresights(campaign: Campaign, histories: Sequence[History]) -> tuple[Foresight, ...]:
    """What the campaign can decide of each arm whose noise is known from the first history that tells it."""
    found = []
    design = campaign.design
    for workload, setting in campaign.cells:
        looks = design.looks_of(Cell(workload=workload.name, layout=str(setting)))
        for environment in campaign.environments:
            told = (one.noise(workload, str(setting), environment.name) for one in histories)
            noise = next((one for one in told if one is not None), None)
            if noise is not None:
                found.append(
                    Foresight(
                        workload=workload.name,
                        layout=str(setting),
                        environment=environment.name,
                        noise=noise,
                        looks=look_foresights(noise.spread, looks, campaign.margin),
                        expected=expected_blocks(noise.spread, design, looks),
                    )
                )
    return tuple(found)


def histories(named: Path | None, folder: Path = Path("results")) -> list[History]:
    """The result that is ``named``, or the newest of this host in ``folder``; a named one must be readable."""
    if named is not None:
        return [_history(named)]
    here = host_facts()
    return list(_of_host(_newest(folder), here))


def pilot(campaign: Campaign, audience: Audience, providers: Mapping[str, Provider] = PROVIDERS) -> History:
    """Measure native three times a block, in the campaign's cells, for a minute at most; nothing is kept."""
    alone = replace(
        campaign,
        name="pilot",
        environments=(Environment(name=_PILOT.replace(" ", "-"), technology=NATIVE),),
        sharings=(),
        blocks=_PILOT_BLOCKS,
        looks=(_PILOT_BLOCKS,),
        fail_if=(),
        budget_s=PILOT_BUDGET_S,
    )
    with tempfile.TemporaryDirectory(prefix="tare-pilot-") as folder:
        request = Request(campaign=alone, folder=ResultFolder(Path(folder) / "result"), providers=providers)
        found = _told(run_campaign(request, audience), alone, "the pilot")
    # What was measured is native, three times: it says nothing of one environment more than of another.
    return replace(found, controls=[*found.overheads, *found.controls], overheads=())


def _alike(before: Workload | None, now: Workload) -> bool:
    if before is None or before.kind != now.kind:
        return False
    model = KINDS[now.kind].options_model
    return model.model_validate(dict(before.options)) == model.model_validate(dict(now.options))


def _noise(log_ratios: Sequence[float], source: str, factor: float) -> Noise | None:
    spread = standard_deviation(log_ratios)
    if spread is None or len(log_ratios) < LEAST_BLOCKS:
        return None
    return Noise(spread=spread * factor, n=len(log_ratios), source=source)


def _history(path: Path) -> History:
    folder = ResultFolder(path)
    return _told(analyse_result(path), kept_campaign(folder), str(path))


def _told(analysis: Analysis, campaign: Campaign, name: str) -> History:
    overheads = [one.overhead for one in analysis.verdicts if one.overhead.summary.primary]
    return History(
        name=name,
        workloads={workload.name: workload for workload in campaign.workloads},
        overheads=overheads,
        controls=[control for control in analysis.controls if control.summary.primary],
    )


def _newest(folder: Path) -> list[Path]:
    found = [path.parent for path in folder.glob(f"*/{CAMPAIGN_FILE}")]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)[:_NEWEST]


def _of_host(paths: Sequence[Path], here: Mapping[str, str]) -> Iterator[History]:
    """Those of this host; one that cannot be read is passed over, as nobody asked for it."""
    for path in paths:
        try:
            if _is_of(read_journal(ResultFolder(path).journal).sessions, here):
                yield _history(path)
        except TareError:
            continue


def _is_of(sessions: Sequence[Session], here: Mapping[str, str]) -> bool:
    return bool(sessions) and all(sessions[-1].host.get(key) == here.get(key) for key in _SAME_HOST)
