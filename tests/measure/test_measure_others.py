# SPDX-License-Identifier: Apache-2.0
"""Two busy processes outside: they are named before the start and in the trials, and nothing contrary is claimed."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.busy_example import QUIET, busy_load, busy_loops
from tests.fake_campaign import Listener, command_workload, fake_campaign, fake_environment, fake_request

from tare.commands.show import print_analysis
from tare.journal.lines import encode
from tare.journal.reader import read_journal
from tare.measure.campaign import measure_campaign
from tare.measure.others import UNSEEN, look_before_start, said, said_of_trial
from tare.pipeline import analyse_result, run_campaign
from tare.records import BusyProgram, HostLoad, Withheld, Word

WORK = ("/bin/sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done")
"""Some tenths of a second on a processor."""


@pytest.mark.busy_machine
def test_a_busy_program_is_named_with_its_number_and_user_before_the_start(tmp_path: Path) -> None:
    with busy_loops(tmp_path) as name:
        load = look_before_start()
    assert load.busy
    busy_program = next(other for other in load.others if other.name == name)
    assert busy_program.processors > 0.2
    assert busy_program.user
    assert f"{name} (pid {busy_program.pid}, user {busy_program.user}) uses" in said(load)


@pytest.mark.busy_machine
def test_what_this_process_and_its_children_do_is_not_foreign(tmp_path: Path) -> None:
    program = tmp_path / "ownloop"
    program.symlink_to("/bin/sh")
    with busy_loops(tmp_path, 1) as name, subprocess.Popen([program, "-c", "while :; do :; done"]) as own:
        try:
            names = {busy_program.name for busy_program in look_before_start().others}
        finally:
            own.kill()
    assert name in names
    assert "ownloop" not in names


@pytest.mark.busy_machine
@pytest.mark.usefixtures("fake_image")
def test_beside_two_busy_programs_trials_name_them_and_the_claim_is_withheld(tmp_path: Path) -> None:
    campaign = fake_campaign(fake_environment("same"), workload=command_workload(*WORK), blocks=6)
    listener = Listener()
    with busy_loops(tmp_path) as name:
        analysis = run_campaign(fake_request(campaign, tmp_path / "result"), listener)
    (line,) = [words for words in listener.words if words.startswith("this machine is busy: ")]
    assert name in line
    assert "claims may be withheld; wait until it is over, or stop it" in line
    loads = [outcome.load for outcome in analysis.outcomes]
    assert any(
        name in {busy_program.name for busy_program in load.others} for load in loads if load is not None
    )
    (verdict,) = [verdict for verdict in analysis.verdicts if verdict.overhead.summary.primary]
    assert verdict.word is Word.UNDECIDED
    if (
        verdict.withheld is Withheld.BUSY
    ):  # else native against itself was too wide, or nothing was seen to differ
        assert name in verdict.sentence


@pytest.mark.usefixtures("fake_image")
def test_the_load_of_each_trial_and_of_the_start_is_journalled_and_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = replace(busy_load(), throttled=0.125)
    monkeypatch.setattr("tare.measure.others.OthersWatch.load", lambda *_: load)
    monkeypatch.setattr("tare.measure.campaign.look_before_start", lambda: load)
    request = fake_request(fake_campaign(blocks=6), tmp_path / "result")
    listener = Listener()
    measure_campaign(request, listener)
    journal = read_journal(request.folder.journal)
    assert {outcome.load for outcome in journal.outcomes} == {load}
    assert [session.load for session in journal.sessions] == [load]
    analysis = analyse_result(request.folder.path)
    assert all(verdict.withheld is Withheld.BUSY for verdict in analysis.verdicts)
    assert analysis.busy is not None
    assert (analysis.busy.blocks, analysis.busy.busy, analysis.busy.programs) == (6, 6, ("stress",))
    assert "too busy in 6 of 6 blocks" in analysis.busy.sentence
    assert "nothing could be decided" in analysis.busy.sentence


@pytest.mark.usefixtures("fake_image")
def test_a_quiet_host_is_not_spoken_of(tmp_path: Path) -> None:
    request = fake_request(fake_campaign(blocks=1), tmp_path / "result")
    listener = Listener()
    run_campaign(request, listener)
    assert not any("busy" in words for words in listener.words)
    assert analyse_result(request.folder.path).busy is None


@pytest.mark.usefixtures("fake_image")
def test_a_journal_of_an_earlier_version_has_no_load(tmp_path: Path) -> None:
    request = fake_request(fake_campaign(blocks=6), tmp_path / "result")
    run_campaign(request, Listener())
    (path,) = request.folder.journal.glob("*.jsonl")
    journal = read_journal(path.parent)
    lines = [
        encode(replace(journal.sessions[0], load=None)),
        *(encode(replace(outcome, load=None)) for outcome in journal.outcomes),
    ]
    path.write_bytes(b"".join(lines).replace(b',"load":null', b""))
    analysis = analyse_result(request.folder.path)
    assert {outcome.load for outcome in analysis.outcomes} == {None}
    assert analysis.busy is None
    assert any(verdict.word is Word.SLOWER for verdict in analysis.verdicts)


def test_what_cannot_be_named_is_said_as_such() -> None:
    unseen = BusyProgram(name=UNSEEN, user=None, pid=None, processors=0.8)
    load = HostLoad(processors=2, foreign=0.8, others=(unseen,))
    assert said_of_trial(load) == "others take 0.8 of its 2 processors: others, ended meanwhile"
    assert said(HostLoad(processors=1, foreign=0.6)) == "others use 0.6 of 1 processor"


def test_steal_and_throttling_are_said_beside_the_programs() -> None:
    load = replace(busy_load(1.0), steal=0.3, throttled=0.2)
    assert said(load) == (
        "stress (pid 100, user alice) uses 1.0, a hypervisor below takes 0.3 of 2 processors, "
        "a CPU quota holds Tare itself back 20 % of the time"
    )
    assert said_of_trial(load).count("; ") == 2
    assert "hypervisor" not in said(replace(load, steal=0.04)) + said_of_trial(replace(load, steal=0.04))
    assert not QUIET.busy


@pytest.mark.usefixtures("fake_image")
def test_a_run_whose_first_trial_outgrew_the_budget_says_at_its_end_that_the_machine_was_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tare.measure.campaign.look_before_start", lambda: busy_load(2.0))
    campaign = fake_campaign(workload=command_workload("/bin/sleep", "5"), budget_s=0.5)
    analysis = run_campaign(fake_request(campaign, tmp_path / "result"), Listener())
    assert (analysis.outcomes, analysis.verdicts) == ((), ())
    print_analysis(analysis, as_json=False, show_all=False)
    said_at_the_end = " ".join(capsys.readouterr().out.split())
    assert "The machine was busy before the start: stress used 2.0 of 2 processors" in said_at_the_end
    assert "nothing was measured to its end" in said_at_the_end
