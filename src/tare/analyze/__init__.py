# SPDX-License-Identifier: Apache-2.0
"""Summaries in, overheads and verdicts out: pure functions, no input or output."""

from tare.analyze.curves import curve_estimates
from tare.analyze.estimation import CONTROL_NAME, controls, overhead
from tare.analyze.helpers import helper_costs, wait_costs
from tare.analyze.judgement import verdict, verdicts
from tare.analyze.sharing import sharing_losses

__all__ = [
    "CONTROL_NAME",
    "controls",
    "curve_estimates",
    "helper_costs",
    "overhead",
    "sharing_losses",
    "verdict",
    "verdicts",
    "wait_costs",
]
