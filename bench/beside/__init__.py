# SPDX-License-Identifier: Apache-2.0
"""Tare's own workloads beside the programs whose part they have: ``python -m bench.beside``."""
