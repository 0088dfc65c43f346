# SPDX-License-Identifier: Apache-2.0
"""Whether this process is root's or an ordinary user's."""

import os


def ordinary_user() -> bool:
    """Whether this process runs without root."""
    return os.geteuid() != 0
