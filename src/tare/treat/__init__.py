# SPDX-License-Identifier: Apache-2.0
"""Outcomes in, summaries out: pure functions, no input or output."""

from tare.treat.curves import curves
from tare.treat.helpers import helper_summaries
from tare.treat.instances import InstanceFigure, per_instance
from tare.treat.pairing import summaries
from tare.treat.sharing import sharing_summaries
from tare.treat.waiting import wait_summaries

__all__ = [
    "InstanceFigure",
    "curves",
    "helper_summaries",
    "per_instance",
    "sharing_summaries",
    "summaries",
    "wait_summaries",
]
