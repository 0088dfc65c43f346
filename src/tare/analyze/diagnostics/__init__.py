# SPDX-License-Identifier: Apache-2.0
"""Checks of the values behind an interval: what widens it, what qualifies it; docs/method.md gives the rates."""

from tare.analyze.diagnostics.checks import findings
from tare.analyze.diagnostics.judging import diagnosed
from tare.statistics.series import widening

__all__ = ["diagnosed", "findings", "widening"]
