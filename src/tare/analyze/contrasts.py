# SPDX-License-Identifier: Apache-2.0
"""The blocks of a summary as contrasts, and the choice of their interval, made only here."""

from collections.abc import Callable, Container, Sequence

from tare.records import CONTROL_NAME, Summary
from tare.statistics.contrasts import Blocks, Contrast, Differences, Values, widened

AGAINST_NATIVES: Callable[[Values, Values], Contrast] = Blocks
"""For an environment's run and its block's two native runs. An alternative: ``partial(ByInterval, function)``."""
BETWEEN_TWO: Callable[[Values], Contrast] = Differences
"""For one difference per block: native against native, or one environment against another."""


def against_natives(log_ratios: Values, controls: Values) -> Contrast:
    """Log-ratios of an environment against both natives, and of the second native against the first."""
    return AGAINST_NATIVES(log_ratios, controls)


def between_two(differences: Sequence[float]) -> Contrast:
    """Log-ratios of one run against another in each block."""
    return BETWEEN_TWO(tuple(differences))


def contrast_of(summary: Summary, numbers: Container[int] | None = None) -> Contrast:
    """The blocks of a summary with these ``numbers``, widened; all blocks if ``None``."""
    return widened(unwidened_of(summary, numbers))


def unwidened_of(summary: Summary, numbers: Container[int] | None = None) -> Contrast:
    """These blocks as measured: a combination of several summaries is widened once, by its own dependence.

    Native against native has no third run; its two runs are alike, which makes their difference symmetric.
    """
    log_ratios, controls = (
        _taken(summary, values, numbers) for values in (summary.log_ratios, summary.control_log_ratios)
    )
    if summary.environment == CONTROL_NAME:
        return between_two(log_ratios)
    return against_natives(log_ratios, controls)


def controls_of(summary: Summary, numbers: Container[int] | None = None) -> Contrast:
    """Native against native in those blocks."""
    return widened(between_two(_taken(summary, summary.control_log_ratios, numbers)))


def _taken(summary: Summary, values: Sequence[float], numbers: Container[int] | None) -> Values:
    rows = zip(summary.blocks, values, strict=True)
    return tuple(value for block, value in rows if numbers is None or block.block in numbers)
