# SPDX-License-Identifier: Apache-2.0
"""For programs: blocks in which others kept the host busy, and what their load alone could make of a difference."""

from tare.report.shape import JsonShape, key


class BusyBlocksShape(JsonShape):
    """The complete blocks in which the host was busy during one of the trials compared."""

    blocks: list[int] = key("their numbers")
    left_out: bool = key(
        "whether they are left out; `false`: too few others are left, so they count, and nothing is claimed"
    )


class LoadEffectShape(JsonShape):
    """What the load of others alone could make of a difference ([method.md](method.md), "A busy machine")."""

    used: float = key(
        "processors' worth that others, or a quota, took from the arm that seems slower in its busiest block"
    )
    processors: int = key("how many processors its trials had")
    most: float = key(
        "how much nearer to 0 the interval would end if the load cost this arm alone, as a fraction"
    )
