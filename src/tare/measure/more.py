# SPDX-License-Identifier: Apache-2.0
"""``tare run RESULT --more``: further blocks for a finished result, recorded by the session that adds them."""

from pathlib import Path

from tare.errors import InputError, JournalError
from tare.journal.reader import Journal
from tare.plan.blocks import MOST_BLOCKS
from tare.plan.definition import Campaign


def added_blocks(campaign: Campaign, journal: Journal) -> tuple[int, ...]:
    """The blocks that were added so far, one number for each time.

    ``JournalError`` if a campaign cannot have so many: Tare never wrote that.
    """
    added = max((session.added_blocks for session in journal.sessions), key=len, default=())
    if any(blocks < 1 for blocks in added) or campaign.blocks + sum(added) > max(
        MOST_BLOCKS, campaign.blocks
    ):
        raise JournalError(
            "the journal says that impossible numbers of blocks were added to this result: it was altered; restore it "
            "from a copy, or begin a new result"
        )
    return added


def check_more(more: int, campaign: Campaign, journal: Journal, left: int, where: Path) -> None:
    """Refuse to add ``more`` blocks to a result that cannot take them.

    ``left``: wanted trials that have not been run. ``JournalError`` if the journal is damaged, ``InputError`` if the
    result is not finished, if each environment stopped before the last block, or if there would be too many blocks.
    """
    if not 1 <= more <= MOST_BLOCKS - campaign.blocks:
        raise InputError(
            f"--more: must be 1 to {MOST_BLOCKS - campaign.blocks}, as {where} has {campaign.blocks} of at most "
            f"{MOST_BLOCKS} blocks, but is {more}"
        )
    if damage := journal.integrity.damage:
        raise JournalError(
            f"{where}: its journal is damaged ({damage[0].sentence}), so no blocks are added to it; restore it from a "
            "copy, or begin a new result"
        )
    if not journal.outcomes or left:
        trials = f"trials left: {left}" if journal.outcomes else "nothing was measured"
        raise InputError(f"{where} is not finished ({trials}): continue it first, with tare run {where}")
    if max(outcome.trial.block for outcome in journal.outcomes) < campaign.blocks - 1:
        raise InputError(
            f"{where}: each environment stopped before the last of {campaign.blocks} blocks, as it was measured well "
            "enough; for narrower intervals begin a new result with a smaller precision"
        )
