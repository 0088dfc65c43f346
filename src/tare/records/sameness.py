# SPDX-License-Identifier: Apache-2.0
"""What must be the same in all arms of a comparison: the program that is measured, and the code path it takes."""

from dataclasses import dataclass

from tare.records.treated import Cell

PROGRAM = "program digest"
"""The fact that holds the SHA-256 of the measured program's file, as the node sees it."""
BLAS = "blas"
"""The fact that names the BLAS library and the kernel that it chose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike:
    """A fact that differs between native and an environment."""

    cell: Cell
    environment: str
    fact: str
    """``PROGRAM`` or ``BLAS``."""
    native: str
    here: str
