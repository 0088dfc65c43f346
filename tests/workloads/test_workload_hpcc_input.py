# SPDX-License-Identifier: Apache-2.0
"""The problem that hpcc is given: its size, its grid and its file."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workloads.recorded import SHAPE, recorded

from tare.errors import InputError
from tare.workloads.hpcc import INPUT, Hpcc, HpccOptions
from tare.workloads.hpcc.input import check_fits, input_text, problem_size, process_grid

BLOCK = st.integers(1, 4096)
MEMORY_BYTE = st.integers(0, 1 << 50)


@given(MEMORY_BYTE, BLOCK)
def test_the_size_is_the_largest_multiple_of_the_block_that_fits(memory_byte: int, block_size: int) -> None:
    size = problem_size(memory_byte, block_size)
    assert size % block_size == 0
    assert size == block_size or 8 * size**2 <= memory_byte
    assert 8 * (size + block_size) ** 2 > memory_byte


def test_known_sizes_of_a_machine_with_24105_mebibyte() -> None:
    """benchmarks of the same machine: 10 % gives 17664, 50 % gives 39744."""
    memory_byte = 24105 << 20
    assert problem_size(0.1 * memory_byte, 192) == 17664
    assert problem_size(0.5 * memory_byte, 192) == 39744


@given(st.integers(1, 4096))
def test_the_grid_uses_every_rank_and_is_as_square_as_can_be(ranks: int) -> None:
    rows, columns = process_grid(ranks)
    assert rows * columns == ranks
    assert rows <= columns
    assert not [other for other in range(rows + 1, math.isqrt(ranks) + 1) if ranks % other == 0]


def test_a_matrix_that_just_fits_is_accepted_and_one_row_more_is_not() -> None:
    check_fits(1024, 8 << 20)
    with pytest.raises(InputError, match="N = 1025"):
        check_fits(1025, 8 << 20)


@given(st.integers(1, 10**6), BLOCK, st.integers(1, 1024))
def test_hpcc_s_fixed_lines_hold_what_was_asked(size: int, block_size: int, ranks: int) -> None:
    """hpcc reads by line number, and no more than 81 characters of a line."""
    lines = input_text(size, block_size, process_grid(ranks)).splitlines()
    assert len(lines) == 36
    assert max(map(len, lines)) < 80
    values = [line.split()[0] for line in lines]
    assert (values[5], values[7]) == (str(size), str(block_size))
    assert int(values[10]) * int(values[11]) == ranks


def test_the_file_is_the_one_that_the_recorded_run_read() -> None:
    job = Hpcc().job(HpccOptions(problem_size=2000), SHAPE)
    assert job.files[INPUT] == recorded("hpcc", "two-ranks").files[INPUT]


def test_less_memory_than_one_block_needs_is_refused() -> None:
    with pytest.raises(InputError, match="block_size"):
        Hpcc().job(HpccOptions(block_size=4096), replace(SHAPE, memory_byte=64 << 20))
