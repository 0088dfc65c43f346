# SPDX-License-Identifier: Apache-2.0
"""The noise of this host, from existing results or a short pilot, and what a campaign can decide with it."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from tare.analyze import expected_blocks, look_foresights
from tare.commands.images_made import image_to_use
from tare.environments import PROVIDERS
from tare.errors import TareError
from tare.host.facts import host_facts
from tare.host.own_files import read_plain
from tare.host.scratch import scratch_folder
from tare.image.store import DEFAULT_NAME
from tare.journal.large import read_result
from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.journal.whole import write_whole
from tare.measure.campaign import Audience, Request
from tare.measure.kept import kept_campaign
from tare.nodes.provider import Provider
from tare.pipeline import analyse_result, run_campaign
from tare.plan.campaign import Campaign
from tare.plan.trials import turns_of
from tare.records import (
    CONTROL_NAME,
    NATIVE,
    Analysis,
    Cell,
    Environment,
    Foresight,
    Noise,
    Session,
    Summary,
    Turns,
    Workload,
)
from tare.statistics.blocks import LEAST_BLOCKS
from tare.statistics.student import standard_deviation
from tare.workloads import KINDS, primary_metrics

PILOT_BUDGET_S = 90.0
_PILOT = "native once more"
_PILOT_BLOCKS = 30
_NEWEST = 5
"""Number of result folders that are searched when none is named."""
_SAME_HOST = ("processor", "processors online", "virtualization")
_OF_NATIVE = math.sqrt(1.5 / 2)
"""Native against native has the variance 2 s^2, an environment against two natives 1.5 s^2 (docs/method.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmNoise:
    """Variation of one arm's block log-ratios on one primary metric."""

    workload: Workload
    turns: Turns | None
    layout: str
    environment: str
    """``CONTROL_NAME``: inferred from native against native for an environment against two natives."""
    metric: str
    spread: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    n: Annotated[int, Field(ge=LEAST_BLOCKS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The noise in an earlier result."""

    name: str
    arms: Sequence[ArmNoise]

    def alike(
        self, workload: Workload, turns: Turns | None, layout: str, environment: str
    ) -> Sequence[ArmNoise]:
        """Noise of the same arm, else of native against native in the same cell; never of another workload."""
        cell = [
            arm
            for arm in self.arms
            if (arm.layout, arm.turns) == (layout, turns)
            and arm.metric in primary_metrics(workload)
            and _alike(arm.workload, workload)
        ]
        own = [arm for arm in cell if arm.environment == environment]
        return own or [arm for arm in cell if arm.environment == CONTROL_NAME]

    def noise(self, workload: Workload, turns: Turns | None, layout: str, environment: str) -> Noise | None:
        """Noise of the workload's first known metric; ``None`` where none is known."""
        for arm in self.alike(workload, turns, layout, environment):
            whose = "native against native" if arm.environment == CONTROL_NAME else environment
            return Noise(spread=arm.spread, n=arm.n, source=f"{whose} in {self.name}")
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A result's ``noise.json``."""

    host: Mapping[str, str]
    arms: tuple[ArmNoise, ...]


def foresights(campaign: Campaign, histories: Sequence[History]) -> tuple[Foresight, ...]:
    """What the campaign can decide about each arm, by the first history that contains its noise."""
    rows = []
    design = campaign.design
    for workload, setting in campaign.cells:
        looks = design.looks_of(Cell(workload=workload.name, layout=str(setting)))
        turns = turns_of(campaign, workload, setting)
        for environment in campaign.environments:
            known = (history.noise(workload, turns, str(setting), environment.name) for history in histories)
            noise = next(filter(None, known), None)
            if noise is not None:
                rows.append(
                    Foresight(
                        workload=workload.name,
                        layout=str(setting),
                        environment=environment.name,
                        noise=noise,
                        looks=look_foresights(noise.spread, looks, campaign.margin),
                        expected=expected_blocks(noise.spread, design, looks),
                    )
                )
    return tuple(rows)


def histories(named: Path | None, folder: Path = Path("results")) -> list[History]:
    """The result that is ``named``, or the newest of this host in ``folder``; a named one must be readable."""
    if named is not None:
        return [_history(named)]
    here = host_facts()
    return list(_of_host(_newest(folder), here))


def pilot(campaign: Campaign, audience: Audience, providers: Mapping[str, Provider] = PROVIDERS) -> History:
    """Measure native three times per block, in the campaign's cells, for at most 90 s; nothing is kept."""
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
    with scratch_folder("pilot") as folder:
        result = ResultFolder(folder / "result")
        image = image_to_use(DEFAULT_NAME)
        request = Request(campaign=alone, folder=result, providers=providers, image_name=image)
        history = _told(run_campaign(request, audience), alone, "the pilot")
    # Only native was measured, three times: the result is the same for all environments.
    natives = [
        replace(arm, environment=CONTROL_NAME) for arm in history.arms if arm.environment != CONTROL_NAME
    ]
    return replace(history, arms=natives)


def _alike(before: Workload, now: Workload) -> bool:
    if (before.name, before.kind) != (now.name, now.kind):
        return False
    model = KINDS[now.kind].options_model
    try:
        return model.model_validate(dict(before.options)) == model.model_validate(dict(now.options))
    except ValueError:
        return False  # options of another version


def _history(path: Path) -> History:
    folder = ResultFolder(path)
    return _told(analyse_result(path), kept_campaign(folder), str(path))


def _told(analysis: Analysis, campaign: Campaign, name: str) -> History:
    return History(name=name, arms=_arms(analysis, campaign))


def _arms(analysis: Analysis, campaign: Campaign) -> tuple[ArmNoise, ...]:
    cells = {
        Cell(workload=workload.name, layout=str(setting)): (workload, turns_of(campaign, workload, setting))
        for workload, setting in replace(campaign, choices=()).cells  # as a plan has them, before any scan
    }
    summaries = [verdict.overhead.summary for verdict in analysis.verdicts]
    summaries += [control.summary for control in analysis.controls]
    return tuple(
        _arm(summary, *cells[summary.cell])
        for summary in summaries
        if summary.primary
        and summary.cell in cells
        and len(summary.log_ratios) >= LEAST_BLOCKS
        and standard_deviation(summary.log_ratios)
    )


def _arm(summary: Summary, workload: Workload, turns: Turns | None) -> ArmNoise:
    spread = standard_deviation(summary.log_ratios) or 0.0
    return ArmNoise(
        workload=workload,
        turns=turns,
        layout=summary.cell.layout,
        environment=summary.environment,
        metric=summary.metric,
        spread=spread * _OF_NATIVE if summary.environment == CONTROL_NAME else spread,
        n=len(summary.log_ratios),
    )


def keep(analysis: Analysis, campaign: Campaign, folder: ResultFolder) -> None:
    """Write this host's noise from the result beside it; nothing if it contains none or cannot be written."""
    arms = _arms(analysis, campaign)
    if arms and analysis.sessions:
        kept = _Kept(host=analysis.sessions[-1].host, arms=arms)
        with suppress(OSError):
            write_whole(folder.noise, json.dumps(asdict(kept)))


def kept_histories(folder: Path = Path("results")) -> list[History]:
    """Histories of this host's newest results with kept noise, the newest first; no journal is read."""
    here = host_facts()
    histories = []
    for path in _newest(folder):
        with suppress(OSError, ValueError):  # never written, torn by a kill, or of another version
            kept = TypeAdapter(_Kept).validate_json(read_plain(ResultFolder(path).noise))
            if same_host(kept.host, here):
                histories.append(History(name=str(path), arms=kept.arms))
    return histories


def _newest(folder: Path) -> list[Path]:
    dated = []
    for file in folder.glob(f"*/{CAMPAIGN_FILE}"):
        with suppress(OSError):  # taken away meanwhile
            dated.append((file.parent.stat().st_mtime, file.parent))
    return [path for _, path in sorted(dated, reverse=True)[:_NEWEST]]


def _of_host(paths: Sequence[Path], here: Mapping[str, str]) -> Iterator[History]:
    """Histories of this host; unreadable ones are skipped, as nobody asked for them."""
    for path in paths:
        try:
            if _is_of(read_result(ResultFolder(path)).sessions, here):
                yield _history(path)
        except TareError:
            continue


def _is_of(sessions: Sequence[Session], here: Mapping[str, str]) -> bool:
    return bool(sessions) and same_host(sessions[-1].host, here)


def same_host(there: Mapping[str, str], here: Mapping[str, str]) -> bool:
    """Whether two sessions' facts are of the same host, or of alike ones."""
    return all(there.get(key) == here.get(key) for key in _SAME_HOST)
