# SPDX-License-Identifier: Apache-2.0
"""Summaries in, overheads and verdicts out: pure functions, no input or output."""

from tare.analyze.across_results import compare_results
from tare.analyze.against_host import host_shares
from tare.analyze.answers import answers
from tare.analyze.attribution import attributions
from tare.analyze.attribution.explained import claims, explanations
from tare.analyze.attribution.intervention import intervention_verdicts
from tare.analyze.attribution.suspicions import scenes, suspicions
from tare.analyze.beside import activity_splits, helper_costs, signal_tables, timer_agreements, wait_costs
from tare.analyze.busy import busyness
from tare.analyze.controls import controls
from tare.analyze.curves import curve_estimates
from tare.analyze.decisions import decisions
from tare.analyze.diagnostics import diagnosed
from tare.analyze.estimation import overhead
from tare.analyze.factors import dependences
from tare.analyze.failing import failure_rates
from tare.analyze.families import in_families
from tare.analyze.foresight import expected_blocks, look_foresights
from tare.analyze.geometric import across_workloads
from tare.analyze.host_causes import host_excesses
from tare.analyze.host_clocks import host_clock_summaries, start_skew
from tare.analyze.host_effects import host_effects
from tare.analyze.host_speeds import host_speeds
from tare.analyze.imported import compare_imported
from tare.analyze.judgement import verdict, verdicts
from tare.analyze.looks import courses, stopped_arms
from tare.analyze.order import order_verdicts
from tare.analyze.papers import all_replications, replications
from tare.analyze.percentiles import arm_spreads
from tare.analyze.ranking import rankings
from tare.analyze.sharing import loss_decisions, sharing_losses
from tare.analyze.steadiness import steadiness, without_steady_claims
from tare.analyze.variance import variance_splits
from tare.analyze.warnings import (
    with_clock_warnings,
    with_order_warnings,
    with_unseen_iterations,
    with_warnings,
)
from tare.analyze.withholding import (
    without_busy_causes,
    without_busy_claims,
    without_busy_curves,
    without_busy_losses,
    without_busy_orders,
)

__all__ = [
    "across_workloads",
    "activity_splits",
    "all_replications",
    "answers",
    "arm_spreads",
    "attributions",
    "busyness",
    "claims",
    "compare_imported",
    "compare_results",
    "controls",
    "courses",
    "curve_estimates",
    "decisions",
    "dependences",
    "diagnosed",
    "expected_blocks",
    "explanations",
    "failure_rates",
    "helper_costs",
    "host_clock_summaries",
    "host_effects",
    "host_excesses",
    "host_shares",
    "host_speeds",
    "in_families",
    "intervention_verdicts",
    "look_foresights",
    "loss_decisions",
    "order_verdicts",
    "overhead",
    "rankings",
    "replications",
    "scenes",
    "sharing_losses",
    "signal_tables",
    "start_skew",
    "steadiness",
    "stopped_arms",
    "suspicions",
    "timer_agreements",
    "variance_splits",
    "verdict",
    "verdicts",
    "wait_costs",
    "with_clock_warnings",
    "with_order_warnings",
    "with_unseen_iterations",
    "with_warnings",
    "without_busy_causes",
    "without_busy_claims",
    "without_busy_curves",
    "without_busy_losses",
    "without_busy_orders",
    "without_steady_claims",
]
