# SPDX-License-Identifier: Apache-2.0
"""What a host has more of than the others is named with the host, and moves no verdict."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.series_example import outcome, trial

from tare.analyze import host_excesses, overhead, verdict
from tare.records import NATIVE, Outcome, Scope, Signal, Word
from tare.records.diagnostics import HostExcess
from tare.records.signals import HostSignals
from tare.report.hosts import excesses_said
from tare.treat import summaries

BLOCKS = 8


def counted(values: Mapping[str, float], span_s: float = 2.0) -> HostSignals:
    signals = (
        Signal(name=name, unit="s", scope=Scope.HOST, value=value * span_s) for name, value in values.items()
    )
    return HostSignals(processors=1, span_s=span_s, signals=tuple(signals))


def with_signals(block: int, name: str, hosts: Mapping[str, Mapping[str, float]]) -> Outcome:
    own = {host: counted(values) for host, values in hosts.items()}
    return replace(outcome(trial(block, name), [1.0]), host_signals=own)


def result(
    rates: Mapping[str, Mapping[str, float]], at_once: int, seed: int = 1, noise: float = 0.1
) -> list[Outcome]:
    """Hosts take turns; every signal of each varies."""
    chance, names = random.Random(seed), list(rates)  # noqa: S311 - noise that can be repeated
    made = []
    for block in range(BLOCKS * len(names) // at_once):
        chosen = [names[(block * at_once + number) % len(names)] for number in range(at_once)]
        for environment in (NATIVE, "docker"):
            varied = {
                host: {name: rate * chance.lognormvariate(0, noise) for name, rate in rates[host].items()}
                for host in chosen
            }
            made.append(with_signals(block, environment, varied))
    return made


def named(outcomes: list[Outcome]) -> list[tuple[str, str]]:
    return [(each.host, each.signal) for each in host_excesses(outcomes)]


QUIET = {"throttled_above_s": 0.0, "tcp_retransmissions": 0.02, "psi_cpu_some_s": 0.03, "foreign_cpu_s": 0.02}


@pytest.mark.parametrize("at_once", [1, 2, 4])
@pytest.mark.parametrize(
    ("signal", "rate"), [("throttled_above_s", 0.5), ("tcp_retransmissions", 40.0), ("foreign_cpu_s", 0.4)]
)
def test_a_planted_cause_is_named_with_its_host_and_no_other_is(
    signal: str, rate: float, at_once: int
) -> None:
    hosts = {"a": QUIET, "b": QUIET, "odd": {**QUIET, signal: rate}, "d": QUIET}
    assert named(result(hosts, at_once)) == [("odd", signal)]


def test_equal_hosts_rarely_stand_out() -> None:
    rates = {"foreign_cpu_s": 0.3, "psi_cpu_some_s": 0.3, "tcp_retransmissions": 5.0}
    equal = dict.fromkeys("abcd", rates)
    seen = [bool(named(result(equal, 4, seed=seed, noise=0.5))) for seed in range(100)]
    assert sum(seen) <= 8


def test_what_stands_out_is_said_with_what_the_others_have() -> None:
    hosts = {"a": QUIET, "b": {**QUIET, "throttled_above_s": 0.5, "tcp_retransmissions": 40.0}}
    said = excesses_said(host_excesses(result(hosts, 2, noise=0.0)))
    assert said == (
        "host b stands out: held back by a CPU quota above the nodes' own (50 % of its processors' time, "
        "others 0 %), TCP segments retransmitted (40 a second, others 0.02)"
    )


def test_a_signal_that_a_host_lacks_is_not_zero() -> None:
    """It has nothing to be compared with."""
    lacking = [with_signals(block, NATIVE, {"a": {"host_steal_s": 0.5}, "b": {}}) for block in range(BLOCKS)]
    assert named(lacking) == []


def test_one_host_or_none_stands_out_from_nothing() -> None:
    assert named(result({"a": QUIET}, 1)) == []
    assert host_excesses([outcome(trial(0), [1.0])]) == ()
    none: tuple[HostExcess, ...] = ()
    assert excesses_said(none) == ""


@pytest.mark.parametrize("overhead_share", [0.0, 0.03])
@pytest.mark.parametrize("at_once", [1, 2])
def test_a_host_with_half_the_speed_moves_no_verdict(overhead_share: float, at_once: int) -> None:
    """All arms of a block are on the same hosts, and a trial waits for the slowest of them."""
    speeds, chance = {"a": 1.0, "b": 1.0, "slow": 2.0, "d": 1.0}, random.Random(7)  # noqa: S311 - as above
    names, made = list(speeds), []
    for block in range(24):
        chosen = [names[(block * at_once + number) % len(names)] for number in range(at_once)]
        factor = max(speeds[host] for host in chosen)
        arms = ((NATIVE, 0, 0.0), (NATIVE, 1, 0.0), ("docker", 0, overhead_share))
        for name, replicate, share in arms:
            time_s = factor * (1 + share) * chance.lognormvariate(0, 0.004)
            made.append(outcome(trial(block, name, replicate), [time_s]))
    (summary,) = summaries(made, {"work": ("time_s",)})
    judged = verdict(overhead(summary), 0.01)
    assert judged.word is (Word.SLOWER if overhead_share else Word.WITHIN)
    assert judged.overhead.typical.point == pytest.approx(overhead_share, abs=0.005)
    assert max(abs(math.log1p(value)) for value in summary.log_ratios) < 0.1
