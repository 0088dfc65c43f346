# SPDX-License-Identifier: Apache-2.0
"""Slurm's commands as Tare writes them, and what they print as Tare reads it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.errors import HostError, InputError
from tare.submission.scheduler import JobPhase, QueuedJob, SilentError
from tare.submission.slurm import (
    Slurm,
    last_end_s,
    lead_s,
    node_size,
    own_identity,
    parse_jobs,
    parse_limit_s,
    parse_sizes,
    submit_argv,
)
from tests.submission.scheduler_commands import Commands, submission


def test_jobs_are_an_array_of_whole_nodes_one_after_the_other() -> None:
    assert submit_argv(submission()) == (
        "sbatch",
        "--parsable",
        "--job-name=tare-1",
        "--array=0-9%1",
        "--nodes=2",
        "--exclusive",
        "--mem=0",
        "--export=ALL",
        "--no-requeue",
        "--open-mode=append",
        "--signal=B:TERM@60",
        "--output=/r/jobs/%A_%a.log",
        "/r/jobs/job.sh",
    )


def test_what_the_user_asks_for_is_passed_on_and_the_time_in_whole_minutes() -> None:
    argv = submit_argv(submission(partition="debug", account="me", time_s=90.0))
    assert argv[-4:-1] == ("--partition=debug", "--account=me", "--time=2")
    assert not any(word.startswith("--signal") for word in argv), "Slurm may send it a minute early"
    assert "--signal=B:TERM@60" in submit_argv(submission(time_s=600.0))


@given(st.floats(min_value=1, max_value=1e6))
def test_a_job_has_most_of_its_time_before_it_is_asked_to_stop(time_s: float) -> None:
    assert 1 <= lead_s(time_s) <= 60
    assert lead_s(time_s) <= max(1.0, time_s / 10)


LISTED = """\
1|2|PENDING||JobArrayTaskLimit
1|0|CANCELLED|n[1-2]|None
1|1|RUNNING|n[1-2]|None
7|N/A|PENDING||ReqNodeNotAvail, UnavailableNodes:n1|n2
8|0|NODE_FAIL|n[1-2]|NodeDown
8|1|COMPLETED|n1|None
"""


def test_a_recorded_list_of_squeue_is_read() -> None:
    assert list(parse_jobs(LISTED)) == [
        QueuedJob(identity="1_2", phase=JobPhase.QUEUED, reason="JobArrayTaskLimit"),
        QueuedJob(identity="1_0", phase=JobPhase.CANCELLED, nodes="n[1-2]"),
        QueuedJob(identity="1_1", phase=JobPhase.RUNNING, nodes="n[1-2]"),
        QueuedJob(identity="7", phase=JobPhase.QUEUED, reason="ReqNodeNotAvail, UnavailableNodes:n1|n2"),
        QueuedJob(identity="8_0", phase=JobPhase.LOST, reason="NODE_FAIL", nodes="n[1-2]"),
        QueuedJob(identity="8_1", phase=JobPhase.ENDED, nodes="n1"),
    ]


def test_a_line_that_squeue_never_prints_is_shown() -> None:
    with pytest.raises(HostError, match="squeue printed a line that Tare does not understand: 'JOBID'"):
        list(parse_jobs("JOBID\n"))


@pytest.mark.parametrize(
    ("text", "time_s"),
    [
        ("1:00", 60),
        ("30:00", 1800),
        ("1:00:00", 3600),
        ("2-00:00:10", 172810),
        ("UNLIMITED", None),
        ("", None),
    ],
)
def test_a_time_limit_of_slurm_is_read(text: str, time_s: float | None) -> None:
    assert parse_limit_s(text) == time_s


SIZES = "all*|2|2000\nall*|4|1000\nbig|64|256000\nall2|1|1\n"


def test_the_sizes_of_the_usual_and_of_a_named_partition_are_told_apart() -> None:
    mebibyte = 1024**2
    assert list(parse_sizes(SIZES, None)) == [(2, 2000 * mebibyte), (4, 1000 * mebibyte)]
    assert list(parse_sizes(SIZES, "all")) == list(parse_sizes(SIZES, None))
    assert list(parse_sizes(SIZES, "big")) == [(64, 256000 * mebibyte)]
    assert list(parse_sizes(SIZES, "none")) == []


def test_the_identity_of_submitted_jobs_is_without_the_clusters_name(commands: Commands) -> None:
    commands.say("sbatch", "17;tare\n")
    assert Slurm().submit(submission()) == "17"


UNKNOWN = """\
sbatch: error: invalid partition specified: nope
sbatch: error: Batch job submission failed: Invalid partition name specified
"""
SILENT = "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n"


@pytest.mark.parametrize(
    ("stderr", "remedy"), [(UNKNOWN, "choose one with --partition"), (SILENT, "scontrol ping")]
)
def test_a_refusal_is_said_in_slurms_words_with_what_to_do(
    commands: Commands, stderr: str, remedy: str
) -> None:
    commands.say("sbatch", stderr=stderr, code=1)
    with pytest.raises(HostError, match=remedy) as refused:
        Slurm().submit(submission())
    assert "Slurm refuses the jobs: " in str(refused.value)
    assert "sbatch: error" not in str(refused.value)


def test_a_controller_that_does_not_answer_is_no_end_of_the_jobs(commands: Commands) -> None:
    commands.say(
        "squeue",
        stderr="slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n",
        code=1,
    )
    with pytest.raises(SilentError, match=r"^Unable to contact slurm controller"):
        Slurm().jobs("tare-1")


def test_only_this_users_jobs_of_that_name_are_cancelled(commands: Commands) -> None:
    commands.say("scancel")
    Slurm().cancel("tare-1", queued_only=True)
    assert commands.argv("scancel") == "--me --name=tare-1 --state=PENDING\n"
    assert Slurm().cancel_words("tare-1") == "scancel --me --name=tare-1"


def test_the_smallest_node_of_a_partition_is_what_a_campaign_must_fit(commands: Commands) -> None:
    commands.say("sinfo", SIZES)
    assert node_size(None, 2) == (2, 1000 * 1024**2)
    with pytest.raises(InputError, match="the usual partition has 2 nodes and not 3"):
        node_size(None, 3)
    with pytest.raises(InputError, match="no partition 'none' with nodes; sinfo lists"):
        node_size("none", 1)


def test_without_slurm_a_login_node_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(HostError, match="sinfo is not here: use a login node"):
        node_size(None, 1)


def test_a_job_begins_nothing_in_the_time_kept_for_its_end(commands: Commands) -> None:
    end = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(time.time() + 1000))
    commands.say("squeue", f"{end}|30:00\n")
    last_s = last_end_s({"SLURM_JOB_ID": "5"})
    assert last_s is not None
    assert 1000 - 2 * 60 - 60 < last_s - time.monotonic() <= 1000 - 2 * 60
    assert commands.argv("squeue") == "--noheader --jobs=5 --format=%e|%l\n"


@pytest.mark.parametrize("said", ["NONE|UNLIMITED\n", "N/A|30:00\n", "\n"])
def test_a_job_without_an_end_has_all_the_time(commands: Commands, said: str) -> None:
    commands.say("squeue", said)
    assert last_end_s({"SLURM_JOB_ID": "5"}) is None


def test_a_job_knows_its_own_name() -> None:
    array = {"SLURM_JOB_ID": "9", "SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "2"}
    assert own_identity(array) == "7_2"
    assert own_identity({"SLURM_JOB_ID": "9"}) == "9"
    assert own_identity({}) is None
    assert last_end_s({}) is None
