# SPDX-License-Identifier: Apache-2.0
"""The campaign stored in a result folder, for continuing and for reading it."""

from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.plan.definition import Campaign
from tare.untrusted import from_json


def kept_campaign(folder: ResultFolder) -> Campaign:
    """The campaign of a result folder; ``InputError`` if it is missing or damaged."""
    where = str(folder.path / CAMPAIGN_FILE)
    try:
        data = from_json(folder.read_campaign())
    except ValueError:
        data = None
    return Campaign.from_json(data, where)
