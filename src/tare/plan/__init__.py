# SPDX-License-Identifier: Apache-2.0
"""Campaign file in, trials out: environments, layouts and workloads in randomized blocks from a logged seed.

Starts no process.
"""
