# SPDX-License-Identifier: Apache-2.0
"""Nodes of every technology: the interface of a provider, and code that providers share (standard library only)."""
