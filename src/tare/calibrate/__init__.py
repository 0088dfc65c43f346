# SPDX-License-Identifier: Apache-2.0
"""Known truths are planted on this host and measured with all of Tare, including the driver: docs/calibration.md.

``phases`` holds one file per phase: the campaigns that it needs, and its pure judgement of their outcomes. Its
``__init__`` lists the phases, and ``conduct`` runs them.
"""
