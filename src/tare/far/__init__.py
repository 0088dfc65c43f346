# SPDX-License-Identifier: Apache-2.0
"""The other side of the ``ssh`` environment: starts and stops nodes on the host that ssh has reached (docs/hosts.md).

Uses only the standard library; ``tare.environments.ssh`` copies it to the host.
"""
