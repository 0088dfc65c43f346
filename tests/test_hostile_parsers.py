# SPDX-License-Identifier: Apache-2.0
"""Every parser under some mutated inputs, always the same; ``tests/hostile/parsers.py`` gives each a million."""

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from tare import units
from tare.environments.libvirt import virsh
from tare.errors import NodeError, TareError
from tare.host.cgroups import parse_processors
from tare.workloads import mpi, npb_reference
from tare.workloads.hpcc.checks import check_success
from tests.conftest import REPOSITORY
from tests.hostile import parsers, target
from tests.hostile.mutation import Mutator
from tests.hostile.target import Target, attack

COUNT = 150
TARGETS = parsers.all_targets()
NEVER_WHOLE = {
    "kernel's file": "only its beginning is recorded",
    "questions to another host": "a conversation always ends",
}
"""Parser → why it refuses even what was recorded."""


def attacked(own: Target, count: int = COUNT) -> target.Tally:
    return attack(own, Mutator(own.name, own.seeds, 7), iter(range(count)), time.monotonic() + 60.0)


@pytest.mark.parametrize("own", TARGETS, ids=lambda own: own.name)
def test_whatever_it_is_given_a_parser_answers_or_raises_an_error_of_tares_in_time(own: Target) -> None:
    tally = attacked(own)
    assert tally.broken == {}, tally.examples
    assert tally.worst_s < target.LIMIT_S
    assert tally.inputs == COUNT


@pytest.mark.parametrize("own", TARGETS, ids=lambda own: own.name)
def test_what_was_recorded_is_understood_so_that_its_mutations_reach_all_of_the_parser(own: Target) -> None:
    refused = attacked(own, len(own.seeds)).refused
    assert (refused.total() == len(own.seeds)) == (own.name in NEVER_WHOLE)


HPCC = (REPOSITORY / "tests" / "outputs" / "hpcc" / "two-ranks" / "hpccoutf.txt").read_bytes()
FOUND = (
    ("hpcc", re.sub(rb"(MPIRandomAccess_ExeUpdates=)[0-9]+", rb"\g<1>" + b"9" * 5000, HPCC)),
    ("another host's files", b'{"files": [{"name": "i0/stdout", "whole": 5, "pieces": [[]]}]}'),
    ("another host's files", b'{"files": [{"name": "i0/stdout", "whole": 5, "pieces": [[3, -2]]}]}'),
    ("schedstat", b"9" * 5000 + b" 1"),
    ("vzlist and prlctl", b"vzctl version " + b"9" * 5000 + b".1"),
    ("signals of HostPressure", b"some avg10=0.00 total=" + b"9" * 400),
    ("stopwatch's PONG", b"9" * 5000),
)
"""Parser and an input that broke it once."""


@pytest.mark.parametrize(("name", "text"), FOUND, ids=range(len(FOUND)))
def test_what_broke_a_parser_once_does_so_no_more(name: str, text: bytes) -> None:
    (own,) = [each for each in TARGETS if each.name == name]
    with suppress(*own.refusals):
        own.parse(text)


LONG = 1 << 18
SQUARES: dict[str, Callable[[], object]] = {
    "Open MPI's brackets": lambda: mpi.transports("[\n" * LONG),
    "Open MPI's chatter": lambda: mpi.without_chatter("[ \n" * LONG),
    "hpcc's digits": lambda: check_success("9" * LONG, {}),
    "hpcc's tests": lambda: check_success("1 tests " * (LONG // 8), {}),
    "hpcc's errors": lambda: check_success("Found 1 errors " * (LONG // 15), {}),
    "NPB's names": lambda: npb_reference.result_block(
        f"Benchmark Completed\nA{' ' * LONG}b npb@nas.nasa.gov"
    ),
    "NPB's values": lambda: npb_reference.result_block(
        f"Benchmark Completed\nA = x{' ' * LONG}y\nnpb@nas.nasa.gov"
    ),
    "virsh's lines": lambda: virsh.parse_cpu_s("\n" * LONG),
    "a campaign's duration": lambda: units.parse_duration_s("9" * LONG),
    "processors": lambda: parse_processors("0-999999," * LONG),
}
"""Of each, an input that took the square of its length, and minutes, or all memory."""


@pytest.mark.parametrize("name", SQUARES)
def test_a_long_input_takes_no_more_than_its_length(name: str) -> None:
    begun = time.process_time()
    with target.time_limit(target.LIMIT_S), suppress(TareError, ValueError):
        SQUARES[name]()
    assert time.process_time() - begun < 2.0


def test_the_same_number_and_seed_give_the_same_input() -> None:
    mutator, again, other = (Mutator("a", [b'{"a": [1, 2]}'], seed) for seed in (1, 1, 2))
    assert [mutator.input(number) for number in range(300)] == [again.input(number) for number in range(300)]
    assert [mutator.input(number) for number in range(300)] != [other.input(number) for number in range(300)]


class TestTheAttackItself:
    """A runner that finds nothing must be one that would have found it."""

    def test_another_error_is_found_with_its_input(self) -> None:
        def parse(text: bytes) -> None:
            if b"9" * 400 in text:
                raise KeyError("a")
            raise NodeError("no")

        tally = attacked(Target(name="x", seeds=[b'{"a": 1}'], parse=parse), 400)
        assert tally.broken["KeyError"] > 0
        assert b"9" * 400 in Mutator("x", [b'{"a": 1}'], 7).input(tally.examples["KeyError"])
        assert tally.refused["NodeError"] == 400 - tally.broken["KeyError"]

    def test_one_that_does_not_end_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(target, "LIMIT_S", 0.05)

        def parse(text: bytes) -> None:
            while text:
                pass

        assert sum(attacked(Target(name="x", seeds=[b"a"], parse=parse), 1).broken.values()) == 1

    def test_one_that_fills_the_memory_and_one_that_dies_are_found(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        full = Target(name="full", seeds=[b"a"], parse=lambda _: bytearray(3 << 30))
        dead = Target(name="dead", seeds=[b"a"], parse=lambda _: os._exit(3))
        fine = Target(name="fine", seeds=[b"a"], parse=len)
        monkeypatch.setattr(parsers, "all_targets", lambda: [full, dead, fine])
        assert parsers.main(["--count", "3", "--seed", "5"]) == 1
        first, second, third = capfd.readouterr().out.splitlines()
        assert "3 MemoryError (input 0)" in first
        assert "BROKEN: 1 the process ended (3)" in second
        assert third.startswith("fine: 3 inputs (seed 5)")
        assert "BROKEN" not in third
