# SPDX-License-Identifier: Apache-2.0
"""``tare run RESULT --more``: further blocks for a finished result, recorded by the session that adds them."""

from pathlib import Path

from tare.drawing.words import counted
from tare.errors import InputError, JournalError
from tare.journal.reader import Journal
from tare.plan.blocks import MOST_BLOCKS
from tare.plan.definition import Campaign


def added_blocks(journal: Journal) -> tuple[int, ...]:
    """The blocks that were added so far, one number for each time."""
    return max((session.added_blocks for session in journal.sessions), key=len, default=())


def check_more(more: int, campaign: Campaign, journal: Journal, left: int, where: Path) -> None:
    """Refuse to add ``more`` blocks to a result that cannot take them.

    ``left``: wanted trials that have not been run. ``JournalError`` if the journal is damaged, ``InputError`` if the
    result is not finished, if each environment stopped before the last block, or if there would be too many blocks.
    """
    if not 1 <= more <= MOST_BLOCKS - campaign.blocks:
        raise InputError(
            f"--more: must be 1 to {MOST_BLOCKS - campaign.blocks}, as {where} has {counted(campaign.blocks, 'block')} "
            f"of at most {MOST_BLOCKS}, but is {more}"
        )
    if damage := journal.integrity.damage:
        raise JournalError(
            f"{where}: its journal is damaged ({damage[0].sentence}), so no blocks are added to it; restore it from a "
            "copy, or begin a new result"
        )
    if not journal.outcomes or left:
        trials = f"{counted(left, 'trial')} left" if journal.outcomes else "nothing was measured"
        raise InputError(f"{where} is not finished ({trials}): continue it first, with tare run {where}")
    if max(outcome.trial.block for outcome in journal.outcomes) < campaign.blocks - 1:
        raise InputError(
            f"{where}: each environment stopped before the last of {counted(campaign.blocks, 'block')}, as it was "
            "measured well enough; for narrower intervals begin a new result with a smaller precision"
        )
