# SPDX-License-Identifier: Apache-2.0
"""What one of a campaign's hosts has more of than the others: why it may be slow, whatever the environment."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from tare.analyze.host_speeds import apart_from_others
from tare.records import Outcome, Signal
from tare.records.diagnostics import HostExcess
from tare.records.signals import HostSignals
from tare.statistics.estimate import LEVEL
from tare.statistics.student import mean_estimate

_LOST_TIMES = (
    *("throttled_above_s", "throttled_s", "host_steal_s", "steal_s", "foreign_cpu_s", "psi_cpu_some_s"),
    *("psi_io_some_s", "psi_memory_some_s", "interrupt_s", "softirq_s"),
)
_EVENTS = (
    *("thermal_throttles", "tcp_timeouts", "tcp_retransmissions", "tcp_lost_retransmissions"),
    *(
        "interface_drops",
        "interface_errors",
        "switch_drops",
        "queue_drops",
        "major_faults",
        "pages_swapped_in",
    ),
)
_WORTH_A_NAME = 0.05
"""Of the time of its processors."""
_LEAST_RATE = 0.1
"""Events per second: fewer are any host's."""

_Values = Mapping[int, Mapping[str, float]]
"""Block → host → value."""


def host_excesses(outcomes: Sequence[Outcome]) -> tuple[HostExcess, ...]:
    """What makes a host stand out, host by host; signals in the order of what they say about the mechanism.

    Within a block hosts are compared with each other. Where each block has one host alone, blocks are. A signal that
    a host lacks in a trial is left out of that trial.
    """
    hosts = {host for outcome in outcomes for host in outcome.host_signals}
    if len(hosts) < 2:  # noqa: PLR2004 - one host has nothing to be compared with
        return ()
    by_signal = _by_signal(outcomes)
    level = 1 - (1 - LEVEL) / (len(hosts) * max(1, len(by_signal)))
    named = [each for name, values in by_signal.items() for each in _of_signal(name, values, level)]
    return tuple(sorted(named, key=lambda each: each.host))


def _by_signal(outcomes: Sequence[Outcome]) -> Mapping[str, _Values]:
    """Signal → block → host → mean over the block's trials."""
    values: dict[str, dict[int, dict[str, list[float]]]] = {
        name: defaultdict(lambda: defaultdict(list)) for name in (*_LOST_TIMES, *_EVENTS)
    }
    for outcome in outcomes:
        for host, own in outcome.host_signals.items():
            for signal in own.signals if own.span_s > 0 else ():
                if signal.name in values:
                    values[signal.name][outcome.trial.block][host].append(_rate(signal, own))
    return {
        name: {block: {host: fmean(rates) for host, rates in own.items()} for block, own in by_block.items()}
        for name, by_block in values.items()
        if len({host for own in by_block.values() for host in own}) > 1
    }


def _rate(signal: Signal, own: HostSignals) -> float:
    return signal.value / own.span_s / (own.processors if signal.name in _LOST_TIMES else 1)


def _of_signal(name: str, by_block: _Values, level: float) -> Iterator[HostExcess]:
    apart: dict[str, list[float]] = defaultdict(list)
    for host, value in apart_from_others(by_block):
        apart[host].append(value)
    least = _WORTH_A_NAME if name in _LOST_TIMES else _LEAST_RATE
    for host, values in apart.items():
        excess = mean_estimate(values, level)
        if excess.low is not None and excess.low > 0 and excess.point > least:
            own = fmean(times[host] for times in by_block.values() if host in times)
            unit = "1" if name in _LOST_TIMES else "1/s"
            yield HostExcess(host=host, signal=name, unit=unit, own=own, excess=excess)
