# SPDX-License-Identifier: Apache-2.0
"""The append-only record of sessions and outcomes; everything else is derived from it."""
