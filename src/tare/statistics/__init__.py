# SPDX-License-Identifier: Apache-2.0
"""Statistics for few, paired, noisy and skewed values: numbers in, estimates and chances out.

It imports nothing else of Tare and needs only numpy. Contents:

- one sample: ``signed_rank`` (Hodges and Lehmann's estimate), ``huber``, ``median``, ``student``, ``variance``;
- one run against the two native runs of its block: ``aligned_ranks``, ``sharper`` (with placements), ``exchange``;
- samples with their intervals and p-values: ``contrasts``; to add an interval, write one function, an ``Interval``;
- several looks at growing data: ``boundary``; p-values and equivalence under looks: ``evidence``;
- many claims together: ``multiplicity``; letters for what was not distinguished: ``letters``;
- a series: ``series`` (dependence, drift, jump, carry-over), ``levels``; regardless of order: ``shape``;
- how many blocks an interval needs: ``blocks``; beneath all: ``distributions``, ``tails``.

Start with the functions exported here.
"""

from typing import TYPE_CHECKING

from tare.statistics.estimate import Estimate, as_fraction

if TYPE_CHECKING:
    from tare.statistics.contrasts import Blocks, ByInterval, Contrast, Differences, Interval
    from tare.statistics.evidence import Reach, difference_p, equivalence_p
    from tare.statistics.median import median_estimate
    from tare.statistics.multiplicity import benjamini_hochberg, holm
    from tare.statistics.signed_rank import hodges_lehmann
    from tare.statistics.student import mean_estimate

__all__ = [
    "Blocks",
    "ByInterval",
    "Contrast",
    "Differences",
    "Estimate",
    "Interval",
    "Reach",
    "as_fraction",
    "benjamini_hochberg",
    "difference_p",
    "equivalence_p",
    "hodges_lehmann",
    "holm",
    "mean_estimate",
    "median_estimate",
]


def __getattr__(name: str) -> object:
    """Load numpy when a function that needs it is first used: few of Tare's commands need it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tare.statistics import contrasts, evidence, median, multiplicity, signed_rank, student  # noqa: PLC0415

    modules = (contrasts, evidence, median, multiplicity, signed_rank, student)
    return next(getattr(module, name) for module in modules if hasattr(module, name))
