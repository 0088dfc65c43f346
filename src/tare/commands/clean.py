# SPDX-License-Identifier: Apache-2.0
"""``tare clean``: take away what a killed run left."""

import json

from tare.measure.clean import clean_up
from tare.measure.lock import host_lock
from tare.records import SCHEMA


def run_clean(as_json: bool) -> int:
    """Print the names of the removed nodes."""
    with host_lock("clean"):
        removed = clean_up()
    if as_json:
        print(json.dumps({"schema": SCHEMA, "removed": removed}))
    else:
        print("\n".join(f"removed {name}" for name in removed) or "nothing was left behind")
    return 0
