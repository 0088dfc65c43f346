# SPDX-License-Identifier: Apache-2.0
"""Five environments and eight metrics against one native: what is falsely claimed, and what is found."""

from collections.abc import Callable

import numpy as np

from bench.simulation.intervals import difference_p
from bench.simulation.scenarios import RUN, Arms, Floats
from bench.statistics.markdown import percent, table
from tare.statistics.multiplicity import ERROR, benjamini_hochberg, holm

ENVIRONMENTS, METRICS, BLOCKS = 5, 8, 15
TRUE_ONES = 8
TRUE_EFFECT = 0.04
WAYS: dict[str, Callable[[Floats], Floats]] = {
    "each by itself": np.asarray,
    "Holm": holm,
    "Benjamini-Hochberg": benjamini_hochberg,
}


def claims(campaigns: int, seed: int) -> str:
    nothing, something = (_p_values(campaigns, seed, count) for count in (0, TRUE_ONES))
    rows = []
    for name, adjusted in WAYS.items():
        false_alone = adjusted(nothing) <= ERROR * (1 + 1e-9)
        claimed = adjusted(something) <= ERROR * (1 + 1e-9)
        values, false = claimed[:, :TRUE_ONES], claimed[:, TRUE_ONES:]
        rate = np.mean(false.sum(axis=1) / np.maximum(1, claimed.sum(axis=1)))
        shares = (np.mean(false_alone.any(axis=1)), np.mean(values), rate, np.mean(false.any(axis=1)))
        rows.append([name, *(percent(share, 1) for share in shares)])
    head = [
        "p-values adjusted by",
        "nothing true: any claim",
        "8 of 40 are +4 %: found",
        "false of those claimed",
    ]
    return table([*head, "any false"], rows)


def _p_values(campaigns: int, seed: int, true_ones: int) -> Floats:
    """(campaigns, claims); the claims on one metric share native's two runs. True ones come first."""
    generator = np.random.default_rng([seed, true_ones])
    native = generator.normal(0.0, RUN, (2, campaigns, 1, METRICS, BLOCKS))
    here = generator.normal(0.0, RUN, (campaigns, ENVIRONMENTS, METRICS, BLOCKS))
    first, second = (np.broadcast_to(entry, here.shape).reshape(-1, BLOCKS) for entry in native)
    here.reshape(campaigns, -1, BLOCKS)[:, :true_ones] += TRUE_EFFECT
    return difference_p(Arms(first, second, here.reshape(-1, BLOCKS))).reshape(campaigns, -1)
