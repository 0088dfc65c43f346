# SPDX-License-Identifier: Apache-2.0
"""Outcomes in, summaries out: pure functions, no input or output."""

from tare.treat.instances import InstanceFigure, per_instance
from tare.treat.pairing import summaries

__all__ = ["InstanceFigure", "per_instance", "summaries"]
