# SPDX-License-Identifier: Apache-2.0
"""What a campaign leaves to a scan: native runs of each candidate in turns, before the first trial."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tare.plan.definition import Campaign, shape_of
from tare.plan.durations import total_s, trial_durations_s
from tare.plan.sharing import NATIVE_ENVIRONMENT
from tare.plan.trials import hosts_of_block, trial_identity
from tare.records import Layout, Limits, OptionValue, Trial, Workload
from tare.units import format_duration
from tare.workloads import scan_of
from tare.workloads.kind import Scan

TURNS = 8
"""As often each candidate runs, if the time suffices."""
LEAST_TURNS = 4
"""Fewer would show no difference that is worth a choice."""
MOST_S = 300.0
_PART_OF_BUDGET = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenScan:
    """One scan to make: its choice holds for all instances of the workload that use as many processors."""

    workload: Workload
    processors: int
    layout: Layout
    limits: Limits
    scan: Scan
    most_s: float
    hosts: tuple[str, ...] = ()
    """The hosts of the first block, from the campaign's list."""

    @property
    def whose(self) -> str:
        """What the choice is for, in words."""
        return f"{self.workload.name} with {self.processors} processor{'s' if self.processors > 1 else ''}"

    @property
    def names(self) -> tuple[str, ...]:
        """The candidates in words."""
        return tuple(map(words_of, self.scan.candidates))

    def turn(self, number: int, seed: int) -> Iterator[tuple[int, Trial]]:
        """Each candidate's place and native trial, in this turn's random order."""
        places = list(range(len(self.scan.candidates)))
        random.Random(f"{seed}-{number}-scan").shuffle(places)  # noqa: S311 - an order that can be repeated
        for place in places:
            yield place, self.trial(number, place)

    def trial(self, turn: int, place: int) -> Trial:
        candidate = self.scan.candidates[place]
        workload = replace(
            self.workload,
            name=f"{self.workload.name}-{place + 1}",
            options={**self.workload.options, **self.scan.problem, **candidate},
            iterations=1,
        )
        environment = NATIVE_ENVIRONMENT
        return Trial(
            identity=trial_identity(turn, workload.name, str(self.layout), environment.name, 0),
            block=turn,
            slot=place,
            environment=environment,
            replicate=0,
            layout=self.layout,
            workload=workload,
            limits=self.limits,
            hosts=self.hosts,
        )

    @property
    def expected_s(self) -> float:
        """A guess; the most that it may take where that is less, or nothing is known."""
        turn_s = total_s(trial_durations_s([trial for _, trial in self.turn(0, 0)], ()))
        return self.most_s if turn_s is None else min(self.most_s, TURNS * turn_s)

    @property
    def sentence(self) -> str:
        """What is about to run."""
        open_options = " and ".join(self.scan.candidates[0])
        problem = f" with {words_of(self.scan.problem)}" if self.scan.problem else ""
        return (
            f"{self.whose}: a scan chooses {open_options} from "
            f"{len(self.scan.candidates)} candidates by up to {TURNS} native runs of each{problem}, in about "
            f"{format_duration(self.expected_s)}"
        )


def open_scans(campaign: Campaign) -> tuple[OpenScan, ...]:
    """All that no choice answers yet, each for the first setting that asks for it; they may delay a budget a little."""
    most_s = MOST_S if campaign.budget_s is None else min(MOST_S, _PART_OF_BUDGET * campaign.budget_s)
    wanted: dict[tuple[str, int], OpenScan] = {}
    for workload, setting in campaign.cells:
        scan, processors = scan_of(workload, shape_of(setting.layout, setting.limits))
        if scan is not None and len(scan.candidates) > 1:
            wanted.setdefault(
                (workload.name, processors),
                OpenScan(
                    workload=workload,
                    processors=processors,
                    layout=setting.layout,
                    limits=setting.limits,
                    scan=scan,
                    most_s=most_s,
                    hosts=hosts_of_block(campaign, campaign.seed or 0, 0, setting.layout),
                ),
            )
    return tuple(wanted.values())


def words_of(options: Mapping[str, OptionValue]) -> str:
    """Such as ``block_size = 192, process_rows = 1``."""
    return ", ".join(f"{name} = {value}" for name, value in options.items())
