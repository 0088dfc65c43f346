# SPDX-License-Identifier: Apache-2.0
"""Campaigns as jobs of a scheduler: a block is one job, which continues the result that all jobs share."""
