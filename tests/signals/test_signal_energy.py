# SPDX-License-Identifier: Apache-2.0
"""Energy from counters that begin again: what grew is exact, and what is not known is missing and never 0."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.host.device_trees import energy_host

from tare.host.energy import MEMORY, PACKAGE
from tare.measure.iterations import energy_samples
from tare.signals.family import Unreadable
from tare.signals.hardware import Energy, WrappingCounter
from tare.signals.place import Place
from tare.signals.watch import Found, SignalWatch, watched_signals

PLACE = Place(processors=(0,))
PACKAGES = ("intel-rapl:0", "intel-rapl:1")
_RANGE = 10_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return energy_host(tmp_path)


def count(root: Path, zone: str, count_uj: int) -> None:
    (root / "sys/class/powercap" / zone / "energy_uj").write_text(f"{count_uj}\n")


def values(result: Found) -> dict[str, float]:
    return {signal.name: signal.value for signal in result.signals}


def watch(root: Path, kind: str = PACKAGE) -> SignalWatch:
    return SignalWatch(PLACE, [Energy(kind, root)])


def test_energy_is_that_of_all_packages_together_and_memory_has_its_own(root: Path) -> None:
    with watched_signals(PLACE, [Energy(PACKAGE, root), Energy(MEMORY, root)]) as watched:
        watched.begin()
        for zone, grown in ((PACKAGES[0], 3_000_000), (PACKAGES[1], 2_500_000), ("intel-rapl:0:0", 600_000)):
            count(root, zone, grown)
        watched.end()
    assert values(watched.found()) == {
        "energy_j": pytest.approx(2.0 + 0.5),
        "memory_energy_j": pytest.approx(0.5),
    }


@given(start=st.integers(0, _RANGE), steps=st.lists(st.integers(0, _RANGE // 2), max_size=30))
def test_a_counter_grows_by_the_sum_of_its_steps_however_often_it_begins_again(
    tmp_path_factory: pytest.TempPathFactory, start: int, steps: list[int]
) -> None:
    file = tmp_path_factory.getbasetemp() / "energy_uj"
    file.write_text(str(start))
    counter, raw = WrappingCounter(str(file), _RANGE), start
    assert counter.read() == b"0"
    for step in steps:
        raw = (raw + step) % (_RANGE + 1)
        file.write_text(str(raw))
        grown = counter.read()
    assert int(counter.read()) == sum(steps)
    assert not steps or int(grown) == sum(steps)


@given(start=st.integers(1, _RANGE), back=st.integers(1, _RANGE // 2))
def test_a_counter_that_was_set_back_is_missing(
    tmp_path_factory: pytest.TempPathFactory, start: int, back: int
) -> None:
    file = tmp_path_factory.getbasetemp() / "energy_uj"
    file.write_text(str(start))
    counter = WrappingCounter(str(file), _RANGE)
    counter.read()
    file.write_text(str(max(0, start - back)))
    with pytest.raises(Unreadable, match="went back"):
        counter.read()


def test_a_long_run_is_followed_around_the_counter(root: Path) -> None:
    range_uj = 262_143_328_850
    watched = watch(root)
    watched.begin()
    for round_uj in (90_000_000_000, 180_000_000_000, 250_000_000_000, 10_000_000_000):
        count(root, PACKAGES[0], round_uj)
        watched.glance()
    watched.end()
    assert values(watched.found())["energy_j"] == pytest.approx((range_uj + 1 + 10e9 - 1e6) * 1e-6)


def test_only_the_arms_own_turns_count(root: Path) -> None:
    """Between them the packages work for other arms."""
    watched = watch(root)
    watched.begin()
    count(root, PACKAGES[0], 50_000_000)
    watched.glance()
    for begin, end in ((60_000_000, 61_000_000), (90_000_000, 92_000_000)):
        count(root, PACKAGES[0], begin)
        with watched.turn():
            count(root, PACKAGES[0], end)
        watched.glance()
    count(root, PACKAGES[0], 99_000_000)
    watched.end()
    assert values(watched.found()) == {"energy_j": pytest.approx(1.0 + 2.0)}


def test_a_counter_that_falls_silent_in_a_turn_makes_it_missing(root: Path) -> None:
    watched = watch(root)
    watched.begin()
    with watched.turn():
        (root / "sys/class/powercap" / PACKAGES[1] / "energy_uj").unlink()
    watched.end()
    result = watched.found()
    assert result.signals == []
    assert "cannot be read: No such file" in result.missing["energy_j"]


def test_energy_is_a_metric_where_it_is_counted_and_nothing_where_it_is_not(root: Path) -> None:
    watched = watch(root)
    watched.begin()
    count(root, PACKAGES[0], 4_000_000)
    watched.end()
    (sample,) = energy_samples(watched.found().signals)
    assert (sample.name, sample.unit) == ("energy_j", "J")
    assert sample.value == pytest.approx(3.0)
    with watched_signals(PLACE, [Energy(PACKAGE, root / "none")]) as without:
        without.begin()
        without.end()
    assert energy_samples(without.found().signals) == []
    assert without.found().missing == {"energy_j": "this host counts no energy (no RAPL)"}
