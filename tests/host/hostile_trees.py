# SPDX-License-Identifier: Apache-2.0
"""Folders as a hostile workload makes them."""

import os
from pathlib import Path


def deep_folder(top: Path, levels: int) -> Path:
    """Folders in each other, with a file at the bottom; no path can be as long as this is deep."""
    top.mkdir(parents=True)
    at = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=at)
        below = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)
    return top
