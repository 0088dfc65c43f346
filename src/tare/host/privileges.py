# SPDX-License-Identifier: Apache-2.0
"""Whose this process is."""

import os


def ordinary_user() -> bool:
    """Whether it is not root's."""
    return os.geteuid() != 0
