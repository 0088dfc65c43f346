# SPDX-License-Identifier: Apache-2.0
"""What may have cost an environment its time: signals beside overheads, their share of the loss, interventions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tare.records.planned import Limits
from tare.records.signals import Scope
from tare.records.treated import Cell
from tare.statistics.estimate import Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The facts of one trial that its signals are compared with."""

    wall_s: float
    """From GO to the last DONE, by the host's clock."""
    runnable_threads: float
    """Mean number of threads that ran or wanted to run, at least 1: what sums over threads are divided by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockFacts:
    """One block: the two native slots, replicate 0 first, and the environment."""

    block: int
    native: tuple[RunFacts, RunFacts]
    environment: RunFacts
    lateness: float
    """Slot of the environment minus the mean slot of the two natives: how much later in the block it ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalBlock:
    """One block's values of one signal, in the signal's own unit."""

    block: int
    native: tuple[float, float]
    environment: float

    @property
    def difference(self) -> float:
        """The environment's value minus the mean of the natives."""
        return self.environment - (self.native[0] + self.native[1]) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalSummary:
    """One signal of one environment in one cell, in the blocks in which all three trials have it."""

    name: str
    unit: str
    scope: Scope
    lost_time: bool
    """As in ``Signal``."""
    blocks: tuple[SignalBlock, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalEvidence:
    """The basis of an attribution: one environment in one cell, for the workload's primary metric."""

    cell: Cell
    environment: str
    metric: str
    blocks: tuple[BlockFacts, ...]
    """Blocks that are complete for the metric."""
    log_ratios: tuple[float, ...]
    """One for each of these blocks, as in ``Summary``."""
    signals: tuple[SignalSummary, ...]
    missing: tuple[tuple[str, str], ...] = ()
    """Signals that trials of this environment lack, each with why."""
    retransmission_timeout_s: float
    """The shortest TCP retransmission timeout (``Environment.rto_min_s``; else Linux's TCP_RTO_MIN)."""


class Attributed(StrEnum):
    """The standing of a signal; docs/causes.md explains each word."""

    CAUSE = "cause"
    """An intervention removed it, and the overhead with it."""
    CANDIDATE = "candidate"
    UNEXPLAINED = "unexplained"
    """Nothing that was counted accounts for the loss."""


class Ground(StrEnum):
    """The gate by which a signal became a candidate."""

    TIME = "accounts for time lost"
    EVENTS = "events that native has not"
    SPREAD = "varies with the overhead"


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """Spearman's correlation of overhead and signal over blocks, without the effect of the order."""

    r: float
    chance: float
    """Probability of so large a value for any signal if all were unrelated: family-wise, by permutation."""
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue:
    """What one signal says about one overhead."""

    signal: str
    title: str
    """In words, such as "held back by a CPU quota"."""
    unit: str
    scope: Scope
    excess: Estimate
    """Median over blocks, in ``unit`` per trial, of the excess over native if native had run as long."""
    native: float
    """Median of native's value, in ``unit`` per trial."""
    chance: float
    """Probability of exceeding both natives so far, block by block, if all three were alike; over signals (Holm)."""
    share: Estimate | None
    """Share of the time lost; ``None``: neither seconds of waiting nor events of a known cost."""
    correlation: Correlation | None
    """``None``: fewer than 10 blocks, or the signal never changes."""
    grounds: tuple[Ground, ...]
    """Empty: not a candidate."""
    after: str | None = None
    """The higher-ranked signal that this one contains or follows from."""

    @property
    def standing(self) -> Attributed:
        return Attributed.CANDIDATE if self.grounds else Attributed.UNEXPLAINED


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """Why one environment has its overhead, as far as the signals show."""

    cell: Cell
    environment: str
    metric: str
    n: int
    established: bool
    """Whether there is an overhead at all; candidates are named only then."""
    lost_s: Estimate | None
    """Wall time per trial beyond native: median over blocks; ``None`` without a block."""
    clues: tuple[Clue, ...]
    """Candidates first, the likeliest at the head; then all other signals."""
    unexplained: Estimate | None
    """Share of the lost time that no candidate accounts for; ``None`` where no loss is certain."""
    missing: tuple[tuple[str, str], ...]
    """Signals that this environment's trials lack, each with why."""
    sentence: str

    @property
    def candidates(self) -> tuple[Clue, ...]:
        return tuple(clue for clue in self.clues if clue.grounds)

    @property
    def standing(self) -> Attributed | None:
        """``None``: there is nothing to explain."""
        if not self.established:
            return None
        return Attributed.CANDIDATE if self.candidates else Attributed.UNEXPLAINED


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One knob turned: an arm of an intervention."""

    knob: str
    change: str
    """In words, such as "without the CPU quota"."""
    subject: str
    """What the knob is, such as "the CPU quota"."""
    changed: str
    """The name of the environment with the knob turned."""
    changed_native: str | None = None
    """The same for native, where the knob is a limit, which applies to native too."""
    changed_limits: Limits | None = None
    """Limits that apply in these two instead of the campaign's; ``None``: the same."""
    cause: str | None = None
    """The known cause that it tests (``tare.causes``); ``None``: the user asked for the knob."""
    is_cure: bool = True
    """Whether it removes what may cost time, rather than adding it."""

    @property
    def arms(self) -> tuple[str, ...]:
        """The environments that exist only for this knob."""
        return tuple(filter(None, (self.changed, self.changed_native)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """Knobs turned one at a time, in separate blocks: the purpose of a campaign of ``tare explain``."""

    parent: str
    """The result that it explains, as a path from this one's folder."""
    parent_campaign: str
    parent_session: str
    """Identity of the parent's first session, which identifies the result."""
    environment: str
    """As it is in the parent."""
    changes: tuple[Change, ...]
    """In the order of their evidence: if two move a metric equally, the first is its cause."""
    claims: tuple[tuple[str, str], ...] = ()
    """Workload and metric of each claim to explain; empty: the primary metrics."""


class Shift(StrEnum):
    """How an overhead changed when a knob was turned."""

    FALLS = "falls"
    RISES = "rises"
    SAME = "stays within the margin"
    UNDECIDED = "undecided"


class Role(StrEnum):
    """The part of a knob in one metric's difference from native."""

    CAUSE = "a cause"
    SMALL = "a small part"
    """Less than a tenth of the difference certainly disappeared."""
    NONE = "no cause"
    """At least half of the difference cannot come from it."""
    UNDECIDED = "undecided"
    ABSENT = "not seen again"
    """In the intervention's own blocks there was no difference to explain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InterventionVerdict:
    """What an intervention shows about one knob and one metric."""

    intervention: Intervention
    turned: Change
    cell: Cell
    metric: str
    before: Estimate
    """Overhead as it is."""
    after: Estimate
    """Overhead with the knob turned."""
    change: Estimate
    """Change of the time per unit of work when the knob is turned, as a fraction: below 0 is time gained."""
    shift: Shift
    role: Role
    chance: float
    """Probability of so large a change if there were none, over all knobs and claimed metrics (Holm)."""
    sentence: str

    @property
    def standing(self) -> Attributed:
        """``CAUSE`` or ``UNEXPLAINED``."""
        return Attributed.CAUSE if self.role is Role.CAUSE else Attributed.UNEXPLAINED


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalDifference:
    """One signal: how much more of it a trial here has than a native one of the same block."""

    name: str
    unit: str
    scope: Scope
    native: float
    """Median over blocks of the mean of both native slots, in ``unit``."""
    difference: Estimate
    """Median over blocks, in ``unit``, with its exact interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalTable:
    """All signals of one environment in one cell."""

    cell: Cell
    environment: str
    differences: tuple[SignalDifference, ...]
    missing: Mapping[str, str]
    """Signals that no trial of this environment has → why."""
