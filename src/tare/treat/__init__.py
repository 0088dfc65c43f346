# SPDX-License-Identifier: Apache-2.0
"""From outcomes to summaries: pure functions, no input or output."""

from tare.treat.activities import activity_summaries
from tare.treat.curves import curves
from tare.treat.failing import failure_counts
from tare.treat.host_times import host_times
from tare.treat.instances import InstanceFigure, per_instance
from tare.treat.levels import compared, iteration_series, levels
from tare.treat.order import order_summaries
from tare.treat.pairing import summaries
from tare.treat.progress import blocks_out_of_order, exclusions, finished_blocks, predecessors
from tare.treat.ranges import with_ranges
from tare.treat.sharing import sharing_summaries
from tare.treat.signals import signal_evidence
from tare.treat.sweeps import swept
from tare.treat.timers import helper_summaries, timer_summaries, wait_summaries
from tare.treat.traits import traits, unlike

__all__ = [
    "InstanceFigure",
    "activity_summaries",
    "blocks_out_of_order",
    "compared",
    "curves",
    "exclusions",
    "failure_counts",
    "finished_blocks",
    "helper_summaries",
    "host_times",
    "iteration_series",
    "levels",
    "order_summaries",
    "per_instance",
    "predecessors",
    "sharing_summaries",
    "signal_evidence",
    "summaries",
    "swept",
    "timer_summaries",
    "traits",
    "unlike",
    "wait_summaries",
    "with_ranges",
]
