# SPDX-License-Identifier: Apache-2.0
"""The profiler's file as samples: shares that add up, nothing made up, and no run without its profile."""

import json
from dataclasses import replace
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workloads.recorded import SHAPE, recorded, with_file

from tare.errors import WrongOutput
from tare.records import Activity
from tare.workloads import KINDS, profile
from tare.workloads.command import CommandOptions
from tare.workloads.netpipe import NetpipeOptions
from tare.workloads.npb import Npb, NpbOptions

CG = NpbOptions(benchmark="cg", problem_class="S", profile=True)
RUN = recorded("npb", "cg-profiled")
SAID = json.loads(RUN.files[profile.FILE])


def changed(**fields: object) -> str:
    return json.dumps({**SAID, **fields})


def test_the_means_of_the_shares_add_up_to_the_mean_time_of_a_rank() -> None:
    result = {sample.name: sample.value for sample in Npb().samples(CG, RUN)}
    shares = [result.get(activity.metric, 0.0) for activity in Activity]
    assert sum(shares) == pytest.approx(fmean(rank["wall_s"] for rank in SAID["profile"]), rel=1e-6)


def test_the_slowest_is_the_largest_of_any_rank() -> None:
    result = {sample.name: sample.value for sample in Npb().samples(CG, RUN)}
    assert result["profile_compute_slowest_s"] == max(rank["compute_s"] for rank in SAID["profile"])


def test_a_share_that_took_no_time_is_left_out() -> None:
    names = {sample.name for sample in Npb().samples(CG, RUN)}
    assert not {"profile_io_mean_s", "profile_io_slowest_s"} & names


@pytest.mark.parametrize(
    ("key", "sample"),
    [
        ("late_senders", "profile_late_sender_mean_s"),
        ("collective_waits", "profile_collective_wait_mean_s"),
    ],
)
def test_a_wait_that_not_every_rank_could_tell_is_missing(key: str, sample: str) -> None:
    ranks = [
        {**rank, key: {"wait_s": wait_s}} for rank, wait_s in zip(SAID["profile"], (1.5, 0.5), strict=True)
    ]
    output = with_file(RUN, profile.FILE, changed(profile=ranks))
    assert {taken.name: taken.value for taken in Npb().samples(CG, output)}[sample] == 1.0
    ranks[1] = {**ranks[1], key: {"wait_s": None}}
    untold = with_file(RUN, profile.FILE, changed(profile=ranks))
    assert sample not in {taken.name for taken in Npb().samples(CG, untold)}


def with_late_senders(*waits: dict[str, float | None]) -> str:
    ranks = [{**rank, "late_senders": wait} for rank, wait in zip(SAID["profile"], waits, strict=True)]
    return changed(profile=ranks)


def test_a_wait_between_clocks_that_is_shorter_than_its_error_is_no_sample_and_the_error_is_a_fact() -> None:
    near = with_late_senders({"wait_s": 0.3, "within_s": 0.002}, {"wait_s": 0.0, "within_s": 0.0})
    sure = with_file(RUN, profile.FILE, near)
    assert {taken.name: taken.value for taken in Npb().samples(CG, sure)}[
        "profile_late_sender_mean_s"
    ] == 0.15
    assert (
        profile.profile_facts(sure)["mpi waits between clocks"]
        == "mean over the ranks: late senders within 1.000 ms"
    )
    far = with_late_senders({"wait_s": 0.3, "within_s": 0.9}, {"wait_s": 0.0, "within_s": 0.0})
    unsure = with_file(RUN, profile.FILE, far)
    assert "profile_late_sender_mean_s" not in {taken.name for taken in Npb().samples(CG, unsure)}


def test_waits_by_one_clock_have_no_error_to_tell_of() -> None:
    assert "mpi waits between clocks" not in profile.profile_facts(RUN)


def test_a_profiled_command_has_the_facts_of_its_profile() -> None:
    profiled = CommandOptions(argv=["true"], mpi=True, profile=True)
    assert KINDS["command"].facts(profiled, RUN)["mpi library"] == SAID["library"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (changed(partial=True), "cut, partial, or of another version"),
        (changed(schema=2), "cut, partial, or of another version"),
        (changed(ranks=4), "4 ranks ran, 2 are in profile.json"),
        ("", "cut, partial, or of another version"),
    ],
)
def test_a_profile_that_is_not_whole_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(WrongOutput, match=reason):
        Npb().samples(CG, with_file(RUN, profile.FILE, text))


def test_a_run_without_its_profile_says_what_the_profiler_said() -> None:
    silent = replace(RUN, files={})
    with pytest.raises(WrongOutput, match=r"wrote no profile\.json: was it loaded\?"):
        Npb().samples(CG, silent)
    refused = replace(silent, stderr="tareprof: this is no MPI that it knows\n")
    with pytest.raises(WrongOutput, match="tareprof: this is no MPI that it knows"):
        Npb().samples(CG, refused)


@given(st.integers(0, len(RUN.files[profile.FILE]) - 2))
def test_no_cut_of_the_file_is_taken_for_a_whole_one(length: int) -> None:
    with pytest.raises(WrongOutput):
        Npb().samples(CG, with_file(RUN, profile.FILE, RUN.files[profile.FILE][:length]))


def test_the_profiler_is_loaded_into_the_ranks_and_into_nothing_else() -> None:
    job = Npb().job(CG, SHAPE)
    assert ("-x", "LD_PRELOAD=/opt/tare/bin/libtareprof.so") in zip(job.argv, job.argv[1:], strict=False)
    assert "LD_PRELOAD" not in job.variables
    assert not any("libtareprof" in part for part in job.preflight)
    assert profile.FILE in job.collect


def test_every_mpi_kind_can_be_profiled() -> None:
    kinds = {name for name, kind in KINDS.items() if "profile" in kind.options_model.model_fields}
    assert kinds == {
        *(
            "messages",
            "hpcc",
            "hpl",
            "hpcg",
            "netpipe",
            "mpiio",
            "collective",
            "imb",
            "osu",
            "npb",
            "npb-reference",
            "command",
        )
    }


def test_what_has_no_mpi_cannot_be_profiled() -> None:
    with pytest.raises(ValueError, match="protocol = tcp has none"):
        NetpipeOptions(protocol="tcp", profile=True)
    with pytest.raises(ValueError, match="needs mpi = true"):
        CommandOptions(argv=["true"], profile=True)
