# SPDX-License-Identifier: Apache-2.0
"""Whether a program fails more often in an environment than natively.

The interval of a rate is Clopper and Pearson's (Biometrika 26 (1934) 404-413). Rates are compared by Fisher's exact
test, two-sided: the tables that are at most as likely as the one seen (Agresti, Categorical Data Analysis, 3.5). Both
take runs for independent of each other.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tare.records import NATIVE, Cell, FailureCount, FailureRate
from tare.statistics.distributions import beta_quantile
from tare.units import DASH

_ERROR = 0.05
_ROUNDING = 1 + 1e-9
"""Tables of equal probability differ by rounding."""


def failure_rates(counts: Sequence[FailureCount]) -> tuple[FailureRate, ...]:
    """The rates of all arms of each cell in which a run failed; none where every run ended well."""
    failing = {count.cell for count in counts if count.failed}
    natives = {count.cell: count for count in counts if count.environment == NATIVE}
    own = [count for count in counts if count.cell in failing]
    chances = _adjusted(
        [count for count in own if count.environment != NATIVE and count.cell in natives], natives
    )
    return tuple(
        _rate(count, natives.get(count.cell), chances.get((count.cell, count.environment))) for count in own
    )


def _adjusted(
    counts: Sequence[FailureCount], natives: Mapping[Cell, FailureCount]
) -> dict[tuple[Cell, str], float]:
    """Holm's step-down adjustment (Scandinavian Journal of Statistics 6 (1979) 65-70)."""
    raw = sorted(
        (fisher_chance(count.failed, count.runs, natives[count.cell].failed, natives[count.cell].runs), index)
        for index, count in enumerate(counts)
    )
    adjusted: dict[tuple[Cell, str], float] = {}
    largest = 0.0
    for place, (chance, index) in enumerate(raw):
        largest = max(largest, min(1.0, chance * (len(raw) - place)))
        adjusted[counts[index].cell, counts[index].environment] = largest
    return adjusted


def _rate(count: FailureCount, native: FailureCount | None, chance: float | None) -> FailureRate:
    low, high = rate_interval(count.failed, count.runs)
    native_runs, native_failed = (native.runs, native.failed) if native else (0, 0)
    rate = FailureRate(
        cell=count.cell,
        environment=count.environment,
        runs=count.runs,
        failed=count.failed,
        low=low,
        high=high,
        native_runs=native_runs,
        native_failed=native_failed,
        chance=chance,
        claim=f"{count.failed} of {count.runs} runs failed ({_percent(low)}{DASH}{_percent(high)} %)",
    )
    return rate if chance is None else _compared(rate, chance)


def _compared(rate: FailureRate, chance: float) -> FailureRate:
    more = rate.failed * rate.native_runs > rate.native_failed * rate.runs
    natively = f"natively {rate.native_failed} of {rate.native_runs}"
    decided = chance <= _ERROR
    said = (
        f"{'more' if more else 'less'} often than natively" if decided else "no more often than chance allows"
    )
    return replace(rate, claim=f"{rate.claim}, {natively}: {said}")


def rate_interval(failed: int, runs: int) -> tuple[float, float]:
    """The 95 % interval of a rate."""
    low = beta_quantile(failed, runs - failed + 1, _ERROR / 2) if failed else 0.0
    high = beta_quantile(failed + 1, runs - failed, 1 - _ERROR / 2) if failed < runs else 1.0
    return low, high


def fisher_chance(failed: int, runs: int, native_failed: int, native_runs: int) -> float:
    """The probability of a table at most as likely as this one, given its margins."""
    total, all_failed = runs + native_runs, failed + native_failed
    least, most = max(0, all_failed - native_runs), min(all_failed, runs)
    logs = [
        _log_choose(runs, own) + _log_choose(native_runs, all_failed - own) - _log_choose(total, all_failed)
        for own in range(least, most + 1)
    ]
    seen = math.exp(logs[failed - least])
    return min(1.0, sum(chance for chance in map(math.exp, logs) if chance <= seen * _ROUNDING))


def _log_choose(total: int, chosen: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)


def _percent(share: float) -> str:
    return f"{100 * share:.2g}" if share < 1 else "100"
