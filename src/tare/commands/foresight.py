# SPDX-License-Identifier: Apache-2.0
"""What a campaign can decide, as a table for ``tare plan``."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from tare.commands.console import PlainConsole
from tare.drawing.words import counted
from tare.plan.campaign import Campaign
from tare.records import POWER, Foresight, LookForesight

_MOST_LOOKS = 5
_SHOWN_EFFECTS = (0.0, 0.2)


def print_foresights(foresights: Sequence[Foresight], campaign: Campaign) -> None:
    """Print one row for each arm with known noise, and the meaning of the columns."""
    console = PlainConsole()
    console.print("What the looks can decide at the noise of this host:")
    for looks in dict.fromkeys(tuple(look.blocks for look in foresight.looks) for foresight in foresights):
        rows = [
            foresight for foresight in foresights if tuple(look.blocks for look in foresight.looks) == looks
        ]
        console.print(_table(rows, campaign.margin))
    for source in dict.fromkeys((foresight.noise.source, foresight.noise.n) for foresight in foresights):
        console.print(f"Noise from {source[0]} (n = {counted(source[1], 'block')}).")
    console.print(
        f"Slower: the smallest overhead that is found so with a chance of {100 * POWER:g} %. "
        "Blocks: run on average until the environment stops. Simulated, with normal noise.\n"
    )


def to_json(foresights: Sequence[Foresight]) -> list[dict[str, Any]]:
    """The table as JSON; docs/campaign.md gives its meaning."""
    return [
        dataclasses.asdict(foresight) | {"within_from": foresight.within_from} for foresight in foresights
    ]


def _table(rows: Sequence[Foresight], margin: float) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("environment", "in", "blocks\nvary by"):
        table.add_column(title, overflow="fold")
    for look in _shown(rows[0].looks):
        table.add_column(f"slower, at\nblock {look.blocks}", justify="right")
    table.add_column(f"±{margin * 100:g} %\nshown", overflow="fold")
    for effect in _SHOWN_EFFECTS:
        table.add_column(f"blocks at\n+{effect * 100:g} %", justify="right")
    for row in rows:
        table.add_row(*_cells(row))
    return table


def _cells(row: Foresight) -> list[str]:
    expected = {expected_blocks.overhead: expected_blocks.blocks for expected_blocks in row.expected}
    within = "not in reach" if row.within_from is None else f"at block {row.within_from}"
    return [
        row.environment,
        f"{row.workload} {row.layout}",
        f"{100 * row.noise.spread:.2g} %",
        *(_smallest(look) for look in _shown(row.looks)),
        within,
        *(f"{expected[effect]:.0f}" for effect in _SHOWN_EFFECTS),
    ]


def _smallest(look: LookForesight) -> str:
    return "none" if look.smallest_slowdown is None else f"{100 * look.smallest_slowdown:.2g} %"


def _shown(looks: Sequence[LookForesight]) -> list[LookForesight]:
    """The first and the last look, and some between if there are many."""
    if len(looks) <= _MOST_LOOKS:
        return list(looks)
    places = {round(part * (len(looks) - 1) / (_MOST_LOOKS - 1)) for part in range(_MOST_LOOKS)}
    return [looks[place] for place in sorted(places)]
