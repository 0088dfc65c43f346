# SPDX-License-Identifier: Apache-2.0
"""What PBS, LSF and Flux are told by PSI/J, and what their answers mean: PSI/J's own classes, and recorded answers."""

import importlib
import json
import shlex
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import psij
import pytest

from tare.errors import HostError, InputError
from tare.journal.result import ResultFolder
from tare.submission import psij_executor
from tare.submission.folder import Asked, Element, JobsFolder
from tare.submission.psij import CANCELLED_BY, Psij, last_end_s, require, spec_of
from tare.submission.scheduler import JobPhase, QueuedJob, SilentError, Submission, Wish
from tests.submission.scheduler_commands import Commands, submission

ASKED = {"processors": 4, "partition": "short", "account": "me", "time_s": 1800.0}


@pytest.fixture
def jobs(tmp_path: Path) -> JobsFolder:
    return JobsFolder(ResultFolder(tmp_path / "r"))


def asked_for(jobs: JobsFolder, count: int = 2) -> Submission:
    return replace(submission(**ASKED), count=count, script=jobs.script, logs=jobs.path)


def begun(jobs: JobsFolder, identity: str, *, ended: bool = False) -> None:
    own = Element(identity=identity, host="n1", nodes="n1,n2", begun_utc="before")
    jobs.note(replace(own, ended_utc="now", trials=3) if ended else own)


def directives(jobs: JobsFolder, kind: str, mark: str) -> list[set[str]]:
    """Of the scripts that PSI/J wrote, by when."""
    scripts = sorted((jobs.path / "psij" / kind).glob("*.job"), key=lambda file: file.stat().st_mtime_ns)
    return [
        {line.removeprefix(mark).strip() for line in script.read_text().splitlines() if line.startswith(mark)}
        for script in scripts
    ]


@pytest.mark.parametrize(
    ("kind", "resources"),
    [
        ("pbs", {"-l select=2:ncpus=4:mpiprocs=4", "-l place=scatter:exclhost"}),
        ("pbs_classic", {"-l nodes=2:ppn=4", "-n"}),
    ],
)
def test_pbs_gives_whole_nodes_one_job_after_the_other(
    jobs: JobsFolder, commands: Commands, kind: str, resources: set[str]
) -> None:
    commands.say("qsub", "17.server\n")
    assert Psij(kind, jobs).submit(asked_for(jobs)) == "1"
    first, second = directives(jobs, kind, "#PBS")
    assert first >= resources | {"-l walltime=0:30:0", "-q short", "-A me"}
    assert second - first == {'-W "depend=afterany:17.server"'}
    assert jobs.numbers() == {"1_0": "17.server", "1_1": "17.server"}


def test_lsf_gets_nodes_slots_queue_and_minutes(jobs: JobsFolder, commands: Commands) -> None:
    commands.say("bsub", "Job <17> is submitted to queue <short>.\n")
    scheduler = Psij("lsf", jobs)
    assert not scheduler.chains
    assert scheduler.submit(asked_for(jobs, 1)) == "1"
    (said,) = directives(jobs, "lsf", "#BSUB")
    assert said >= {"-nnodes 2", "-n 8", "-W 0:30", '-q "short"', '-P "me"'}
    assert jobs.numbers() == {"1_0": "17"}


def test_the_script_of_a_job_tells_who_it_is_and_where_it_prints(jobs: JobsFolder) -> None:
    spec = spec_of("pbs", asked_for(jobs), jobs, "1_1", "17.server")
    assert spec.executable == "/bin/sh"
    assert spec.arguments == [str(jobs.script), "1_1", str(jobs.path / "1_1.log")]
    assert spec.inherit_environment


def test_the_next_round_has_the_next_number(jobs: JobsFolder, commands: Commands) -> None:
    commands.say("qsub", "17.server\n")
    assert [Psij("pbs", jobs).submit(asked_for(jobs, 1)) for _ in range(2)] == ["1", "2"]


QSTAT = {
    "17.server": {"job_state": "R", "comment": "Job run at Fri Nov 27"},
    "18.server": {"job_state": "H"},
    "19.server": {"job_state": "F", "Exit_status": 265, "comment": "terminated"},
    "20.server": {"job_state": "F", "Exit_status": 0},
    "21.server": {"job_state": "F", "Exit_status": 0},
    "22.server": {"job_state": "Q", "comment": "Not Running: Insufficient amount of resource: ncpus"},
}


