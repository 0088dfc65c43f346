# SPDX-License-Identifier: Apache-2.0
"""One file for each phase: which campaigns it needs, and a pure judgement of what they left."""
