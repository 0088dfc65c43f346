# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: A005 - it is always named bench.statistics
"""The tables of docs/statistics.md, made anew: ``python -m bench.statistics``."""