def test_what_qstat_says_becomes_where_jobs_are(jobs: JobsFolder, commands: Commands) -> None:
    for element, number in enumerate(QSTAT):
        jobs.keep_number(f"1_{element}", number)
    commands.say("qstat", json.dumps({"Jobs": QSTAT}))
    begun(jobs, "1_0")
    begun(jobs, "1_4")
    phases = [(job.identity, job.phase, job.nodes) for job in Psij("pbs", jobs).jobs("any")]
    assert phases == [
        ("1_0", JobPhase.RUNNING, "n1,n2"),
        ("1_1", JobPhase.QUEUED, None),
        ("1_2", JobPhase.CANCELLED, None),
        ("1_3", JobPhase.CANCELLED, None),  # it ended and never began
        ("1_4", JobPhase.LOST, "n1,n2"),  # it began, and neither it nor its script ended by itself
        ("1_5", JobPhase.QUEUED, None),
    ]
    assert shlex.split(commands.argv("qstat"))[-6:] == list(QSTAT)


def test_a_job_that_said_its_end_is_not_asked_for_and_one_whose_script_ended_is_not_lost(
    jobs: JobsFolder, commands: Commands
) -> None:
    jobs.keep_number("1_0", "17.server")
    jobs.keep_number("1_1", "18.server")
    begun(jobs, "1_0", ended=True)
    commands.say("qstat", json.dumps({"Jobs": {"18.server": {"job_state": "F", "Exit_status": 3}}}))
    work = jobs.path / "psij" / "pbs"
    work.mkdir(parents=True)
    (work / "18.server.ec").write_text("3\n")
    assert Psij("pbs", jobs).jobs("any") == [
        QueuedJob(identity="1_0", phase=JobPhase.ENDED),
        QueuedJob(identity="1_1", phase=JobPhase.ENDED),
    ]
    assert "17.server" not in commands.argv("qstat")


def test_a_job_that_pbs_has_forgotten_is_over_and_a_silent_server_is_no_end(
    jobs: JobsFolder, commands: Commands
) -> None:
    jobs.keep_number("1_0", "17.server")
    begun(jobs, "1_0")
    commands.say("qstat", stderr="qstat: Unknown Job Id 17.server\n", code=153)
    (job,) = Psij("pbs", jobs).jobs("any")
    assert (job.phase, job.reason) == (JobPhase.LOST, "killed")
    commands.say(
        "qstat", stderr="Connection refused\nqstat: cannot connect to server (errno=111)\n", code=111
    )
    with pytest.raises(SilentError, match="cannot connect to server"):
        Psij("pbs", jobs).jobs("any")
    commands.say("qstat", "<html>")
    with pytest.raises(SilentError, match="PSI/J cannot read '<html>'"):
        Psij("pbs", jobs).jobs("any")


def test_jobs_of_lsf_are_read_with_the_reason_of_their_end(jobs: JobsFolder, commands: Commands) -> None:
    states = {"17": ("RUN", ""), "18": ("PEND", ""), "19": ("EXIT", "TERM_OWNER: job killed by owner")}
    records = [
        {"JOBID": number, "STAT": state, "EXIT_REASON": why, "KILL_REASON": "", "SUSPEND_REASON": ""}
        for number, (state, why) in states.items()
    ]
    for element, number in enumerate(states):
        jobs.keep_number(f"1_{element}", number)
    commands.say("bjobs", json.dumps({"COMMAND": "bjobs", "JOBS": 3, "RECORDS": records}))
    phases = [job.phase for job in Psij("lsf", jobs).jobs("any")]
    assert phases == [JobPhase.RUNNING, JobPhase.QUEUED, JobPhase.CANCELLED]


