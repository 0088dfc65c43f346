# SPDX-License-Identifier: Apache-2.0
"""Two looks and what grew between them; what is missing is named and never 0."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from tare.host.facts import online_processors
from tare.records import Scope
from tare.signals import FAMILIES
from tare.signals.family import Kind, SignalFamily, TextSource, Unreadable
from tare.signals.place import Place
from tare.signals.watch import Found, watched_signals

PLACE = Place(processors=(0,), own_network=True)


class Script(TextSource):
    """Says one text after the other."""

    def __init__(self, *texts: bytes) -> None:
        self.texts = list(texts)
        self.closed = False

    def read(self) -> bytes:
        if not self.texts:
            raise Unreadable("nothing more is said")
        return self.texts.pop(0)

    def close(self) -> None:
        self.closed = True


class Made(SignalFamily):
    """A count and a time, ``1 2``, of as many sources as there are scripts."""

    kinds: tuple[Kind, ...] = (
        Kind(name="count", unit="1", scope=Scope.NODE, of_network=True),
        Kind(name="time_s", unit="s", scope=Scope.NODE, lost_time=True),
    )

    def __init__(self, *scripts: Script) -> None:
        self.scripts = scripts

    def sources(self, place: Place) -> Sequence[TextSource]:  # noqa: ARG002 - the same for every place
        return self.scripts

    def parse(self, text: bytes, place: Place) -> Mapping[str, float]:  # noqa: ARG002 - the same for every place
        values = [float(word) for word in text.split()]
        return dict(zip([kind.name for kind in self.kinds], values, strict=False))


class Level(Made):
    kinds = (Kind(name="level_c", unit="°C", scope=Scope.HOST, level=True),)


def found(family: SignalFamily, place: Place = PLACE, glances: int = 0) -> Found:
    with watched_signals(place, [family]) as watch:
        watch.begin()
        for _ in range(glances):
            watch.glance()
        watch.end()
    return watch.found()


def test_a_signal_is_what_grew_in_all_sources_together() -> None:
    result = found(Made(Script(b"1 0.5", b"4 0.75"), Script(b"10 1", b"10 2")))
    assert {signal.name: signal.value for signal in result.signals} == {"count": 3.0, "time_s": 1.25}
    assert [signal.lost_time for signal in result.signals] == [False, True]
    assert result.missing == {}


def test_a_source_that_falls_silent_makes_all_its_signals_missing() -> None:
    result = found(Made(Script(b"1 0.5", b"4 0.75"), Script(b"10 1")))
    assert result.signals == []
    assert result.missing == {"count": "nothing more is said", "time_s": "nothing more is said"}


def test_a_signal_that_one_source_does_not_tell_is_missing_alone() -> None:
    result = found(Made(Script(b"1 0.5", b"4 0.75"), Script(b"10", b"20")))
    assert [signal.name for signal in result.signals] == ["count"]
    assert result.missing == {"time_s": "this kernel does not count it"}


def test_a_count_that_went_back_is_missing_and_not_negative() -> None:
    result = found(Made(Script(b"5 1", b"4 2")))
    assert [signal.name for signal in result.signals] == ["time_s"]
    assert "went back" in result.missing["count"]


def test_a_text_that_is_not_understood_is_missing_with_what_is_wrong() -> None:
    result = found(Made(Script(b"1 2", b"x y")))
    assert result.signals == []
    assert "not understood" in result.missing["count"]


def test_no_source_at_all_is_nothing_counted() -> None:
    assert set(found(Made()).missing) == {"count", "time_s"}


def test_a_level_is_that_of_the_run_and_not_what_it_was_before() -> None:
    result = found(Level(Script(b"20", b"50", b"60", b"70")), glances=2)
    assert result.levels["level_c"] == (20.0, 50.0, 60.0, 70.0)
    assert result.signals[0].value == pytest.approx(60.0)


def test_counts_are_not_read_while_the_command_runs() -> None:
    script = Script(b"1 2", b"3 4")
    assert len(found(Made(script), glances=5).signals) == 2


def test_a_shared_network_is_the_hosts() -> None:
    shared = replace(PLACE, own_network=False)
    result = found(Made(Script(b"1 2", b"3 4")), shared)
    assert [signal.scope for signal in result.signals] == [Scope.HOST, Scope.NODE]


def test_nodes_on_another_host_have_no_signal_of_this_one() -> None:
    result = found(Made(Script(b"1 2", b"3 4")), replace(PLACE, elsewhere=True))
    assert set(result.missing.values()) == {"the nodes are on another host"}


def test_what_was_opened_is_closed() -> None:
    script = Script(b"1 2", b"3 4")
    found(Made(script))
    assert script.closed


def test_on_this_host_every_signal_is_told_or_named_with_why() -> None:
    place = Place(processors=online_processors())
    with watched_signals(place, FAMILIES) as watch:
        watch.begin()
        watch.end()
    result = watch.found()
    names = {signal.name for signal in result.signals}
    assert names | set(result.missing) == {kind.name for family in FAMILIES for kind in family.kinds}
    assert not names & set(result.missing)
    assert {"softirq_s", "host_minor_faults"} <= names
    assert all(result.missing.values())
