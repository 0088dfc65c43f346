# SPDX-License-Identifier: Apache-2.0
"""The host and what it offers: processes, mounts, control groups, facts. Knows no step of the flow."""
