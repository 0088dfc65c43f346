# SPDX-License-Identifier: Apache-2.0
"""Summaries in, overheads and verdicts out: pure functions, no input or output."""

from tare.analyze.estimation import CONTROL_NAME, controls, overhead
from tare.analyze.judgement import verdict, verdicts

__all__ = ["CONTROL_NAME", "controls", "overhead", "verdict", "verdicts"]
