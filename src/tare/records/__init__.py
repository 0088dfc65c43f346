# SPDX-License-Identifier: Apache-2.0
"""The frozen records that travel plan → measure → treat → analyze → report.

Raw and derived values never share a record. A value that is missing is ``None``, never 0.
Times are seconds, sizes are bytes, overheads are fractions (0.05 is 5 %).
"""

from tare.records.across import AcrossWorkloads, ArmSpread
from tare.records.activities import Activity, ActivityEstimate, ActivitySplit, ActivitySummary
from tare.records.analyzed import (
    Analysis,
    CurveEstimate,
    HelperCost,
    Overhead,
    PointEstimate,
    SharingLoss,
    TimeEstimate,
    Verdict,
    WaitCost,
    Word,
)
from tare.records.attribution import (
    Attributed,
    Attribution,
    BlockFacts,
    Clue,
    Correlation,
    Ground,
    Intervention,
    InterventionVerdict,
    RunFacts,
    Shift,
    SignalBlock,
    SignalEvidence,
    SignalSummary,
)
from tare.records.calibration import Calibration, Gate, Passing
from tare.records.clock_quality import ClockQuality, ClockTest
from tare.records.diagnostics import Check, Effect, Finding, Predecessors
from tare.records.estimates import Estimate
from tare.records.exclusion import Exclude, Exclusions
from tare.records.families import Family, Standing
from tare.records.foresight import POWER, ExpectedBlocks, Foresight, LookForesight, Noise
from tare.records.levels import BlockStarts, Levels, Start, VarianceSplit
from tare.records.looks import Course, Decision, Design, FailIf, Look, Ruling, Stop, Stopped
from tare.records.measured import (
    Clocks,
    Direction,
    InstanceRun,
    Outcome,
    Rule,
    Sample,
    Session,
    Skipped,
    Status,
)
from tare.records.order import (
    OrderContrast,
    OrderedBlock,
    OrderedRun,
    OrderedStart,
    OrderSummary,
    OrderVerdict,
    OrderWord,
)
from tare.records.parity import Parity
from tare.records.planned import (
    NATIVE,
    Environment,
    Layout,
    Limits,
    Neighbour,
    NetworkKind,
    OptionValue,
    Storage,
    Trial,
    Workload,
)
from tare.records.rankings import PairDifference, Ranked, Ranking
from tare.records.replications import ArmFigure, Replication, Treatment
from tare.records.sameness import BLAS, PROGRAM, Unlike
from tare.records.series import Ordering, Series
from tare.records.signal_differences import SignalDifference, SignalTable
from tare.records.signals import Scope, Signal
from tare.records.steadiness import IterationCourse, IterationSeries, Steadiness
from tare.records.timers import TimerAgreement, TimerSummary
from tare.records.treated import (
    CONTROL_NAME,
    BlockValue,
    Cell,
    Curve,
    CurvePoint,
    HelperSummary,
    SharedCell,
    SharingSummary,
    Summary,
    WaitSummary,
)

__all__ = [
    "BLAS",
    "CONTROL_NAME",
    "NATIVE",
    "POWER",
    "PROGRAM",
    "SCHEMA",
    "AcrossWorkloads",
    "Activity",
    "ActivityEstimate",
    "ActivitySplit",
    "ActivitySummary",
    "Analysis",
    "ArmFigure",
    "ArmSpread",
    "Attributed",
    "Attribution",
    "BlockFacts",
    "BlockStarts",
    "BlockValue",
    "Calibration",
    "Cell",
    "Check",
    "ClockQuality",
    "ClockTest",
    "Clocks",
    "Clue",
    "Correlation",
    "Course",
    "Curve",
    "CurveEstimate",
    "CurvePoint",
    "Decision",
    "Design",
    "Direction",
    "Effect",
    "Environment",
    "Estimate",
    "Exclude",
    "Exclusions",
    "ExpectedBlocks",
    "FailIf",
    "Family",
    "Finding",
    "Foresight",
    "Gate",
    "Ground",
    "HelperCost",
    "HelperSummary",
    "InstanceRun",
    "Intervention",
    "InterventionVerdict",
    "IterationCourse",
    "IterationSeries",
    "Layout",
    "Levels",
    "Limits",
    "Look",
    "LookForesight",
    "Neighbour",
    "NetworkKind",
    "Noise",
    "OptionValue",
    "OrderContrast",
    "OrderSummary",
    "OrderVerdict",
    "OrderWord",
    "OrderedBlock",
    "OrderedRun",
    "OrderedStart",
    "Ordering",
    "Outcome",
    "Overhead",
    "PairDifference",
    "Parity",
    "Passing",
    "PointEstimate",
    "Predecessors",
    "Ranked",
    "Ranking",
    "Replication",
    "Rule",
    "Ruling",
    "RunFacts",
    "Sample",
    "Scope",
    "Series",
    "Session",
    "SharedCell",
    "SharingLoss",
    "SharingSummary",
    "Shift",
    "Signal",
    "SignalBlock",
    "SignalDifference",
    "SignalEvidence",
    "SignalSummary",
    "SignalTable",
    "Skipped",
    "Standing",
    "Start",
    "Status",
    "Steadiness",
    "Stop",
    "Stopped",
    "Storage",
    "Summary",
    "TimeEstimate",
    "TimerAgreement",
    "TimerSummary",
    "Treatment",
    "Trial",
    "Unlike",
    "VarianceSplit",
    "Verdict",
    "WaitCost",
    "WaitSummary",
    "Word",
    "Workload",
]

SCHEMA = 1
