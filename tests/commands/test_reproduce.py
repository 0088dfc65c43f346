# SPDX-License-Identifier: Apache-2.0
"""``tare reproduce`` from its command line on, without measuring."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.plan.preset_hosts import resolved_preset

from tare.commands import reproduce
from tare.commands.line import Shown
from tare.commands.reproduce import LIST_FILE, Reproduction, run_reproduce
from tare.commands.run import Overrides
from tare.errors import CampaignError, ExitCode, HostError, InputError, TareError
from tare.journal.result import CAMPAIGN_FILE, ResultFolder
from tare.papers import PAPERS, paper
from tare.records import NamedHost, Skipped


def wanted(folder: Path, *, runs: bool = False) -> Reproduction:
    return Reproduction(folder=folder, asked=Overrides(), image_name="default", runs=runs)


def test_an_unknown_paper_offers_the_nearest_and_all(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"r51: there is no such paper; did you mean 'r15'.*choose all or one of"
    ):
        run_reproduce("r51", wanted(tmp_path), Shown())


def test_without_any_result_everything_is_listed_as_not_measured_yet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_reproduce("all", wanted(tmp_path), Shown()) is ExitCode.CANNOT
    text = (tmp_path / LIST_FILE).read_text()
    assert text.count("### ") == len(PAPERS)
    assert "**not measured yet**" in text
    assert "**not possible here**" not in text
    assert "All: " in capsys.readouterr().out


@pytest.mark.parametrize("fault", [HostError, CampaignError])
def test_a_host_that_can_run_nothing_of_a_paper_says_why_and_goes_on(
    fault: type[TareError],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def cannot(*_: object, **__: object) -> None:
        raise fault("y15: nothing of it can be measured here:\n  1c1p1i: left out: no memory")

    monkeypatch.setattr(reproduce, "request_of", cannot)
    assert run_reproduce("all", wanted(tmp_path, runs=True), Shown(quiet=True)) is ExitCode.CANNOT
    text = (tmp_path / LIST_FILE).read_text()
    assert text.count("Nothing was run now: y15: nothing of it can be measured here") == len(PAPERS)
    assert "- 1c1p1i: left out: no memory" in text
    assert "not measured yet" not in text
    capsys.readouterr()


def begun(folder: Path, *hosts: str) -> None:
    """A result of L12 that has only its campaign."""
    campaign = resolved_preset("l12", processors=4, memory_byte=8 << 30)
    named = tuple(NamedHost(name=name, address=name) for name in hosts)
    result = ResultFolder(folder / "l12")
    result.path.mkdir(parents=True)
    text = json.dumps(replace(campaign, hosts=named).to_json())
    (result.path / CAMPAIGN_FILE).write_text(text)


def test_a_result_that_was_begun_on_other_hosts_is_not_continued_on_new_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(tmp_path, "a", "b")
    asked: list[str | None] = []

    def request_of(_: str, __: object, overrides: Overrides, *___: object) -> None:
        asked.append(overrides.hosts)
        raise HostError("not now")

    monkeypatch.setattr(reproduce, "request_of", request_of)
    on = replace(wanted(tmp_path, runs=True), asked=Overrides(hosts="a,b"))
    run_reproduce("l12", on, Shown(quiet=True))
    assert asked == [None]
    for other in ("a", "a,c", "a,b,c"):
        with pytest.raises(InputError, match=r"l12 was begun on other hosts; choose another -o"):
            run_reproduce("l12", replace(on, asked=Overrides(hosts=other)), Shown(quiet=True))


def test_two_papers_of_one_preset_share_its_result(tmp_path: Path) -> None:
    paths = [reproduce._folder(paper(name), tmp_path).path.name for name in ("b16-stage3", "b17", "l12")]
    assert paths == ["b17", "b17", "l12"]


def test_a_torn_result_does_not_keep_the_list_from_being_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun(tmp_path)
    (tmp_path / "l12" / CAMPAIGN_FILE).write_text("{")
    assert run_reproduce("all", wanted(tmp_path), Shown()) is ExitCode.CANNOT
    text = (tmp_path / LIST_FILE).read_text()
    assert text.count("### ") == len(PAPERS)
    assert CAMPAIGN_FILE in capsys.readouterr().err
    assert "not possible here" not in text
    (note,) = [line for line in text.splitlines() if "the result is damaged" in line]
    assert f"{tmp_path / 'l12' / CAMPAIGN_FILE}: is not a campaign" in note
    assert (
        f"needed: restore {tmp_path / 'l12'} from a copy, or move it away and call the command again" in note
    )


@pytest.mark.parametrize(
    ("name", "usable", "arms"),
    [
        ("l12", False, ["vmware", "kvm", "virtualbox", "control"]),
        ("l12", True, ["vmware", "kvm", "virtualbox"]),
        ("r15", False, ["lxc", "lxc-2ms"]),  # what it says of native alone takes several hosts
    ],
)
def test_native_is_measured_where_no_environment_works_as_papers_speak_of_it_too(
    name: str, usable: bool, arms: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = () if usable else [Skipped(environment=own, reason="", remedy="") for own in arms]
    monkeypatch.setattr("tare.measure.usable.missing_now", lambda *_: missing)
    campaign = resolved_preset(name, processors=4, memory_byte=8 << 30)
    chosen = reproduce._with_control(campaign, paper(name))
    assert [environment.name for environment in chosen.environments] == arms
