# SPDX-License-Identifier: Apache-2.0
"""The other side of the ``ssh`` environment: it starts and stops nodes on the host that ssh has reached (docs/ssh.md).

Runs with nothing but Python's own library, as ``tare.environments.remote`` has carried it there.
"""
