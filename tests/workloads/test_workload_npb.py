# SPDX-License-Identifier: Apache-2.0
"""The NAS Parallel Benchmarks: only a verified run of what was asked, by the vector code that was asked, counts."""

import json
from contextlib import nullcontext
from dataclasses import replace

import pytest
from tests.workloads.recorded import SHAPE, recorded

from tare.errors import InputError, WrongOutput
from tare.host.facts import cpu_flags
from tare.units import MEBIBYTE
from tare.workloads.kind import Output
from tare.workloads.npb import VARIANTS, Npb, NpbOptions
from tare.workloads.npb.problems import Benchmark, active_ranks
from tare.workloads.npb_reference import NpbReference, NpbReferenceOptions

EP = NpbOptions(benchmark="ep", problem_class="A")
RUN = recorded("npb", "ep-two-ranks")
REFERENCE = NpbReferenceOptions(program="/opt/npb/bin/cg.S.x")
REFERENCE_RUN = recorded("npb-reference", "cg-two-ranks")


def changed(**fields: object) -> Output:
    return replace(RUN, stdout=json.dumps({**json.loads(RUN.stdout), **fields}))


def test_the_figures_are_those_of_the_line() -> None:
    said = json.loads(RUN.stdout)
    result = {sample.name: sample.value for sample in Npb().samples(EP, RUN)}
    assert result["operation_per_s"] == pytest.approx(said["million_operations"] * 1e6 / said["wall_s"])
    assert result["timed_region_s"] == max(rank["wall_s"] for rank in said["per_rank"])
    assert result["fastest_rank_s"] == min(rank["wall_s"] for rank in said["per_rank"])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kernel": "CG"}, "EP A was asked, CG A ran"),
        ({"class": "S"}, "EP A was asked, EP S ran"),
        ({"class": "own"}, "EP A was asked, EP own ran"),
        ({"verification": "UNSUCCESSFUL"}, "verification unsuccessful"),
        ({"verification": "NOT PERFORMED"}, "verification not performed"),
        ({"ranks": 4}, "4 ranks ran, 2 reported"),
        ({"checks": []}, "no value was verified"),
    ],
)
def test_a_run_of_something_else_or_without_its_proof_is_wrong(
    fields: dict[str, object], reason: str
) -> None:
    with pytest.raises(WrongOutput, match=reason):
        Npb().samples(EP, changed(**fields))


@pytest.mark.parametrize("benchmark", ["cg", "ft"])
def test_messages_of_the_reference_need_ranks_that_can_send_them(benchmark: Benchmark) -> None:
    asked = NpbOptions(benchmark=benchmark, problem_class="S", messages="reference")
    with pytest.raises(InputError, match=r"needs 1, 2, 4, 8, \.\.\. ranks, and has 3"):
        Npb().job(asked, replace(SHAPE, processors=3))
    words = Npb().job(asked, replace(SHAPE, processors=4)).argv
    assert words[words.index("--messages") + 1] == "reference"


@pytest.mark.parametrize(
    ("ranks", "is_able"), [(1, True), (2, True), (3, False), (6, True), (8, True), (10, False)]
)
def test_lu_sends_the_references_messages_in_grids_of_ranks_at_most_twice_as_long_as_wide(
    ranks: int, is_able: bool
) -> None:
    asked = NpbOptions(benchmark="lu", problem_class="S", messages="reference")
    shape = replace(SHAPE, processors=ranks)
    with (
        nullcontext()
        if is_able
        else pytest.raises(InputError, match=f"twice as long as wide, and has {ranks}")
    ):
        assert "reference" in Npb().job(asked, shape).argv


@pytest.mark.parametrize(
    ("benchmark", "processors", "times"),
    [("is", 2, 3.0), ("mg", 2, 2.4), ("sp", 4, 2.5), ("bt", 4, 1.8), ("bt", 2, 1.0), ("cg", 2, 1.0)],
)
def test_the_references_messages_are_expected_to_take_as_many_times_as_long_as_they_were_seen_to(
    benchmark: Benchmark, processors: int, times: float
) -> None:
    shape = replace(SHAPE, processors=processors)
    own, reference = (
        Npb().expected_s(NpbOptions(benchmark=benchmark, messages=messages), shape)
        for messages in ("own", "reference")
    )
    assert own is not None
    assert reference is not None
    assert (reference - 1.0) / (own - 1.0) == pytest.approx(times)


def test_messages_of_another_kind_than_asked_are_wrong() -> None:
    with pytest.raises(WrongOutput, match="own messages were asked, reference were sent"):
        Npb().samples(EP, changed(messages="reference"))


@pytest.mark.parametrize("computed", [-4295.8759, float("nan"), float("inf")])
def test_a_value_that_is_wrong_is_not_believed_though_the_program_calls_it_successful(
    computed: float,
) -> None:
    check = {**json.loads(RUN.stdout)["checks"][0], "computed": computed}
    with pytest.raises(WrongOutput):
        Npb().samples(EP, changed(checks=[check]))


def test_a_value_without_tolerance_must_be_equal() -> None:
    """IS counts: a rank of a key is right or wrong."""
    check = {"name": "rank of key 17148", "published": 19, "tolerance": 0}
    assert Npb().samples(EP, changed(checks=[{**check, "computed": 19}]))
    with pytest.raises(WrongOutput):
        Npb().samples(EP, changed(checks=[{**check, "computed": 20}]))


