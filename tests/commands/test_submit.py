# SPDX-License-Identifier: Apache-2.0
"""``tare run --on slurm``: what is refused before anything waits, what the jobs get, and how one comes back to them."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.commands.fake_queue import FakeQueue, FakeResult

from tare.cli import app
from tare.commands import submit_source, submitted
from tare.commands.line import Shown
from tare.commands.outermost import ended
from tare.commands.run import Overrides
from tare.commands.submit import Submitted, run_on_scheduler, time_s
from tare.commands.submitted import jobs_said
from tare.errors import CampaignError, HostError, InputError
from tare.journal.result import ResultFolder
from tare.submission.folder import JobsFolder
from tare.submission.scheduler import Submission

Capture = pytest.CaptureFixture[str]
CAMPAIGN = """\
name = "jobs"
layouts = ["2c1p2i on 2", "4c1p4i on 4"]
blocks = 7

[[environment]]
technology = "bubblewrap"

[[workload]]
name = "work"
kind = "command"
argv = ["/bin/true"]
"""


class Recorder:
    """A scheduler that only remembers what is submitted; its jobs are as ``fates`` of a test say."""

    chains = True

    def __init__(self) -> None:
        self.submissions: list[Submission] = []
        self.listed: list[object] = []

    def submit(self, submission: Submission) -> str:
        self.submissions.append(submission)
        return "12"

    def jobs(self, _: str) -> list[object]:
        return self.listed

    def cancel(self, _: str, *, queued_only: bool = False) -> None:
        """Nothing to do."""

    def cancel_words(self, name: str) -> str:
        return f"end {name}"


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    made = Recorder()
    monkeypatch.setitem(submitted.SCHEDULERS, "slurm", lambda *_: made)
    monkeypatch.setattr(submit_source, "node_size", lambda *_: (8, 16 << 30))
    return made


@pytest.fixture
def campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> str:
        (tmp_path / "c.toml").write_text(text)
        return "c.toml"

    return write


def detached(campaign: str, folder: Path, **options: object) -> int:
    wanted = Submitted(on="slurm", detach=True, **options)  # type: ignore[arg-type]
    return run_on_scheduler(campaign, folder, Overrides(seed=5), "default", wanted, Shown())


def test_a_job_for_each_block_gets_the_hosts_of_its_allocation(
    recorder: Recorder, campaign: Callable[[str], str], tmp_path: Path, capsys: Capture
) -> None:
    assert detached(campaign(CAMPAIGN), tmp_path / "r", partition="short") == 0
    (submission,) = recorder.submissions
    assert (submission.count, submission.wish.nodes, submission.wish.partition) == (7, 4, "short")
    jobs = JobsFolder(ResultFolder(tmp_path / "r"))
    assert jobs.campaign.read_text() == f'hosts = "slurm"\n{CAMPAIGN}'
    command = jobs.script.read_text().splitlines()[-1]
    words = shlex.split(command)
    assert words[0] == "exec"
    assert words[-6:] == ["--job", "--yes", "--image", "default", "--seed", "5"]
    assert [words[words.index("run") + 1], words[words.index("--output") + 1]] == [
        str(jobs.campaign),
        str(tmp_path / "r"),
    ]
    said = capsys.readouterr().err
    assert "submitted 7 jobs of 4 nodes, one for each block: 12; result: " in said
    assert f"to cancel them: end {submission.name}" in said


def test_layouts_for_any_number_of_hosts_fit_the_nodes_that_are_asked_for(
    recorder: Recorder, campaign: Callable[[str], str], tmp_path: Path
) -> None:
    campaign("")
    assert detached("r15", tmp_path / "r", nodes=4) == 0
    assert (recorder.submissions[0].count, recorder.submissions[0].wish.nodes) == (20, 4)
    said = 'hosts = { of = "slurm", nodes = 2 }\n' + CAMPAIGN.replace(
        "4c1p4i on 4", "{all}c2p{all}i on {all}"
    )
    assert detached(campaign(said), tmp_path / "own") == 0
    assert recorder.submissions[1].wish.nodes == 2


def test_who_comes_back_submits_again_only_what_is_left_and_with_what_was_asked_before(
    recorder: Recorder, campaign: Callable[[str], str], tmp_path: Path
) -> None:
    detached(campaign(CAMPAIGN), tmp_path / "r", partition="short", account="me")
    detached(str(tmp_path / "r"), None, time="1:00:00")  # type: ignore[arg-type]
    first, second = recorder.submissions
    assert second.name == first.name
    assert second.wish == replace(first.wish, time_s=3600.0)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (CAMPAIGN.replace("blocks = 7", "blokcs = 7"), {}, r"c\.toml:.*blokcs"),
        (CAMPAIGN.replace("4c1p4i", "4c999p4i"), {}, r"c\.toml:"),
        (CAMPAIGN + '[[host]]\naddress = "a"\n', {}, r"names its hosts, which ssh reaches"),
        (CAMPAIGN, {"nodes": 2}, r"--nodes 2: a layout of c\.toml is on 4 hosts"),
        (CAMPAIGN.replace("4c1p4i on 4", "{all}c1p1i"), {}, r"say with --nodes how many nodes each job"),
        (CAMPAIGN, {"time": "soon"}, r"--time: 'soon' is no time; write such as 30m"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_submitted(
    recorder: Recorder,
    campaign: Callable[[str], str],
    tmp_path: Path,
    text: str,
    options: dict[str, object],
    said: str,
) -> None:
    with pytest.raises((CampaignError, InputError), match=said):
        detached(campaign(text), tmp_path / "r", **options)
    assert recorder.submissions == []


def test_a_job_that_is_refused_leaves_a_result_that_can_be_submitted_again(
    recorder: Recorder, campaign: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Submission) -> str:
        raise HostError("Slurm refuses the jobs: Invalid account")

    with monkeypatch.context() as patched:
        patched.setattr(recorder, "submit", refuse)
        with pytest.raises(HostError, match="Invalid account"):
            detached(campaign(CAMPAIGN), tmp_path / "r")
    assert detached(str(tmp_path / "r"), None, account="other") == 0  # type: ignore[arg-type]
    assert recorder.submissions[0].wish.account == "other"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30m", 1800), ("1h30m", 5400), ("1:30:00", 5400), ("1-12:00:00", 129600), ("10:00", 600)],
)
def test_a_time_is_written_as_tare_or_as_slurm_does(text: str, seconds: float) -> None:
    assert time_s(text) == seconds


@pytest.mark.parametrize("text", ["30", "0m", "-5", "1:xx", "0:00"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--time: "):
        time_s(text)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["run", "quick", "--detach"], "are for jobs: add --on slurm"),
        (["run", "quick", "--on", "sge"], "--on: 'sge' is no scheduler that Tare knows; write slurm or pbs"),
        (["run", "quick", "--on", "lsf", "--detach"], "so Tare has to watch; leave it out"),
        (["run", "quick", "--on", "slurm", "--more", "2"], "--more goes with no --on"),
    ],
)
def test_options_that_do_not_go_together_are_refused(argv: list[str], said: str, capsys: Capture) -> None:
    assert ended(lambda: app(argv, standalone_mode=False)) == 2
    assert said in capsys.readouterr().err


def test_show_says_how_far_jobs_are_and_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    jobs = JobsFolder(ResultFolder(tmp_path / "r"))
    result = FakeResult(jobs)
    queue = FakeQueue(jobs, result.measure)
    assert jobs_said(ResultFolder(tmp_path / "none")) is None
    monkeypatch.setitem(submitted.SCHEDULERS, "slurm", lambda *_: queue)
    (tmp_path / "r" / "lock").touch()
    assert ended(lambda: app(["show", str(tmp_path / "r")], standalone_mode=False)) == 0
    assert capsys.readouterr().out.startswith(
        "no trial is measured yet, and no job is at work. To go on: tare run "
    )
    monkeypatch.setattr(submitted, "standing_of", lambda _: result.standing())
    queue.submit(
        Submission(name="tare-fake", count=3, script=jobs.script, logs=jobs.path, wish=jobs.asked().wish)
    )
    for _ in range(2):
        queue.jobs("tare-fake")
    said = jobs_said(jobs.result)
    assert said is not None
    assert said.startswith(
        "3 of 9 trials are measured; job 1_1 runs on n[1-2], 1 is queued (Priority). To watch them: "
    )


def test_without_a_scheduler_show_takes_the_jobs_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = JobsFolder(ResultFolder(tmp_path / "r"))
    result = FakeResult(jobs)
    FakeQueue(jobs, result.measure, ["lost"])._run("1_0")
    monkeypatch.setenv("PATH", "/nowhere")
    said = jobs_said(jobs.result)
    assert said is not None
    assert "the scheduler cannot be asked from here; job 1_0 began at " in said
    assert "on n[1-2] and has not ended, or was killed" in said
