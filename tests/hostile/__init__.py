# SPDX-License-Identifier: Apache-2.0
"""Attacks in full, for `make test-hostile`: programs that print counts and seed, and exit 1 when one got through."""
