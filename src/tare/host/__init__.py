# SPDX-License-Identifier: Apache-2.0
"""What the host is and offers: processes, mounts, control groups, facts. Knows no step of the flow."""
