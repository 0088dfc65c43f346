# SPDX-License-Identifier: Apache-2.0
"""MPI programs that leave processors of their instance idle."""

from dataclasses import replace

import pytest
from pydantic import ValidationError
from tests.workloads.recorded import SHAPE

from tare.errors import InputError
from tare.workloads import KINDS
from tare.workloads.command import CommandOptions
from tare.workloads.hpl import Hpl, HplOptions
from tare.workloads.kind import Span
from tare.workloads.npb import NpbOptions
from tare.workloads.part_used import idle_facts, part_used

FOUR = replace(SHAPE, processors=4)
ACROSS = replace(FOUR, span=Span(hosts=("one", "two"), subnet="198.18.0.0/16"))


def test_fewer_processes_start_and_the_problem_is_divided_among_these() -> None:
    argv = Hpl().job(HplOptions(ranks=1), part_used(HplOptions(ranks=1), FOUR)).argv
    assert argv[argv.index("-np") + 1] == "1"
    assert argv[argv.index("--process-columns") + 1] == "1"


def test_each_node_of_an_instance_has_an_equal_share_of_the_ranks() -> None:
    argv = Hpl().job(HplOptions(ranks=2), part_used(HplOptions(ranks=2), ACROSS)).argv
    assert argv[argv.index("--host") + 1] == "one:1,two:1"
    with pytest.raises(InputError, match="equally by the 2 nodes"):
        part_used(HplOptions(ranks=3), ACROSS)


def test_ranks_with_threads_take_as_many_processors_as_threads() -> None:
    assert part_used(NpbOptions(ranks=1, threads=2), FOUR).processors == 2
    with pytest.raises(InputError, match="ranks = 3 of 2 threads need more than the 4 processors"):
        part_used(NpbOptions(ranks=3, threads=2), FOUR)


def test_idle_processors_are_a_fact_and_whole_instances_have_none() -> None:
    assert idle_facts(HplOptions(ranks=1), FOUR) == {
        "processors in use": "1 of 4 of each instance; the others idle"
    }
    assert part_used(HplOptions(), FOUR) is FOUR
    assert idle_facts(HplOptions(ranks=4), FOUR) == idle_facts(HplOptions(), FOUR) == {}


def test_every_mpi_kind_has_the_option_and_a_command_needs_mpi_for_it() -> None:
    with_ranks = {name for name, kind in KINDS.items() if "ranks" in kind.options_model.model_fields}
    assert with_ranks == {
        name for name, kind in KINDS.items() if "profile" in kind.options_model.model_fields
    }
    with pytest.raises(ValidationError, match="set mpi = true"):
        CommandOptions(argv=["x"], ranks=1)
