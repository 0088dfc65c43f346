# SPDX-License-Identifier: Apache-2.0
"""Arms that take turns: all nodes of a block are up together, and only one works at a time."""
