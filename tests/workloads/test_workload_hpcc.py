# SPDX-License-Identifier: Apache-2.0
"""hpcc's parser on recorded runs, and on runs that went wrong."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.workloads.recorded import SHAPE, recorded, with_file

from tare.errors import InputError, WrongOutput
from tare.records import Direction, Sample
from tare.workloads import hpcc
from tare.workloads.hpcc import INPUT, OUTPUT, Hpcc, HpccOptions
from tare.workloads.hpcc.checks import hpl_residual
from tare.workloads.hpcc.metrics import METRICS
from tare.workloads.hpcc.summary import last_run, parse_summary
from tare.workloads.hpcc.times import SECTIONS, WALL_TIMES, times
from tare.workloads.kind import Output, Shape
from tare.workloads.mpi import transports, without_chatter

HPCC = Hpcc()
OPTIONS = HpccOptions()
TIMES = {
    *WALL_TIMES.values(),
    *(f"{name}_{clock}" for name in SECTIONS.values() for clock in ("wall_s", "cpu_s")),
}


def samples_of(case: str) -> dict[str, Sample]:
    return {sample.name: sample for sample in HPCC.samples(OPTIONS, recorded("hpcc", case))}


def altered(pattern: str, replacement: str, case: str = "two-ranks") -> Output:
    output = recorded("hpcc", case)
    text, count = re.subn(pattern, replacement, output.files[OUTPUT], flags=re.MULTILINE)
    assert count, f"{pattern} is not in the recording"
    return with_file(output, OUTPUT, text)


def test_all_31_figures_of_a_run_of_two_ranks_become_samples() -> None:
    assert set(samples_of("two-ranks")) == {metric.name for metric in METRICS} | TIMES
    assert len(METRICS) == 31


def test_figures_are_in_si_base_units() -> None:
    samples = samples_of("two-ranks")
    text = recorded("hpcc", "two-ranks").files[OUTPUT]
    printed = {
        key: float(re.findall(rf"^{key}=(.*)$", text, re.MULTILINE)[0])
        for key in ("HPL_Tflops", "StarSTREAM_Triad", "MPIRandomAccess_GUPs", "AvgPingPongLatency_usec")
    }
    assert samples["hpl_flop_per_s"].value == pytest.approx(printed["HPL_Tflops"] * 1e12)
    assert samples["stream_triad_star_byte_per_s"].value == pytest.approx(printed["StarSTREAM_Triad"] * 1e9)
    assert samples["random_access_mpi_update_per_s"].value == pytest.approx(
        printed["MPIRandomAccess_GUPs"] * 1e9
    )
    assert samples["ping_pong_average_latency_s"].value == pytest.approx(
        printed["AvgPingPongLatency_usec"] * 1e-6
    )


def test_hpl_s_figure_agrees_with_the_rate_that_its_section_prints() -> None:
    (printed,) = re.findall(r"^WR11C2R4.* (\S+)$", recorded("hpcc", "two-ranks").files[OUTPUT], re.MULTILINE)
    assert samples_of("two-ranks")["hpl_flop_per_s"].value == pytest.approx(float(printed) * 1e9, rel=1e-3)


def test_only_latencies_and_times_are_better_when_less() -> None:
    for name, sample in samples_of("two-ranks").items():
        assert (sample.direction is Direction.LESS) == ("latency" in name or name in TIMES)


def test_what_one_rank_cannot_measure_is_missing_rather_than_minus_one() -> None:
    samples = samples_of("one-rank")
    assert not [name for name in samples if "ping_pong" in name or "ring" in name]
    assert len(samples) == 21 + len(TIMES)


def test_both_times_of_random_access_are_read_where_three_ranks_share_two_processors() -> None:
    samples = samples_of("three-ranks")
    assert samples["random_access_mpi_wall_s"].value == 6.264385
    assert samples["random_access_mpi_cpu_s"].value == 2.361725
    assert samples["random_access_lcg_star_cpu_s"].value == 0.000472
    assert samples["hpl_wall_s"].unit == "s"


def test_a_time_below_what_hpcc_prints_is_missing_rather_than_zero() -> None:
    samples = {
        sample.name for sample in times(last_run(recorded("hpcc", "refused-single-copy").files[OUTPUT]), {})
    }
    assert "random_access_star_cpu_s" not in samples
    assert "random_access_star_wall_s" in samples


def test_an_uneven_number_of_ranks_is_read_as_well() -> None:
    assert len(samples_of("three-ranks")) == 31 + len(TIMES)


def test_of_two_appended_runs_the_last_one_counts() -> None:
    assert len(samples_of("appended")) == 31 + len(TIMES)
    assert HPCC.facts(OPTIONS, recorded("hpcc", "appended"))["hpcc ranks"] == "2"


def test_a_cut_run_after_a_complete_one_does_not_give_the_complete_one_s_figures() -> None:
    output = recorded("hpcc", "two-ranks")
    whole = output.files[OUTPUT]
    with pytest.raises(WrongOutput, match="cut short"):
        HPCC.samples(OPTIONS, with_file(output, OUTPUT, whole + whole[: len(whole) // 2]))


def test_a_failed_residual_is_wrong_output_with_the_line_that_says_so() -> None:
    with pytest.raises(WrongOutput, match="FAILED") as caught:
        samples_of("failed-residual")
    assert "Ax-b" in (caught.value.excerpt or "")


def test_a_problem_of_hpcc_s_own_choice_is_wrong_output() -> None:
    with pytest.raises(WrongOutput, match=r"HPL_N=2560.*asks -5"):
        samples_of("input-not-read")


def test_a_real_run_without_memory_is_cut_short_in_the_section_that_it_reached() -> None:
    with pytest.raises(WrongOutput, match="MPIRandomAccess section: the run was cut short"):
        samples_of("cut-short")


def test_an_absent_output_shows_what_mpirun_said() -> None:
    with pytest.raises(WrongOutput, match=r"no hpccoutf\.txt") as caught:
        HPCC.samples(OPTIONS, Output(stdout="", stderr="There are not enough slots", files={}))
    assert caught.value.excerpt == "There are not enough slots"


@pytest.mark.parametrize(
    ("pattern", "replacement", "says"),
    [
        (r"^Success=1$", "Success=0", "own check failed"),
        (r"^HPL_RnormI=.*$", "HPL_RnormI=1e-8", "HPL's scaled residual"),
        (r"^HPL_RnormI=.*$", "HPL_RnormI=nan", "HPL_RnormI=nan"),
        (r"^PTRANS_residual=.*$", "PTRANS_residual=16", "PTRANS's residual is 16"),
        (r"^MPIFFT_maxErr=.*$", "MPIFFT_maxErr=1e-9", "MPIFFT's scaled error"),
        (r"^MPIRandomAccess_Errors=.*$", "MPIRandomAccess_Errors=99999", "MPIRandomAccess left 99999"),
        (r"^MPIRandomAccess_LCG_Errors=.*$", "MPIRandomAccess_LCG_Errors=99999", "LCG left 99999"),
        (r"^HPL_Tflops=.*$", "HPL_Tflops=nan", "HPL_Tflops=nan"),
        (r"^HPL_Tflops=.*$", "HPL_Tflops=inf", "HPL_Tflops=inf"),
        (r"^HPL_Tflops=.*$", "HPL_Tflops=-1", "HPL_Tflops=-1"),
        (r"^HPL_Tflops=.*$", "HPL_Tflops=1e999", "HPL_Tflops=1e999"),
        (r"^StarSTREAM_Add=.*$", "StarSTREAM_Add=0", "StarSTREAM_Add=0"),
        (r"^StarSTREAM_Add=.*$", "StarSTREAM_Add=-3.5", "StarSTREAM_Add=-3.5"),
        (r"^StarSTREAM_Add=.*\n", "", "lacks StarSTREAM_Add"),
        (r"^StarSTREAM_Add=.*$", "StarSTREAM_Add 28", "holds the line"),
        (r"^(StarSTREAM_Add=.*)$", r"\1\n\1", "holds the line"),
        (r"^HPL_NB=.*$", "HPL_NB=80", "HPL_NB=80"),
        (r"^HPL_npcol=.*$", "HPL_npcol=1", "HPL_npcol=1"),
        (r"^End of Summary section\.$", "", "cut short"),
        (r"^End of HPC Challenge tests\.$", "", "after its Summary section"),
    ],
)
def test_a_wrong_line_in_the_summary_is_named(pattern: str, replacement: str, says: str) -> None:
    with pytest.raises(WrongOutput, match=says):
        HPCC.samples(OPTIONS, altered(pattern, replacement))


def test_errors_up_to_one_percent_of_the_table_are_allowed_as_hpcc_allows_them() -> None:
    output = altered(r"^MPIRandomAccess_Errors=.*$", "MPIRandomAccess_Errors=20971")
    assert "random_access_mpi_update_per_s" in {sample.name for sample in HPCC.samples(OPTIONS, output)}


def test_a_node_with_errors_is_shown_as_the_reason() -> None:
    text = altered(r"^Success=1$", "Success=0").files[OUTPUT]
    text = text.replace("Node(s) with error 0", "Node(s) with error 1", 1)
    with pytest.raises(WrongOutput, match=r"Node\(s\) with error 1"):
        HPCC.samples(OPTIONS, with_file(recorded("hpcc", "two-ranks"), OUTPUT, text))


def test_the_residual_computed_from_the_summary_is_the_one_that_hpl_prints() -> None:
    for case in ("one-rank", "two-ranks", "three-ranks"):
        run = last_run(recorded("hpcc", case).files[OUTPUT])
        (printed,) = re.findall(r"^\|\|Ax-b.*= +(\S+) \.+ PASSED$", run, re.MULTILINE)
        assert hpl_residual(parse_summary(run)) == pytest.approx(float(printed), rel=1e-3)


def test_without_its_input_file_a_run_cannot_be_trusted() -> None:
    output = recorded("hpcc", "two-ranks")
    with pytest.raises(WrongOutput, match="asks nothing"):
        HPCC.samples(OPTIONS, with_file(output, INPUT, ""))


def test_a_single_copy_that_was_asked_for_and_refused_is_no_measurement() -> None:
    output = recorded("hpcc", "refused-single-copy")
    with pytest.raises(WrongOutput, match="forbids single_copy") as caught:
        HPCC.samples(HpccOptions(single_copy="cma"), output)
    assert "Read -1" in (caught.value.excerpt or "")


def test_a_natural_single_copy_that_was_refused_is_a_fact() -> None:
    options, output = HpccOptions(single_copy="natural"), recorded("hpcc", "refused-single-copy")
    assert HPCC.samples(options, output)
    assert HPCC.facts(options, output)["mpi single copy"] == "natural, refused here"


def test_facts_tell_the_problem_and_the_version() -> None:
    facts = HPCC.facts(OPTIONS, recorded("hpcc", "two-ranks"))
    assert facts["hpl problem size"] == "2000"
    assert facts["hpl grid"] == "1 x 2"
    assert facts["hpcc version"] == "1.5.0f"
    assert facts["blas kernel asked"] == "pinned"
    assert not [label for label in facts if "cut" in label]


def test_a_random_access_cut_by_its_time_bound_is_a_fact_and_still_a_rate() -> None:
    output = altered(r"^MPIRandomAccess_ExeUpdates=.*$", "MPIRandomAccess_ExeUpdates=1000")
    assert HPCC.samples(OPTIONS, output)
    said = HPCC.facts(OPTIONS, output)["MPIRandomAccess cut by its time bound"]
    assert said.startswith("1000 of ")


def test_facts_of_garbage_are_only_what_was_asked() -> None:
    output = Output(stdout="", stderr="", files={OUTPUT: "\0\0"})
    assert HPCC.facts(OPTIONS, output) == {"mpi single copy": "natural", "blas kernel asked": "pinned"}


def test_a_matrix_larger_than_the_instance_is_refused_before_any_run() -> None:
    with pytest.raises(InputError, match=r"needs 3\.2 GiB"):
        HPCC.job(HpccOptions(problem_size=20736), SHAPE)


def test_the_job_pins_one_blas_thread_and_one_kernel_unless_natural_is_asked() -> None:
    pinned = HPCC.job(HpccOptions(blas_kernel="Haswell"), SHAPE).variables
    assert pinned == {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Haswell"}
    assert "OPENBLAS_CORETYPE" not in HPCC.job(HpccOptions(blas_kernel="natural"), SHAPE).variables


def test_the_job_pins_the_kernel_that_every_environment_can_run_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hpcc, "cpu_flags", lambda: frozenset({"avx", "avx2", "fma"}))
    job = HPCC.job(HpccOptions(), replace(SHAPE, lacking_flags={"guest": ("fma",)}))
    assert job.variables["OPENBLAS_CORETYPE"] == "Sandybridge"
    assert job.facts["blas kernel pinned"].endswith("not the host's Haswell: guest without fma")
    assert HPCC.job(HpccOptions(), SHAPE).variables["OPENBLAS_CORETYPE"] == "Haswell"


def test_the_job_leaves_the_single_copy_to_open_mpi_unless_another_is_asked() -> None:
    name = "btl_vader_single_copy_mechanism"
    assert name in HPCC.job(HpccOptions(single_copy="none"), SHAPE).argv
    assert name not in HPCC.job(HpccOptions(), SHAPE).argv


@pytest.fixture(scope="module")
def hpcc_as_in_the_image() -> None:
    """Skip where the host has none, or one for another MPI than the image's."""
    if not (shutil.which("hpcc") and shutil.which("mpirun")):
        pytest.skip("hpcc or mpirun is not installed")
    asked = ("mpirun", "--version")
    said = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=False).stdout
    if "(Open MPI) 4" not in said:
        pytest.skip("mpirun is not that of Open MPI 4")


@pytest.mark.usefixtures("hpcc_as_in_the_image")
@pytest.mark.parametrize(("ranks", "transport", "figures"), [(1, None, 21), (2, "shared memory", 31)])
def test_the_real_hpcc_says_only_what_carried_its_messages_and_its_output_is_read(
    ranks: int, transport: str | None, figures: int, programs: Path, tmp_path: Path
) -> None:
    shape = Shape(processors=ranks, memory_byte=1 << 28, instance=0, tools_directory=str(programs))
    options = HpccOptions(problem_size=192)
    job = HPCC.job(options, shape)
    for name, text in job.files.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        job.argv,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], **job.variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, without_chatter(done.stderr)) == (0, "", "")
    assert transports(done.stderr) == transport
    files = {name: (tmp_path / name).read_text() for name in job.collect}
    samples = HPCC.samples(options, Output(stdout=done.stdout, stderr=done.stderr, files=files))
    assert len([sample for sample in samples if sample.name not in TIMES]) == figures
