# SPDX-License-Identifier: Apache-2.0
"""P6: CPU quotas of 95 and 50 %, whose cost is known only where nobody else wants the processors."""

import math
import os
import statistics
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tare.calibrate.bench import PhaseSetting, Run, campaign
from tare.calibrate.evidence import Evidence
from tare.calibrate.gates import Named, meets, percent, pooled_estimate, told
from tare.calibrate.phases.phase import Phase
from tare.environments.planted import QUOTA
from tare.host.privileges import ordinary_user
from tare.records import NATIVE, Environment, Gate, Outcome, Status

RUN = "quota"
PERIOD_S = 0.1
QUOTAS = {"quota-95": 0.95, "quota-50": 0.5}
RUN_S = 0.24
"""CPU time of one run: a few periods of the quota."""
MOST_PRESSURE, MOST_STEAL = 0.01, 0.005
"""Shares of the time; above either, the host is not idle enough for the formula."""
_WATCH_S = 3.0
_THROTTLED = "throttled_s"
_LEAST_FLAGGED = 0.9


def runs(setting: PhaseSetting) -> tuple[Run, ...]:
    """Native without a quota, and two environments with one."""
    if not setting.bench.real:
        return ()
    iterations = round(setting.iterations * RUN_S / setting.size.run_s)
    quotas = tuple(
        Environment(name=name, technology=NATIVE, options={QUOTA: share}) for name, share in QUOTAS.items()
    )
    workload = setting.bench.work(iterations)
    return (Run(name=RUN, campaign=campaign(RUN, workload, setting.size.quota_blocks, quotas)),)


def obstacle() -> str | None:
    """Say what is missing for quotas, which need root's control groups."""
    return "a quota of one environment alone needs root" if ordinary_user() else None


def measured() -> Mapping[str, float]:
    """Load of the host just before the phase, as shares of the time; unreadable figures are left out."""
    before, begun = _readings(), time.monotonic()
    time.sleep(_WATCH_S)
    after, passed_s = _readings(), time.monotonic() - begun
    return {name: (after[name] - before[name]) / passed_s for name in before if name in after}


def _readings() -> dict[str, float]:
    """Seconds of CPU pressure (some) and of steal so far, over all processors."""
    readings: dict[str, float] = {}
    for name, read in (("pressure", _pressure_s), ("steal", _steal_s)):
        try:
            readings[name] = read()
        except (OSError, ValueError, IndexError):
            continue
    return readings


def _pressure_s() -> float:
    """CPU pressure: the first line of /proc/pressure/cpu ends in ``total=MICROSECONDS``."""
    return int(Path("/proc/pressure/cpu").read_text().splitlines()[0].rpartition("total=")[2]) * 1e-6


def _steal_s() -> float:
    """Steal: the eighth figure of the first line of /proc/stat, in ticks (proc(5))."""
    return int(Path("/proc/stat").read_text().splitlines()[0].split()[8]) / os.sysconf("SC_CLK_TCK")


def judge(evidence: Evidence) -> tuple[Gate, ...]:
    """Check the formula on an idle host, and visible throttling on any host."""
    if RUN not in evidence.rounds:
        why = evidence.obstacles.get("P6", "no run was made")
        return (Named("P6", "quota", "a quota's cost is found").not_run(why),)
    idle = _idle_words(evidence.measured)
    formulas = (_formula(evidence, name, share, idle) for name, share in QUOTAS.items())
    return (*formulas, *_throttling(evidence.outcomes(RUN)))


def _idle_words(measured: Mapping[str, float]) -> str | None:
    """Why the host was not idle enough; ``None`` when it was."""
    for name, most in (("pressure", MOST_PRESSURE), ("steal", MOST_STEAL)):
        if name not in measured:
            return f"not attributable: nobody can tell here whether the host is idle ({name} is not counted)"
        if measured[name] > most:
            return f"not attributable: {name} was {measured[name]:.1%} of the time before, over {most:.1%}"
    return None


def _formula(evidence: Evidence, name: str, share: float, busy: str | None) -> Gate:
    named = Named("P6", name, f"the cost of a quota of {share:.0%} is what its periods make it, wall_s")
    if busy is not None:
        return named.not_run(busy)
    estimate = pooled_estimate(evidence, evidence.series(RUN, name, "wall_s"))
    native_s = [
        sample.value
        for outcome in evidence.outcomes(RUN)
        if outcome.trial.environment.name == NATIVE and outcome.status is Status.OK
        for sample in outcome.samples
        if sample.name == "wall_s"
    ]
    if estimate is None or not native_s:
        return named.not_run("too few complete blocks")
    low, high = planted_range(statistics.median(native_s), share)
    return named.passed(
        meets(estimate, low, high), f"{told(estimate)}; planted {percent(low)} to {percent(high)}"
    )


def planted_range(cpu_s: float, share: float) -> tuple[float, float]:
    """Least and most overhead, as fractions, of a command with ``cpu_s`` of CPU time, within one stall."""
    quota_s = share * PERIOD_S
    stalls = math.floor(cpu_s / quota_s)
    stall_s = PERIOD_S - quota_s
    return max(0, stalls - 1) * stall_s / cpu_s, (stalls + 1) * stall_s / cpu_s


def _throttling(outcomes: tuple[Outcome, ...]) -> Iterator[Gate]:
    claim = "throttling is seen in runs with a quota of 50 %, and in none without"
    named = Named("P6", "throttling", claim)
    limited = [outcome for outcome in outcomes if outcome.trial.environment.name == "quota-50"]
    free = [outcome for outcome in outcomes if outcome.trial.environment.name == NATIVE]
    known = [outcome for outcome in (*limited, *free) if _throttled_s(outcome) is not None]
    if not limited or len(known) < len(limited) + len(free):
        yield named.not_run("the time for which a node is throttled is not counted here")
        return
    seen = sum((_throttled_s(outcome) or 0.0) > 0 for outcome in limited)
    wrong = sum((_throttled_s(outcome) or 0.0) > 0 for outcome in free)
    words = f"{seen} of {len(limited)} runs with it, {wrong} of {len(free)} without"
    yield named.passed(seen >= _LEAST_FLAGGED * len(limited) and wrong == 0, words)


def _throttled_s(outcome: Outcome) -> float | None:
    return next((signal.value for signal in outcome.signals if signal.name == _THROTTLED), None)


QUOTA_PHASE = Phase(name="P6", title="a CPU quota", runs=runs, judge=judge, obstacle=obstacle)