@pytest.mark.parametrize(
    ("benchmark", "case", "ranks"),
    [("bt", "bt-two-ranks", "1 of 2 take part"), ("sp", "sp-three-ranks", "1 of 3 take part")],
)
def test_ranks_that_take_no_part_are_legitimate_and_count_in_no_figure(
    benchmark: Benchmark, case: str, ranks: str
) -> None:
    """BT and SP need a square number; the recorded kernels gave 0 or null as the time of a rank that waits."""
    options, run = NpbOptions(benchmark=benchmark, problem_class="S"), recorded("npb", case)
    result = {sample.name: sample.value for sample in Npb().samples(options, run)}
    assert result["fastest_rank_s"] == result["timed_region_s"] == json.loads(run.stdout)["wall_s"]
    assert Npb().facts(options, run)["npb ranks"] == ranks


@pytest.mark.parametrize("missing", [0, None])
def test_a_rank_that_takes_part_must_give_its_time(missing: float | None) -> None:
    first, second = json.loads(RUN.stdout)["per_rank"]
    with pytest.raises(WrongOutput, match="2 of 2 ranks took part, but 1 gave a time"):
        Npb().samples(EP, changed(per_rank=[first, {**second, "wall_s": missing}]))


@pytest.mark.parametrize("time_s", [-1.0, float("nan"), float("inf")])
def test_a_rank_s_time_that_cannot_be_is_wrong(time_s: float) -> None:
    first, second = json.loads(RUN.stdout)["per_rank"]
    with pytest.raises(WrongOutput):
        Npb().samples(EP, changed(per_rank=[first, {**second, "wall_s": time_s}]))


def test_another_vector_code_than_the_one_asked_is_wrong() -> None:
    """A guest that shows another processor must not change the code silently."""
    asked = NpbOptions(benchmark="ep", problem_class="A", simd="plain")
    with pytest.raises(WrongOutput, match="plain vector code was asked, avx512 ran"):
        Npb().samples(asked, RUN)


def test_the_rule_that_chose_the_vector_code_is_a_fact_and_missing_where_the_program_did_not_say() -> None:
    asked = changed(simd_rule="asked for, of plain, avx2, avx512 here")
    assert Npb().facts(EP, asked)["npb vector code rule"] == "asked for, of plain, avx2, avx512 here"
    assert "npb vector code rule" not in Npb().facts(EP, RUN)


def test_threads_take_the_place_of_ranks() -> None:
    job = Npb().job(NpbOptions(benchmark="cg", threads=2), SHAPE)
    assert job.argv[job.argv.index("-np") + 1] == "1"
    assert job.argv[job.argv.index("--threads", job.argv.index(job.program or "")) + 1] == "2"


def test_another_number_of_threads_than_the_one_asked_is_wrong() -> None:
    with pytest.raises(WrongOutput, match="2 threads were asked, 1 ran"):
        Npb().samples(NpbOptions(benchmark="ep", problem_class="A", threads=2), RUN)


def test_the_vector_code_is_pinned_to_what_all_environments_have() -> None:
    lacking = {"qemu": sorted(cpu_flags())}
    job = Npb().job(EP, replace(SHAPE, lacking_flags=lacking))
    assert job.argv[job.argv.index("--simd") + 1] == "plain"
    assert job.facts["npb vector code pinned"].startswith("plain")
    hosts = Npb().job(EP, SHAPE)
    assert hosts.argv[hosts.argv.index("--simd") + 1] == VARIANTS.best(cpu_flags())


def test_a_problem_that_the_memory_cannot_hold_is_refused() -> None:
    options = NpbOptions(benchmark="ft", problem_class="C")
    with pytest.raises(
        InputError, match="npb ft of class C needs more than 4 GiB, but an instance has 512 MiB"
    ):
        Npb().job(options, replace(SHAPE, memory_byte=512 * MEBIBYTE))


@pytest.mark.parametrize(("ranks", "active"), [(1, 1), (2, 1), (4, 4), (8, 4), (9, 9)])
def test_bt_and_sp_use_the_largest_square(ranks: int, active: int) -> None:
    assert active_ranks("bt", ranks) == active_ranks("sp", ranks) == active
    assert active_ranks("lu", ranks) == ranks


def test_the_reference_is_read_by_its_own_block() -> None:
    result = {sample.name: sample.value for sample in NpbReference().samples(REFERENCE, REFERENCE_RUN)}
    assert result == {"operation_per_s": pytest.approx(114.13e6), "timed_region_s": 0.58}
    assert NpbReference().facts(REFERENCE, REFERENCE_RUN)["npb version"] == "3.4"


@pytest.mark.parametrize("said", ["UNSUCCESSFUL", "NOT PERFORMED", "NAN"])
def test_an_unverified_run_of_the_reference_is_wrong(said: str) -> None:
    text = REFERENCE_RUN.stdout.replace("=               SUCCESSFUL", f"= {said}")
    with pytest.raises(WrongOutput, match=said):
        NpbReference().samples(REFERENCE, replace(REFERENCE_RUN, stdout=text))


def test_a_time_of_no_hundredth_of_a_second_is_missing_and_not_zero() -> None:
    text = REFERENCE_RUN.stdout.replace("0.58", "0.00")
    samples = NpbReference().samples(REFERENCE, replace(REFERENCE_RUN, stdout=text))
    assert [sample.name for sample in samples] == ["operation_per_s"]
