# SPDX-License-Identifier: Apache-2.0
"""How often a printed word is false, and what the promises cost: whole simulated campaigns by Tare's own functions.

python -m bench.statistics --only words          (about ten minutes of one processor)
"""
