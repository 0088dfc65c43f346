# SPDX-License-Identifier: Apache-2.0
"""The frozen records that travel plan → measure → treat → analyze → report.

Raw and derived values never share a record. A value that is missing is ``None``, never 0.
Times are seconds, sizes are bytes, overheads are fractions (0.05 is 5 %).
"""

from tare.records.analyzed import (
    Analysis,
    CurveEstimate,
    Estimate,
    HelperCost,
    Overhead,
    PointEstimate,
    SharingLoss,
    TimeEstimate,
    Verdict,
    WaitCost,
    Word,
)
from tare.records.measured import (
    Clocks,
    Direction,
    InstanceRun,
    Outcome,
    Sample,
    Session,
    Skipped,
    Status,
)
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
from tare.records.treated import (
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
    "NATIVE",
    "SCHEMA",
    "Analysis",
    "BlockValue",
    "Cell",
    "Clocks",
    "Curve",
    "CurveEstimate",
    "CurvePoint",
    "Direction",
    "Environment",
    "Estimate",
    "HelperCost",
    "HelperSummary",
    "InstanceRun",
    "Layout",
    "Limits",
    "Neighbour",
    "NetworkKind",
    "OptionValue",
    "Outcome",
    "Overhead",
    "PointEstimate",
    "Sample",
    "Session",
    "SharedCell",
    "SharingLoss",
    "SharingSummary",
    "Skipped",
    "Status",
    "Storage",
    "Summary",
    "TimeEstimate",
    "Trial",
    "Verdict",
    "WaitCost",
    "WaitSummary",
    "Word",
    "Workload",
]

SCHEMA = 1
