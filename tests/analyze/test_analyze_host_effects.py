# SPDX-License-Identifier: Apache-2.0
"""What a host costs a workload is found by the workload's own times, as far as hosts take turns."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.series_example import outcome, trial

from tare.analyze.host_effects import host_effects
from tare.records import Direction, Layout, Outcome, Sample
from tare.records.diagnostics import HostEffect
from tare.report.hosts import effects_said
from tare.treat import host_times

METRICS = {"work": ("time_s",)}
EQUAL = dict.fromkeys("abcd", 1.0)


def outcomes(
    factors: dict[str, float], layout: str, blocks: int, noise: float = 0.02, seed: int = 1
) -> list[Outcome]:
    """Both natives of each block; an instance takes as long as its slowest host, and the block's own factor."""
    source, names = random.Random(seed), list(factors)  # noqa: S311 - noise that can be repeated
    wanted = Layout.parse(layout)
    made = []
    for block in range(blocks):
        hosts = tuple(source.sample(names, wanted.hosts))
        of_block = source.lognormvariate(0, 0.3 if wanted.instances > 1 else 0.0)
        for replicate in (0, 1):
            times = [
                of_block * source.lognormvariate(0, noise) * max(factors[host] for host in own)
                for own in _shares(hosts, wanted.instances)
            ]
            made.append(_outcome(block, replicate, wanted, hosts, times))
    return made


def _shares(hosts: Sequence[str], instances: int) -> list[list[str]]:
    size = len(hosts) // instances
    return [list(hosts[place * size : (place + 1) * size]) for place in range(instances)]


def _outcome(
    block: int, replicate: int, layout: Layout, hosts: tuple[str, ...], times_s: Sequence[float]
) -> Outcome:
    plain = outcome(replace(trial(block, replicate=replicate), layout=layout, hosts=hosts), [1.0])
    samples = tuple(
        Sample(name="time_s", value=value, unit="s", direction=Direction.LESS, instance=instance)
        for instance, value in enumerate(times_s)
    )
    return replace(plain, samples=samples)


def effects(made: Sequence[Outcome]) -> tuple[HostEffect, ...]:
    return host_effects(host_times(made, METRICS))


@pytest.mark.parametrize("layout", ["1c1p1i", "2c1p1i on 2", "4c1p4i on 4"])
def test_a_host_that_costs_a_third_more_is_found_alone_with_that_size(layout: str) -> None:
    known = effects(outcomes({**EQUAL, "slow": 4 / 3}, layout, 20))
    assert [effect.host for effect in known if effect.is_slow] == ["slow"]
    slow = known[0].slower
    assert slow.low is not None
    assert slow.high is not None
    assert slow.low < 1 / 3 < slow.high
    assert slow.high - slow.low < 0.15
    assert effects_said(known).startswith("work, time_s: with slow ")


def test_runs_at_the_same_time_are_compared_with_each_other_whatever_the_block_took() -> None:
    """The blocks differ by 30 %, the hosts by 10 %."""
    slow, *others = effects(outcomes({**EQUAL, "slow": 1.1}, "5c1p5i on 5", 6))
    assert (slow.host, slow.is_slow) == ("slow", True)
    assert len(others) == 4


def test_hosts_that_are_always_together_have_no_effects() -> None:
    assert effects(outcomes({**EQUAL, "slow": 2.0}, "5c1p1i on 5", 12)) == ()


def test_one_host_and_too_few_runs_say_nothing() -> None:
    assert effects(outcomes({"a": 1.0}, "1c1p1i", 8)) == ()
    assert effects(outcomes(EQUAL, "1c1p1i", 4)) == ()
    assert effects([]) == ()


def test_equal_hosts_are_rarely_told_apart() -> None:
    """In at most 5 % of the campaigns does any interval leave out 0; with 200 of them, 19 are too many."""
    wrong = 0
    for seed in range(200):
        own = effects(outcomes(EQUAL, "3c1p3i on 3", 8, noise=0.1, seed=seed))
        ends = [(each.slower.low, each.slower.high) for each in own]
        assert len(ends) == 4
        wrong += any(low is not None and high is not None and not low < 0 < high for low, high in ends)
    assert wrong < 19
