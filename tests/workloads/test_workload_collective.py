# SPDX-License-Identifier: Apache-2.0
"""collective, imb and osu: the same calls of the same sizes in every arm, and only a run that did them counts."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workloads.recorded import SHAPE, recorded

from tare.errors import InputError, WrongOutput
from tare.records import OptionValue, Sample
from tare.workloads import KINDS
from tare.workloads.kind import Job, Options, Output
from tare.workloads.message_sizes import FallingCounts, time_samples, usual_ranges

FAR: dict[str, OptionValue] = {"benchmark": "bcast", "group_ranks": 2, "mapping": "far", "largest": 1024}
GROUPS: dict[str, OptionValue] = {
    "program": "/opt/imb/IMB-MPI1",
    "benchmark": "Bcast",
    "group_ranks": 2,
    "largest": 1024,
    "repetitions": 100,
}


def options(kind: str, **chosen: OptionValue) -> Options:
    return KINDS[kind].options_model.model_validate(chosen)


def job(kind: str, processors: int = 2, **chosen: OptionValue) -> Job:
    return KINDS[kind].job(options(kind, **chosen), replace(SHAPE, processors=processors))


def samples(kind: str, output: Output, **chosen: OptionValue) -> list[Sample]:
    return KINDS[kind].samples(options(kind, **chosen), output)


def facts(kind: str, output: Output, **chosen: OptionValue) -> dict[str, str]:
    return KINDS[kind].facts(options(kind, **chosen), output)


def changed(output: Output, change: Callable[[Any], None]) -> Output:
    result = json.loads(output.stdout)
    change(result)
    return replace(output, stdout=json.dumps(result))


@given(
    smallest=st.sampled_from([0, *(1 << power for power in range(15))]),
    largest=st.integers(2, 30).map(lambda power: 1 << power),
    repetitions=st.integers(10, 1_000_000),
    volume_mib=st.integers(1, 1 << 20),
    benchmark=st.sampled_from(["exchange", "bcast", "allreduce", "barrier"]),
)
def test_counts_fall_with_the_size_and_never_below_one(
    smallest: int, largest: int, repetitions: int, volume_mib: int, benchmark: str
) -> None:
    largest = max(smallest, largest)
    chosen = FallingCounts(smallest=smallest, largest=largest, repetitions=repetitions, volume_mib=volume_mib)
    counts = chosen.counts(benchmark)
    assert [size for size, _ in counts] == sorted({size for size, _ in counts})
    assert [count for _, count in counts] == sorted((count for _, count in counts), reverse=True)
    assert all(1 <= count <= repetitions for _, count in counts)
    assert all(count == 1 or size * count <= volume_mib << 20 for size, count in counts)
    for each in usual_ranges(chosen, benchmark):
        least, most = each.bounds["size"]
        assert any((least or 0) <= size <= (most or size) for size, _ in counts)


def test_counts_are_those_of_the_intel_mpi_benchmarks() -> None:
    counts = dict(FallingCounts().counts("exchange"))
    assert [counts[size] for size in (0, 32768, 65536, 1 << 20, 4 << 20)] == [1000, 1000, 640, 40, 10]
    assert FallingCounts().counts_fact("exchange") == (
        "1000 up to 32768 B, then 40 MiB of messages, down to 10 of 4194304 B"
    )
    assert FallingCounts().counts_fact("barrier") == "1000 of each"
    assert FallingCounts(repetitions=10**6, volume_mib=1, smallest=1024).counts_fact("bcast") == (
        "1 MiB of messages, down to 1 of 4194304 B"
    )


def test_a_reduction_has_whole_floats() -> None:
    assert [size for size, _ in FallingCounts(largest=16).counts("allreduce")] == [0, 4, 8, 16]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"smallest": 3}, "3 is neither 0 nor a power of two"),
        ({"smallest": 16384, "largest": 4096}, "more than largest"),
        ({"repetitions": 9}, "greater than or equal to 10"),
    ],
)
def test_sizes_that_cannot_be_compared_are_refused(chosen: dict[str, OptionValue], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        options("collective", **chosen)


@pytest.mark.parametrize("kind", ["collective", "netpipe"])
def test_a_size_is_written_in_bytes_or_with_its_unit(kind: str) -> None:
    assert options(kind, largest="64 KiB") == options(kind, largest=65536)
    with pytest.raises(ValueError, match="is not a size; write a number and one of"):
        options(kind, largest="64 kibis")


def test_the_papers_ranges_are_figures() -> None:
    exchange, bcast = (
        KINDS["collective"].ranges(options("collective", benchmark=name)) for name in ("exchange", "bcast")
    )
    assert [dict(each.bounds) for each in exchange] == [{"size": (None, 16384.0)}, {"size": (32768.0, None)}]
    assert [dict(each.bounds) for each in bcast] == [{"size": (1.0, 1048576.0)}, {"size": (2097152.0, None)}]
    assert [each.name for each in bcast] == ["small_messages_s", "large_messages_s"]


def test_a_run_gives_the_least_mean_and_most_over_ranks_at_every_size() -> None:
    times = samples("collective", recorded("collective", "two-ranks"))
    assert [each.name for each in times[:3]] == ["call_mean_s", "call_min_s", "call_max_s"]
    assert len(times) == 3 * 24
    assert [(each.name, each.value, each.unit) for each in times[-1].coordinates] == [
        ("size", 4194304.0, "B"),
        ("ranks", 2.0, None),
    ]


def test_a_rank_without_a_group_is_idle_and_that_is_said() -> None:
    output = recorded("collective", "five-ranks-far")
    assert {each.coordinates[1].value for each in samples("collective", output, **FAR)} == {4.0}
    said = facts("collective", output, **FAR)
    assert said["collective groups"] == (
        "2 of 2 ranks at once; 1 of 5 ranks idle, as no group is left for them"
    )
    assert said["collective partners"] == "within one node in 2 of 2 groups, far by number, over 1 node"
    assert said["collective calls of a size"] == "1000 of each"


def test_a_barrier_is_at_size_0() -> None:
    times = samples("collective", recorded("collective", "barrier"), benchmark="barrier")
    assert [each.coordinates[0].value for each in times] == [0.0, 0.0, 0.0]


def _wrong(result: Any) -> None:
    result["points"][7]["wrong_ranks"] = 2


def _other_count(result: Any) -> None:
    result["points"][7]["count"] += 1


def _other_benchmark(result: Any) -> None:
    result["benchmark"] = "sendrecv"


def _no_groups(result: Any) -> None:
    result["groups"] = 2


def _least_above_mean(result: Any) -> None:
    result["points"][7]["min_s"] = 1.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_wrong, "2 ranks received something else than was sent, in messages of 64 bytes"),
        (_other_count, "other sizes or another number of calls"),
        (_other_benchmark, "exchange was asked, sendrecv ran"),
        (_no_groups, "its groups do not hold its ranks"),
        (_least_above_mean, "are not the least, mean and most of ranks"),
    ],
)
def test_a_run_that_did_something_else_does_not_count(change: Callable[[Any], None], said: str) -> None:
    with pytest.raises(WrongOutput, match=said):
        samples("collective", changed(recorded("collective", "two-ranks"), change))


def test_an_ended_run_does_not_count_and_keeps_its_facts() -> None:
    output = recorded("collective", "ended")
    with pytest.raises(WrongOutput, match="line of JSON is missing or cut"):
        samples("collective", output, benchmark="allreduce")
    assert facts("collective", output, benchmark="allreduce")["mpi transport"] == "shared memory"


@pytest.mark.parametrize(
    ("kind", "processors", "chosen", "said"),
    [
        ("collective", 1, {}, "groups have 2 processes, and an instance has 1"),
        ("collective", 2, {"group_ranks": 4}, "groups have 4 processes, and an instance has 2"),
        ("collective", 4, {"benchmark": "pingpong", "group_ranks": 4}, "pingpong is between 2 processes"),
        ("collective", 16, {"benchmark": "alltoall"}, "buffers need 2 GiB, but an instance has 1 GiB"),
        ("imb", 2, {"program": "/imb", "group_ranks": 3}, "groups have 3 processes, and an instance has 2"),
        ("osu", 1, {"program": "/osu_latency"}, "osu needs two processors"),
    ],
)
def test_a_shape_that_cannot_hold_it_is_refused_at_planning(
    kind: str, processors: int, chosen: dict[str, OptionValue], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        job(kind, processors, **chosen)


def test_pairs_are_the_groups_of_a_pingpong() -> None:
    argv = job("collective", 4, benchmark="pingpong", largest=4).argv
    assert argv[argv.index("pingpong") :] == (
        *("pingpong", "--group-ranks", "2", "--mapping", "near"),
        *("0:1000", "1:1000", "2:1000", "4:1000"),
    )


def test_equal_times_of_ranks_may_differ_by_a_rounding() -> None:
    third = 1 / 3
    assert len(time_samples(third, third - 1e-17, third - 1e-17)) == 3
    with pytest.raises(WrongOutput):
        time_samples(0.0, 1.0, 1.0)


def test_imb_is_told_sizes_and_counts_and_gets_no_time_to_change_them() -> None:
    made = job("imb", 5, **GROUPS)
    assert made.argv[made.argv.index("/opt/imb/IMB-MPI1") :] == (
        *("/opt/imb/IMB-MPI1", "-npmin", "2", "-multi", "0", "-msglen", "imb-sizes.txt"),
        *("-iter", "100,40", "-iter_policy", "dynamic", "-time", "1000000", "Bcast"),
    )
    assert made.files == {"imb-sizes.txt": "0\n1\n2\n4\n8\n16\n32\n64\n128\n256\n512\n1024\n"}


def test_imbs_groups_are_read_and_its_larger_groups_passed_over() -> None:
    output = recorded("imb", "five-ranks")
    times = samples("imb", output, **GROUPS)
    assert len(times) == 3 * 12
    assert {each.coordinates[1].value for each in times} == {4.0}
    assert facts("imb", output, **GROUPS)["imb groups"] == "2 of 2 ranks at once"


def test_a_time_that_imb_prints_as_0_is_no_figure_and_is_said() -> None:
    output = recorded("imb", "two-ranks")
    row = output.stdout.splitlines()[
        [line.split()[:1] == ["0"] for line in output.stdout.splitlines()].index(True)
    ]
    printed = replace(
        output, stdout=output.stdout.replace(row, "            0         1000   0.00  0.00  0.00  0.00")
    )
    assert len(samples("imb", printed, program="/imb")) == 3 * 23
    assert facts("imb", printed, program="/imb")["imb printed 0 for sizes"] == "0"


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({**GROUPS, "benchmark": "Alltoall"}, "did not do Alltoall"),
        ({**GROUPS, "repetitions": 99}, "numbers of calls that were asked"),
        ({**GROUPS, "group_ranks": 3}, "made no groups of 3"),
    ],
)
def test_imb_must_have_done_what_was_asked(chosen: dict[str, OptionValue], said: str) -> None:
    with pytest.raises(WrongOutput, match=said):
        samples("imb", recorded("imb", "five-ranks"), **chosen)


def test_imbs_barrier_and_its_program_of_another_mpi() -> None:
    chosen: dict[str, OptionValue] = {
        "program": "/opt/imb/IMB-MPI1",
        "benchmark": "Barrier",
        "launcher": "image",
    }
    assert [each.name for each in samples("imb", recorded("imb", "barrier"), **chosen)] == [
        *("call_mean_s", "call_min_s", "call_max_s")
    ]
    assert job("imb", 2, **chosen).argv[:3] == ("mpirun", "-n", "2")
    assert "I_MPI_HYDRA_BOOTSTRAP" in job("imb", 2, **chosen).variables
    with pytest.raises(ValueError, match="goes without profile"):
        options("imb", **chosen, profile=True)


def test_osu_gives_the_ranks_times_where_it_prints_them() -> None:
    chosen: dict[str, OptionValue] = {"program": "/opt/osu/osu_allreduce", "repetitions": 100, "full": True}
    output = recorded("osu", "allreduce")
    assert len(samples("osu", output, **chosen)) == 3 * 21
    assert facts("osu", output, **chosen)["osu test"] == "MPI Allreduce Latency Test, version 5.3"
    argv = job("osu", 2, **chosen).argv
    assert argv[-7:] == ("-m", "0:4194304", "-i", "100", "-x", "100", "-f")


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"repetitions": 200}, "100 calls instead of 200"),
        ({"repetitions": 100, "largest": 8388608}, "did not measure the sizes from 0 to 8388608"),
    ],
)
def test_osu_must_have_done_what_was_asked(chosen: dict[str, OptionValue], said: str) -> None:
    with pytest.raises(WrongOutput, match=said):
        samples("osu", recorded("osu", "allreduce"), program="/opt/osu/osu_allreduce", **chosen)


def test_osus_barrier_has_its_mean_alone() -> None:
    times = samples("osu", recorded("osu", "barrier"), program="/opt/osu/osu_barrier", repetitions=100)
    assert [(each.name, each.coordinates[0].value) for each in times] == [("call_mean_s", 0.0)]
    argv = job("osu", program="/opt/osu/osu_barrier").argv
    assert argv[-4:] == ("-i", "1000", "-x", "100")


def test_osus_bandwidth_is_no_latency() -> None:
    text = (Path(__file__).parent.parent / "outputs" / "imports" / "osu" / "two-runs.txt").read_text()
    output = Output(stdout=text.split("\n\n")[1] + "\n", stderr="", files={})
    with pytest.raises(WrongOutput, match=r"no test of latency|did not measure"):
        samples("osu", output, program="/opt/osu/osu_bw", largest=1024)
