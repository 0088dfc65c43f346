# SPDX-License-Identifier: Apache-2.0
"""What a continued result was begun with: its campaign, image and rights. Nothing else may continue it."""

import secrets
from dataclasses import replace

from tare.errors import InputError, JournalError
from tare.host.delegation import PRIVILEGES, privileges
from tare.journal.reader import Journal
from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.measure.kept import kept_campaign
from tare.measure.users import continued_user, settled_user
from tare.plan.campaign import Campaign, differences, with_overrides
from tare.plan.trials import refuse_misnamed
from tare.records import USUAL_BOUNDS, Bounds, Fault, Session

_CHANGEABLE = ("budget_s", "undecided_fails")
"""What may differ in a continued result: neither changes what is measured or concluded."""


def settled(asked: Campaign, folder: ResultFolder) -> Campaign:
    """The campaign with its seed and user fixed: for a new folder, or as in an existing result.

    ``InputError`` if the folder belongs to another campaign.
    """
    if not folder.exists():
        seed = asked.seed if asked.seed is not None else secrets.randbelow(1 << 31)
        return with_overrides(asked, seed=seed, user=settled_user(asked.user))
    kept = kept_campaign(folder)
    wanted = with_overrides(
        asked,
        seed=kept.seed if asked.seed is None else None,
        user=continued_user(kept.user, asked.user),
    )
    wanted = replace(_as_bounded(wanted, kept), choices=kept.choices)
    if changed := [words for words in differences(kept, wanted) if not words.startswith(_CHANGEABLE)]:
        raise InputError(
            f"{folder.path} holds another campaign ({'; '.join(changed)}); choose another --output"
        )
    return wanted


def _as_bounded(wanted: Campaign, kept: Campaign) -> Campaign:
    """Continue a result without bounds, from an older version, without them, unless unusual ones are requested."""
    if kept.limits.bounds != Bounds() or wanted.limits.bounds != USUAL_BOUNDS:
        return wanted
    return replace(wanted, limits=replace(wanted.limits, bounds=kept.limits.bounds))


def refuse_another(folder: ResultFolder, journal: Journal, image_digest: str) -> None:
    """``InputError`` if it was begun with another image or other rights, ``JournalError`` if its campaign changed."""
    _refuse_changed_campaign(journal)
    refuse_misnamed(outcome.trial for outcome in journal.outcomes)
    if journal.sessions:
        begun = journal.sessions[0]
        _refuse_other_image(folder, begun, image_digest)
        _refuse_other_rights(folder, begun)


def _refuse_changed_campaign(journal: Journal) -> None:
    """Refuse a changed campaign: its trials would not be the ones that ran."""
    for damage in journal.integrity.damage:
        if (damage.file, damage.fault) == (CAMPAIGN_FILE, Fault.ALTERED):
            raise JournalError(damage.sentence)


def _refuse_other_image(folder: ResultFolder, begun: Session, digest: str) -> None:
    if begun.image_digest != digest:
        raise InputError(
            f"{folder.path} was begun with another image ({begun.image_digest[:19]}..., "
            f"now {digest[:19]}...); start a new result, or bring that image back"
        )


def _refuse_other_rights(folder: ResultFolder, begun: Session) -> None:
    """Refuse other rights: nodes held by other means are different nodes."""
    before, now = begun.host.get(PRIVILEGES), privileges()
    if before not in {None, now}:
        raise InputError(
            f"{folder.path} was begun with other rights ({before}, now {now}); continue it with those, or start a "
            "new result"
        )
