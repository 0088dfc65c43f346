# SPDX-License-Identifier: Apache-2.0
"""The campaign that a result folder keeps, for those who continue it and for those who only read it."""

from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.plan.definition import Campaign
from tare.untrusted import from_json


def kept_campaign(folder: ResultFolder) -> Campaign:
    """The campaign that a result folder belongs to; ``InputError`` if it is none or damaged."""
    where = str(folder.path / CAMPAIGN_FILE)
    try:
        data = from_json(folder.read_campaign())
    except ValueError:
        data = None
    return Campaign.from_json(data, where)
