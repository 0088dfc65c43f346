# SPDX-License-Identifier: Apache-2.0
"""Signals that method.md asks for and this version does not read: named in every trial, with why."""

from collections.abc import Mapping

UNREAD: Mapping[str, str] = {
    "dtlb_misses": "this version does not read the processors' own counters (perf_event_open)",
}
