# SPDX-License-Identifier: Apache-2.0
"""Simulated campaigns with a planted truth; used by ``bench.statistics`` and by tests/analyze."""
