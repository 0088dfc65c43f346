# SPDX-License-Identifier: Apache-2.0
"""What every family of the list keeps to, on recorded texts and on broken ones."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import REPOSITORY
from tests.signals.signal_texts import PLACE, RECORDED, texts_of

from tare.signals import FAMILIES, UNREAD
from tare.signals.disks import Disks
from tare.signals.family import SignalFamily, Unreadable
from tare.signals.place import Place

UNITS = {"s", "1", "byte", "J", "Hz", "°C"}
BESIDE = {
    *("vcpu_wait_s", "steal_s", "voluntary_switches", "involuntary_switches", "foreign_cpu_s"),
    *("system_call_cost_s", "clock_read_cost_s"),
}
TEXT = (REPOSITORY / "docs" / "signals.md").read_text()
every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda entry: entry.kinds[0].name)


def names(family: SignalFamily) -> set[str]:
    return {kind.name for kind in family.kinds}


@every_family
def test_a_recorded_text_gives_signals_of_the_family_and_no_others(family: SignalFamily) -> None:
    for text in texts_of(Disks(frozenset({"vda"})) if isinstance(family, Disks) else family):
        result = (Disks(frozenset({"vda"})) if isinstance(family, Disks) else family).parse(text, PLACE)
        assert result
        assert set(result) <= names(family)
        assert all(math.isfinite(value) and value >= 0 for value in result.values())


@every_family
@pytest.mark.parametrize("broken", [b"", b"\0\xff\n", b"no such file\n", b"<html>"])
def test_a_broken_text_is_refused_in_words(family: SignalFamily, broken: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        family.parse(broken, PLACE)


@every_family
@given(st.data())
def test_a_torn_text_gives_an_error_or_signals_but_never_a_crash(
    family: SignalFamily, data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from(texts_of(family)))
    torn = text[: data.draw(st.integers(0, len(text)))] + data.draw(st.binary(max_size=20))
    try:
        result = family.parse(torn, PLACE)
    except ValueError:
        return
    assert set(result) <= names(family)


@every_family
def test_a_family_without_what_it_needs_says_why(family: SignalFamily) -> None:
    """With processors that no host has, no groups, no networks: either it is of the host, or it says why it is not."""
    text = ""
    try:
        sources = family.sources(Place(processors=(1 << 20,)))
    except Unreadable as reason:
        sources, text = (), str(reason)
    assert bool(sources) != bool(re.search(r"\w+ \w+", text))


def test_every_signal_has_a_name_of_its_own_and_a_known_unit() -> None:
    result = [kind.name for family in FAMILIES for kind in family.kinds]
    assert len(result) == len(set(result))
    assert not set(result) & (BESIDE | set(UNREAD))
    assert {kind.unit for family in FAMILIES for kind in family.kinds} <= UNITS


def test_a_unit_stands_in_the_name() -> None:
    ends = {"s": "_s", "byte": "_byte", "J": "_j", "Hz": "_hz", "°C": "_c"}
    for family in FAMILIES:
        for kind in family.kinds:
            if kind.unit in ends:
                assert kind.name.endswith(ends[kind.unit])


def test_only_seconds_of_a_node_are_time_lost() -> None:
    lost = [kind for family in FAMILIES for kind in family.kinds if kind.lost_time]
    assert lost
    assert all(kind.unit == "s" and kind.scope == "node" for kind in lost)


def test_every_family_has_a_recorded_text() -> None:
    assert {type(family) for family in FAMILIES} == set(RECORDED)


def test_the_page_explains_every_signal_with_its_unit_and_no_others() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)` \| ([^|]+) \|", TEXT)
    kinds = {kind.name: kind.unit for family in FAMILIES for kind in family.kinds}
    result = {name: unit.strip() for name, unit in rows if name in kinds}
    assert result == kinds
    assert {name for name, _ in rows} == set(kinds) | BESIDE | set(UNREAD)
