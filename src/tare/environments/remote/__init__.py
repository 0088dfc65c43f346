# SPDX-License-Identifier: Apache-2.0
"""This side of the ``ssh`` environment: the connection, its traffic, and its questions (docs/ssh.md).

``tare.far`` is the other side, and runs on the other host.
"""
