# SPDX-License-Identifier: Apache-2.0
"""hpl and hpcg: what is run, and that only a right solution counts."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workloads.recorded import SHAPE, recorded, with_file

from tare.errors import InputError, WrongOutput
from tare.units import MEBIBYTE
from tare.workloads.hpcg import RESULT, Hpcg, HpcgOptions
from tare.workloads.hpl import Hpl, HplOptions

HPL, HPCG = Hpl(), Hpcg()
SMALL = HpcgOptions(program="/opt/hpcg/bin/xhpcg", nx=16, ny=16, nz=16)


def asked_of_hpl(
    *, memory_byte: int = SHAPE.memory_byte, processors: int = SHAPE.processors, **options: object
) -> dict[str, int]:
    shape = replace(SHAPE, memory_byte=memory_byte, processors=processors)
    argv = HPL.job(HplOptions.model_validate(options), shape).argv
    return {
        name: int(argv[argv.index(name) + 1])
        for name in argv
        if name.startswith("--process-") or name == "--size"
    }


@given(st.integers(64, 1 << 20), st.integers(1, 64))
def test_the_chosen_problem_fills_at_most_nine_tenths_of_the_memory(
    memory_mebibyte: int, processors: int
) -> None:
    memory_byte = memory_mebibyte * MEBIBYTE
    asked = asked_of_hpl(memory_byte=memory_byte, processors=processors, block_size=64)
    assert asked["--size"] % 64 == 0
    assert 8 * asked["--size"] ** 2 <= 0.8 * memory_byte
    assert asked["--process-rows"] * asked["--process-columns"] == processors


def test_large_memory_is_filled_as_the_papers_filled_it() -> None:
    assert asked_of_hpl(memory_byte=24105 * MEBIBYTE)["--size"] == 50112


def test_a_grid_is_chosen_by_its_rows() -> None:
    by_rule = asked_of_hpl(processors=6)
    assert (by_rule["--process-rows"], by_rule["--process-columns"]) == (2, 3)
    assert asked_of_hpl(processors=6, process_rows=3)["--process-columns"] == 2
    with pytest.raises(InputError, match="1, 2, 3, 6"):
        asked_of_hpl(processors=6, process_rows=4)


@given(st.integers(1, 256), st.integers(64, 4096))
def test_a_scan_has_every_grid_with_p_up_to_q_and_the_usual_first(ranks: int, mebibyte_per_rank: int) -> None:
    shape = replace(SHAPE, processors=ranks, memory_byte=ranks * mebibyte_per_rank * MEBIBYTE)
    scan = HPL.scan(HplOptions(), shape)
    assert scan is not None
    rows = {candidate["process_rows"] for candidate in scan.candidates}
    assert rows == {row for row in range(1, ranks + 1) if ranks % row == 0 and row <= ranks // row}
    assert scan.candidates[0] == {"block_size": 192, "process_rows": max(rows)}
    usual = asked_of_hpl(memory_byte=shape.memory_byte, processors=ranks)
    size = scan.problem["problem_size"]
    assert isinstance(size, int)
    assert 0 < size <= usual["--size"]
    assert asked_of_hpl(memory_byte=shape.memory_byte, processors=ranks, **scan.candidates[0]) == usual


@pytest.mark.parametrize("given_option", [{"block_size": 192}, {"process_rows": 1}])
def test_a_given_block_or_grid_turns_the_scan_off(given_option: dict[str, int]) -> None:
    assert HPL.scan(HplOptions.model_validate(given_option), SHAPE) is None


def test_a_problem_beyond_the_memory_is_refused_before_it_runs() -> None:
    with pytest.raises(InputError, match=r"hpl with N = 11500 needs .* for its matrix and buffers"):
        asked_of_hpl(problem_size=11500)


def test_the_rate_is_hpls_count_of_operations_over_the_time() -> None:
    run = recorded("hpl", "two-ranks")
    rate, time = HPL.samples(HplOptions(), run)
    size = json.loads(run.stdout)["size"]
    assert rate.value * time.value == pytest.approx(2 / 3 * size**3 + 3 / 2 * size**2)


def test_a_wrong_solution_is_no_figure_though_it_came_faster() -> None:
    with pytest.raises(WrongOutput, match=r"residual is 1.03804e\+11"):
        HPL.samples(HplOptions(), recorded("hpl", "wrong"))


@pytest.mark.parametrize("options", [{"problem_size": 2000}, {"block_size": 64}, {"process_rows": 2}])
def test_another_problem_than_was_asked_is_wrong(options: dict[str, int]) -> None:
    with pytest.raises(WrongOutput, match="was asked"):
        HPL.samples(HplOptions.model_validate(options), recorded("hpl", "two-ranks"))


def test_hpcg_s_rating_and_its_kernels_are_in_flop_per_second() -> None:
    values = {sample.name: sample.value for sample in HPCG.samples(SMALL, recorded("hpcg", "two-ranks"))}
    assert values == pytest.approx(
        {
            "hpcg_flop_per_s": 3.30158e9,
            "hpcg_dot_product_flop_per_s": 0.565813e9,
            "hpcg_vector_update_flop_per_s": 19.6167e9,
            "hpcg_matrix_product_flop_per_s": 4.42657e9,
            "hpcg_multigrid_flop_per_s": 3.52793e9,
        }
    )


def test_hpcg_does_a_fixed_amount_of_work() -> None:
    assert HPCG.job(SMALL, SHAPE).argv[-4:] == ("--nx=16", "--ny=16", "--nz=16", "--rt=0")


def test_a_run_that_hpcg_calls_invalid_names_its_failed_test() -> None:
    with pytest.raises(WrongOutput, match="own check failed: Departure from Symmetry"):
        HPCG.samples(SMALL, recorded("hpcg", "not-symmetric"))


def test_hpcg_s_rating_does_not_count_beside_a_failed_test_or_for_another_domain() -> None:
    run = recorded("hpcg", "two-ranks")
    failed = re.sub("Result=PASSED", "Result=FAILED", run.files[RESULT], count=1)
    with pytest.raises(WrongOutput, match="Spectral Convergence"):
        HPCG.samples(SMALL, with_file(run, RESULT, failed))
    with pytest.raises(WrongOutput, match="another problem"):
        HPCG.samples(SMALL.model_copy(update={"nz": 24}), run)
