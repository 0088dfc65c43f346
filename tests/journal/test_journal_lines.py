# SPDX-License-Identifier: Apache-2.0
"""A record becomes one line and comes back the same; a line that is none is named."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.journal.journal_example import a_session, an_outcome, outcomes, sessions

from tare.errors import JournalError
from tare.journal import lines
from tare.journal.lines import decode, encode, read_record
from tare.records import SCHEMA, Coordinate, Outcome, Session


@given(outcomes)
def test_an_outcome_comes_back_as_it_was(outcome: Outcome) -> None:
    assert decode(encode(outcome).removesuffix(b"\n"), "here") == outcome


LATER = ("helper_cpu_s", "helpers", "vcpu_wait_s", "steal_s", "clock_fault", "timer_inversions")
"""Fields that results of earlier versions lack."""


@given(outcomes)
def test_a_line_of_an_earlier_version_is_read_and_what_it_lacks_is_not_known(outcome: Outcome) -> None:
    line = json.loads(encode(outcome))
    for name in LATER:
        del line["record"][name]
    for run in line["record"]["instances"]:
        del run["host_span_s"]
    back = decode(json.dumps(line).encode(), "here")
    assert isinstance(back, Outcome)
    assert [getattr(back, name) for name in LATER] == [None] * len(LATER)
    assert all(run.host_span_s is None for run in back.instances)
    assert back.samples == outcome.samples


@given(outcomes, st.floats(0, 1e12))
def test_a_place_of_an_earlier_version_is_read_as_its_coordinate(outcome: Outcome, size_byte: float) -> None:
    """With a seal and without one; a figure there had an empty place."""
    line = json.loads(encode(outcome))
    line["record"]["samples"] = [
        {"name": name, "value": 1.0, "unit": "s", "direction": "less is better", "x": x, "x_unit": unit}
        for name, x, unit in (("figure", None, None), ("place", size_byte, "B"))
    ]
    text = json.dumps(line, separators=(",", ":")).encode()
    for back in (decode(text, "here"), read_record("outcome", text, "here")):
        assert isinstance(back, Outcome)
        figure, place = back.samples
        assert figure.coordinates == ()
        assert place.coordinates == (Coordinate("size", size_byte, "B"),)


@given(sessions)
def test_a_session_comes_back_as_it_was(session: Session) -> None:
    assert decode(encode(session).removesuffix(b"\n"), "here") == session


@given(outcomes)
def test_a_record_is_one_line_whatever_it_holds(outcome: Outcome) -> None:
    line = encode(outcome)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line)["schema"] == SCHEMA


@given(outcomes, st.data())
def test_a_line_cut_anywhere_is_refused(outcome: Outcome, data: st.DataObject) -> None:
    line = encode(outcome).removesuffix(b"\n")
    cut = line[: data.draw(st.integers(0, len(line) - 1))]
    with pytest.raises(JournalError, match=r"^a\.jsonl:7: not a line of a journal"):
        decode(cut, "a.jsonl:7")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\0\0\0\0",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"17",
        b"{}",
        b'{"schema": 1}',
        b'{"schema": "1", "kind": "outcome", "record": {}}',
        b'{"schema": 1, "kind": "elephant", "record": {}}',
        b'{"schema": 1, "kind": ["outcome"], "record": {}}',
        b'{"schema": 1, "kind": "outcome", "record": {}}',
        b'{"schema": 1, "kind": "session", "record": []}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_record_is_an_error_of_one_line_with_its_place(line: bytes) -> None:
    with pytest.raises(JournalError, match=r"^here: not a line of a journal; restore") as caught:
        decode(line, "here")
    assert "\n" not in str(caught.value)


def test_a_line_of_another_schema_has_to_have_a_seal() -> None:
    line = encode(an_outcome()).replace(b'{"schema":1', b'{"schema":2', 1)
    with pytest.raises(JournalError, match=r"here: not a line of a journal.*schema 2 without a seal"):
        decode(line, "here")


def test_a_missing_value_stays_missing() -> None:
    back = decode(encode(an_outcome()), "here")
    assert isinstance(back, Outcome)
    assert back.reason is None
    assert back.barrier_skew_s is None


def test_the_two_kinds_are_told_apart() -> None:
    assert isinstance(decode(encode(a_session()), "here"), Session)
    assert isinstance(decode(encode(an_outcome()), "here"), Outcome)


def test_the_decimals_of_a_small_number_do_not_call_for_the_slow_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "from_json", None)
    line = encode(replace(an_outcome(), cpu_s=0.000013529022300000002))
    assert isinstance(lines.read_record("outcome", line, "here"), Outcome)


@pytest.mark.parametrize("number", [b"18446744073709551616", b"-18446744073709551616", b"1" * 50, b"1" * 500])
@pytest.mark.parametrize("before", [b"", b"0.000013529022300000002,", b"1.5,"])
def test_an_integer_beyond_64_bits_is_refused_wherever_it_stands(number: bytes, before: bytes) -> None:
    text = b'"cpu_s":[%s%s]' % (before, number)
    line = encode(an_outcome()).replace(b'"cpu_s":0.5', text)
    assert text in line
    with pytest.raises(JournalError, match="64 bits"):
        lines.read_record("outcome", line, "here")
