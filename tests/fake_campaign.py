# SPDX-License-Identifier: Apache-2.0
"""Campaigns that need no root and take seconds: fakes in the place of every technology, the real stopwatch below."""

from pathlib import Path

from tare.environments.fake import Fake
from tare.host.facts import online_processors
from tare.journal.result import ResultFolder
from tare.measure.campaign import Request
from tare.measure.context import Context
from tare.measure.others import busy_said
from tare.plan.budget import BudgetPlan
from tare.plan.campaign import Campaign
from tare.records import (
    Environment,
    Exclude,
    FailIf,
    HostLoad,
    Layout,
    Limits,
    OptionValue,
    Outcome,
    Trial,
    Workload,
)

FAKES = {"native": Fake(), "fake": Fake()}


class Listener:
    """An audience that remembers."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.outcomes: list[Outcome] = []
        self.ticks = 0
        self.spared = 0

    def says(self, words: str, *, detail: bool = False) -> None:  # noqa: ARG002 - hears all
        self.words.append(words)

    def meets(self, load: HostLoad) -> None:
        self.words.append(busy_said(load))

    def plans(self, plan: BudgetPlan) -> None:
        self.words.append(plan.sentence)

    def begins(self, trial: Trial) -> None:
        """Nothing to remember."""

    def ended(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    def tick(self) -> None:
        self.ticks += 1

    def stops(self, words: str, spared_trials: int) -> None:
        self.words.append(words)
        self.spared += spared_trials


def fake_environment(name: str = "slow", **options: OptionValue) -> Environment:
    return Environment(name=name, technology="fake", options=options)


def fake_workload(**options: OptionValue) -> Workload:
    return Workload(
        name="work", kind="fake", options={"value": 1.0, "noise": 0.02, "sleep_s": 0.001, **options}
    )


def command_workload(*argv: str) -> Workload:
    return Workload(name="work", kind="command", options={"argv": list(argv)})


def fake_campaign(
    *environments: Environment,
    workload: Workload | None = None,
    blocks: int = 6,
    layout: str = "1c1p1i",
    time_s: float = 20.0,
    budget_s: float | None = None,
    looks: tuple[int, ...] = (),
    fail_if: tuple[FailIf, ...] = (),
) -> Campaign:
    return Campaign(
        name="fakes",
        environments=environments or (fake_environment(slowdown=0.2),),
        layouts=(Layout.parse(layout),),
        workloads=(workload or fake_workload(),),
        limits=Limits(memory_byte=1 << 28, shm_byte=1 << 20, time_s=time_s),
        blocks=looks[-1] if looks else blocks,
        looks=looks,
        fail_if=fail_if,
        exclude=Exclude(
            foreign_load=None, frequency_change=None, temperature_c=None
        ),  # tests share the machine
        margin=0.01,
        budget_s=budget_s,
        seed=1,
    )


def fake_context(folder: Path, programs: Path) -> Context:
    """Fakes alone, whose image holds nothing but the programs from where they were built."""
    tools = folder / "image" / "opt" / "tare"
    tools.mkdir(parents=True)
    (tools / "bin").symlink_to(programs)
    return Context(
        image_root=folder / "image",
        image_digest="sha256:0",
        raw_directory=folder / "raw",
        available_processors=online_processors(),
        providers=FAKES,
    )


def fake_request(campaign: Campaign, folder: Path, *, pilot: bool = False) -> Request:
    return Request(campaign=campaign, folder=ResultFolder(folder), providers=FAKES, pilot=pilot)