def test_the_last_job_is_cancelled_first_and_only_those_that_wait_if_so_asked(
    jobs: JobsFolder, commands: Commands
) -> None:
    for element, number in enumerate(list(QSTAT)[:2]):
        jobs.keep_number(f"1_{element}", number)
    commands.say("qstat", json.dumps({"Jobs": QSTAT}))
    (commands.folder / "qdel").write_text(f"#!/bin/sh\necho $1 >>{commands.folder}/deleted\n")
    (commands.folder / "qdel").chmod(0o755)
    Psij("pbs", jobs).cancel("any", queued_only=True)
    assert (commands.folder / "deleted").read_text() == "18.server\n"
    Psij("pbs", jobs).cancel("any")
    assert (commands.folder / "deleted").read_text() == "18.server\n18.server\n17.server\n"
    assert Psij("pbs", jobs).cancel_words("any") == "qdel 17.server 18.server"
    assert Psij("lsf", jobs).cancel_words("any") == "bkill 18.server", (
        "where each waits for Tare, one is at work"
    )


def test_what_cannot_be_cancelled_is_said_unless_it_is_over(jobs: JobsFolder, commands: Commands) -> None:
    jobs.keep_number("1_0", "18.server")
    commands.say("qstat", json.dumps({"Jobs": QSTAT}))
    commands.say("qdel", stderr="qdel: Unauthorized Request\n", code=159)
    with pytest.raises(SilentError, match="Unauthorized Request"):
        Psij("pbs", jobs).cancel("any")


def test_a_refusal_is_said_in_the_schedulers_words_and_leaves_no_job(
    jobs: JobsFolder, commands: Commands
) -> None:
    marker = commands.folder / "first"
    (commands.folder / "qsub").write_text(
        f"#!/bin/sh\n[ -e {marker} ] || {{ touch {marker}; echo 17.server; exit 0; }}\n"
        "echo 'qsub: Unknown queue' >&2; exit 170\n"
    )
    (commands.folder / "qsub").chmod(0o755)
    commands.say("qdel")
    with pytest.raises(HostError, match="pbs refuses the jobs: qsub: Unknown queue"):
        Psij("pbs", jobs).submit(asked_for(jobs))
    assert commands.argv("qdel") == "17.server\n"


