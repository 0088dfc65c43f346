# SPDX-License-Identifier: Apache-2.0
"""This side of the ``ssh`` environment: the connection, what is carried over it, and what is asked (docs/ssh.md).

``tare.far`` is the other side, and runs on the other host.
"""
