# SPDX-License-Identifier: Apache-2.0
"""What became of each published claim on this host."""

from dataclasses import dataclass
from enum import StrEnum

from tare.records.published import Agreement, Paper, View


class ClaimFate(StrEnum):
    """Whether a claim was reproduced, and if not, why not."""

    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOT_YET = "not measured yet"
    """More of the same run would measure it, or a run of its own with more time."""
    IMPOSSIBLE = "not possible here"
    """It takes something that this host lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedClaim:
    """A claim with its fate."""

    view: View
    agreement: Agreement
    fate: ClaimFate
    why: str
    """Empty where the fate says it all."""
    needs: tuple[str, ...] = ()
    """What would be needed; empty but for ``IMPOSSIBLE`` and ``NOT_YET``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPaper:
    """A paper with the fates of its claims."""

    paper: Paper
    result: str
    """The result's folder."""
    claims: tuple[ListedClaim, ...]
    points: tuple[str, ...]
    """What was measured otherwise than the paper had it, as sentences."""
    measured: str
    """When, on what and how often, in words; empty where nothing was."""
    error: str | None = None
    """Why nothing could be run now; ``None``: it ran, or all was there."""