def test_without_its_commands_a_login_node_is_asked_for(
    jobs: JobsFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(HostError, match="--on pbs needs qsub, which is not here: use a login node"):
        Psij("pbs", jobs).submit(asked_for(jobs))
    jobs.keep_number("1_0", "17.server")
    with pytest.raises(HostError, match="--on pbs needs qstat, which is not here"):
        Psij("pbs", jobs).jobs("any")


def test_a_command_that_hangs_is_no_answer(jobs: JobsFolder, commands: Commands) -> None:
    for name in ("qsub", "qstat"):
        (commands.folder / name).write_text("#!/bin/sh\nexec sleep 2\n")
        (commands.folder / name).chmod(0o755)
    with pytest.raises(HostError, match=r"pbs does not answer: no answer within 0\.2 s; a job may have been"):
        Psij("pbs", jobs, 0.2).submit(asked_for(jobs))
    jobs.keep_number("1_0", "17.server")
    with pytest.raises(SilentError):
        Psij("pbs", jobs, 0.2).jobs("any")


def test_without_the_package_it_is_said_how_to_install_it(
    jobs: JobsFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psij_executor, "find_spec", lambda _: None)
    with pytest.raises(
        HostError, match=r"reached by PSI/J, which is not installed: pip install 'tare\[psij\]'"
    ):
        require("pbs", Wish(nodes=2, time_s=60.0), jobs)


@pytest.mark.parametrize(
    ("kind", "wish", "said"),
    [
        ("pbs", Wish(nodes=2), "--time: pbs is told a time for each job"),
        ("flux", Wish(nodes=2, time_s=60.0, partition="short"), "PSI/J passes neither on to flux"),
        ("local", Wish(nodes=2, time_s=60.0), "--on local runs jobs on this host alone"),
    ],
)
def test_what_psij_would_not_pass_on_is_refused(jobs: JobsFolder, kind: str, wish: Wish, said: str) -> None:
    with pytest.raises(InputError, match=said):
        require(kind, wish, jobs)


def test_a_path_that_psijs_scripts_cannot_name_is_refused(tmp_path: Path) -> None:
    wish = Wish(nodes=1, time_s=60.0)
    require("pbs", wish, JobsFolder(ResultFolder(Path("/cluster/result-1"))))
    with pytest.raises(InputError, match=r"--output: PSI/J's scripts cannot name .*a b/jobs"):
        require("pbs", wish, JobsFolder(ResultFolder(tmp_path / "a b")))


def test_a_job_keeps_a_part_of_its_time_for_its_end() -> None:
    asked = Asked(scheduler="pbs", name="n", wish=Wish(nodes=1, time_s=1000.0), argv=(), arrays={})
    last_s = last_end_s(asked)
    assert last_s is not None
    assert 870 < last_s - time.monotonic() <= 880
    assert last_end_s(replace(asked, wish=Wish(nodes=1))) is None


class Flux:
    """Flux's bindings, as far as PSI/J uses them: jobs stay as the test says."""

    def __init__(self) -> None:
        self.specs: list[dict[str, Any]] = []
        self.cancelled: list[int] = []
        self.futures: dict[int, FluxFuture] = {}

    def bindings(self) -> dict[str, ModuleType]:
        flux, job = ModuleType("flux"), ModuleType("flux.job")
        flux.Flux = object  # type: ignore[attr-defined]
        flux.job = job  # type: ignore[attr-defined]
        job.FluxExecutor = lambda: self  # type: ignore[attr-defined]
        job.FluxExecutorFuture = FluxFuture  # type: ignore[attr-defined]
        job.JobspecV1 = self  # type: ignore[attr-defined]
        job.cancel_async = lambda _, number: self.cancelled.append(number)  # type: ignore[attr-defined]
        return {"flux": flux, "flux.job": job}

    def from_command(self, argv: list[str], **resources: object) -> "Flux":
        self.specs.append({"argv": argv, **resources})
        return self

    def submit(self, _: object) -> "FluxFuture":
        return self.attach(len(self.futures) + 7)

    def attach(self, number: int) -> "FluxFuture":
        return self.futures.setdefault(number, FluxFuture(number))


class FluxFuture(Future[int]):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.events: dict[str, Callable[..., None]] = {}

    def jobid(self) -> int:
        return self.number

    def add_jobid_callback(self, call: Callable[[object], None]) -> None:
        call(self)

    def add_event_callback(self, event: str, call: Callable[..., None]) -> None:
        self.events[event] = call

    def cancel(self) -> bool:
        return False


@pytest.fixture
def flux(monkeypatch: pytest.MonkeyPatch) -> Flux:
    made = Flux()
    for name, module in made.bindings().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "psij.executors.flux", raising=False)
    executor = importlib.import_module("psij.executors.flux").FluxJobExecutor
    monkeypatch.setattr(
        psij.JobExecutor, "get_instance", lambda _, config: executor(config=config), raising=True
    )
    return made


def test_flux_gets_a_process_for_each_node_and_its_jobs_are_followed(jobs: JobsFolder, flux: Flux) -> None:
    scheduler = Psij("flux", jobs, 5.0)
    wish = replace(asked_for(jobs, 1), wish=Wish(nodes=2, processors=4, time_s=1800.0))
    assert scheduler.submit(wish) == "1"
    (spec,) = flux.specs
    assert (spec["num_nodes"], spec["num_tasks"], spec["cores_per_task"]) == (2, 2, 4)
    assert spec["argv"] == ["/bin/sh", str(jobs.script), "1_0", str(jobs.log("1_0"))]
    assert jobs.numbers() == {"1_0": "7"}
    another = Psij("flux", jobs, 5.0)
    assert [job.phase for job in another.jobs("any")] == [JobPhase.QUEUED]
    another.cancel("any")
    assert flux.cancelled == [7]
    flux.futures[7].set_exception(RuntimeError("job.exception type=cancel note=by user"))
    assert [job.phase for job in another.jobs("any")] == [JobPhase.CANCELLED]


def test_without_fluxs_bindings_the_right_python_is_asked_for(jobs: JobsFolder) -> None:
    jobs.keep_number("1_0", "7")
    with pytest.raises(HostError, match="PSI/J has no way to flux here: No module named 'flux'"):
        Psij("flux", jobs).jobs("any")


def test_every_scheduler_of_psij_is_one_that_it_knows() -> None:
    assert set(CANCELLED_BY) <= psij.JobExecutor.get_executor_names()
