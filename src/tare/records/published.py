# SPDX-License-Identifier: Apache-2.0
"""What a paper printed, as data, and whether a result of ours agrees with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tare.records.comparisons import Treatment
from tare.records.layouts import Layout
from tare.records.planned import NATIVE, Environment, Limits, OptionValue, Workload
from tare.statistics.estimate import Estimate

PUBLISHED_AGAIN = {"b16-stage3": "b17"}
"""The thesis's last stage was published again, with the same matrix: one preset and one file of claims are of both."""


class Quantity(StrEnum):
    """What a published figure is a change of."""

    RATE = "rate"
    """Work per time: 5 % less is -0.05."""
    TIME = "time"
    """Time per work: 5 % more is 0.05."""
    VARIATION = "variation"
    """No change, but a coefficient of variation."""


class ClaimKind(StrEnum):
    """How a claim is judged."""

    COMPARISON = "comparison"
    """One arm against another: an environment against native or another environment, or in two places."""
    LOSS = "loss"
    """What an instance loses with company, against the same alone."""
    VARIATION = "variation"
    """Spread of an environment's runs."""
    BEST = "best"
    """Some environments against all others: a column of ticks."""
    ORDER = "order"
    """The same run early and late within one start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPlace:
    """What is measured, and where: one figure of one workload in one layout."""

    kinds: tuple[str, ...]
    """Kinds of workload; any of them has the metric."""
    metric: str
    layout: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    """Options that the workload must have."""
    at: Mapping[str, tuple[float | None, float | None]] | None = None
    """Coordinate → least and most, both included: the points of a curve; ``None``: the metric is a single figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedClaim:
    """A statement of a paper that a result can support or contradict."""

    text: str
    """In Tare's words, with the number as printed."""
    where: str
    """Page or section of the paper."""
    kind: ClaimKind
    quantity: Quantity
    environments: tuple[str, ...]
    """Roles (``analyze.roles``): each must show it. For ``BEST`` those with a tick."""
    places: tuple[ClaimPlace, ...]
    """Each must show it."""
    low: float | None
    """The claim: the change lies above this; ``None``: without a bound."""
    high: float | None
    either_sign: bool = False
    """The bounds are of the change's absolute value."""
    printed: tuple[float, float] | None = None
    """The figure that the paper prints, as a change: least and most, equal for a single number; ``None``: words."""
    against: str = NATIVE
    """Role of the other arm."""
    against_place: ClaimPlace | None = None
    """Where the other arm is; ``None``: in the same place."""
    alone: str | None = None
    """For ``LOSS`` the layout without company."""
    among: tuple[str, ...] = ()
    """For ``BEST`` all roles of the table."""
    value: float | None = None
    """For ``ORDER`` the value of the varied option."""
    otherwise: str | None = None
    """How the preset's own point differs from the paper's, so that it is not judged; ``None``: it does not."""
    by_times: bool = False
    """One environment in two places is compared by its times, not by what it loses against native in each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """An environment in a column of ticks."""

    role: str
    published: bool
    ours: bool | None
    """Whether no other is shown to be better; ``None``: there is nothing to compare."""
    beaten_by: tuple[str, ...]
    reason: str
    """Why it was not measured, or how what was measured differs from the paper's; empty: neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TickColumn:
    """The environments of one claim about the best."""

    text: str
    """The claim's."""
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedValue:
    """A number of a table, as printed."""

    row: str
    column: str
    value: str
    """Also ``n/a`` or a tick."""
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A table or figure of a paper."""

    identity: str
    """Such as ``b16:fig20``."""
    paper: str
    """The paper's preset, such as ``b16-stage2``."""
    where: str
    """Page or section."""
    shows: str
    unit: str
    note: str
    """What the text gives of it, or what Tare cannot do; may be empty."""
    claims: tuple[PublishedClaim, ...]
    values: tuple[PrintedValue, ...] = ()
    preset: str
    """What to run; a part of a preset has the preset's name."""

    @property
    def command(self) -> str:
        """What measures it."""
        return f"tare run {self.preset}"

    @property
    def name(self) -> str:
        """Such as ``figure 20``."""
        label = self.identity.partition(":")[2]
        word, number = ("figure", label[3:]) if label.startswith("fig") else ("table", label[5:])
        return f"{word} {number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A paper, or one stage of it that is a preset of its own."""

    identity: str
    """Name of its preset."""
    short: str
    """Such as ``B16, stage 1``."""
    title: str
    machines: str
    """On what it measured."""
    runs: str
    """How often, and how the runs were treated."""
    treatment: Treatment | None
    """``None``: the paper names none."""
    views: tuple[View, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetCell:
    """What a preset measures in one place."""

    workload: Workload
    """At its levels."""
    layout: Layout
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetMatrix:
    """What a paper's preset asks for, before anything of it is scaled."""

    environments: tuple[Environment, ...]
    cells: tuple[PresetCell, ...]


class AgreementWord(StrEnum):
    """Whether a result agrees with a claim."""

    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One of our arms, or pairs of arms, that a claim speaks of."""

    environment: str
    """Ours; the paper's name where there is none of ours."""
    what: str
    """Such as ``kvm-pv, hpl_flop_per_s of hpcc on 1c2p1i``."""
    word: AgreementWord
    reason: str
    """Why it is not measured, or undecided; empty otherwise."""
    ours: Estimate | None = None
    """In the claim's quantity, as a fraction; ``None``: not measured."""
    deviations: tuple[str, ...] = ()
    """How what was measured differs from what the paper had; with any, the word is ``NOT_MEASURED``."""
    here: AgreementWord | None = None
    """What it would be if these differences did not matter; ``None`` without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A claim beside what a result shows of it."""

    claim: PublishedClaim
    word: AgreementWord
    reason: str
    """Why, where it is not measured or undecided; empty otherwise."""
    parts: tuple[Part, ...]
    here: AgreementWord | None = None
    """As in ``Part``, of all parts together."""
