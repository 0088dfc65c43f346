# SPDX-License-Identifier: Apache-2.0
"""Nodes, whatever technology makes them: what a provider owes, and what providers share (Python's own library only)."""
