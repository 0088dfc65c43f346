# SPDX-License-Identifier: Apache-2.0
"""Known truths are planted on this host and looked for with all of Tare, driver included: docs/calibration.md.

``phases`` holds one file for each phase: the campaigns that it needs, and its pure judgement of their outcomes;
its ``__init__`` is their explicit list, and ``conduct`` runs it.
"""
