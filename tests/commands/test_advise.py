# SPDX-License-Identifier: Apache-2.0
"""``tare advise`` from results with planted costs: what it predicts, what it refuses to, and what was measured."""

import json
from pathlib import Path

import pytest
from tests.advice_example import COSTS, overhead_of, rates_of, write_planted

from tare.commands import advised as advised_module
from tare.commands.advise import AdviseOptions, advised, run_advise
from tare.commands.advised import KnownHere, known_of
from tare.errors import ExitCode, InputError
from tare.journal.result import CAMPAIGN_FILE, ResultFolder, journal_files
from tare.records import Cell, Workload
from tare.records.advice import Application, Basis, KnownWorkload, Resource

KNOWN = [f"known-{seed}" for seed in range(12)]
STATED = {Resource.COMPUTING: 0.4, Resource.KERNEL: 0.2, Resource.FAULTS: 1e3, Resource.SWITCHES: 100.0}
NEEDS = "computing 40 %, time in the kernel 20 %, page faults 1000/s, context switches 100/s"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result of twelve known workloads, and one of an application that ran in one environment."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        write_planted(folder / "known", KNOWN, patch)
        write_planted(folder / "mine", ["app-100"], patch, {"filter": COSTS["filter"]})
    return folder


@pytest.fixture(autouse=True)
def _fake_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """This host is the one of the made-up results."""
    monkeypatch.setattr(advised_module, "host_facts", lambda: {"processor": "none"})


def options(folder: Path, *needs: str, **others: object) -> AdviseOptions:
    return AdviseOptions(known=(folder,), needs=needs, **others)  # type: ignore[arg-type]


def test_a_stated_application_is_predicted_from_results_of_known_workloads(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_advise((), options(results, NEEDS)) == ExitCode.DONE
    said = capsys.readouterr().out
    assert said.splitlines()[0] == (
        "an application as stated on 1c1p1i, beside 13 known workloads of this host"
    )
    assert said.splitlines()[-1] == "take plain, as predicted"
    advice = advised((), options(results, NEEDS))
    for predicted in advice.predicted:
        overhead, truth = predicted.overhead, overhead_of(STATED, COSTS[predicted.arm.name])
        assert overhead is not None
        assert overhead.low is not None
        assert overhead.high is not None
        assert overhead.low < truth < overhead.high


def test_an_application_is_measured_where_it_ran_and_predicted_elsewhere(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = options(results, workload="app-100")
    assert run_advise((results / "mine",), asked) == ExitCode.DONE
    said = capsys.readouterr().out
    assert f"measured in {results / 'mine'}:" in said
    assert "take filter, as measured" in said
    assert "it may be better still; measure this one: tare weigh --env fake -- COMMAND" in said
    advice = advised((results / "mine",), asked)
    assert [each.arm.name for each in advice.measured] == ["filter"]
    assert [each.arm.name for each in advice.predicted] == ["plain", "sandbox"]
    truth = overhead_of(rates_of(100), COSTS["sandbox"])
    sandbox = advice.predicted[1].overhead
    assert sandbox is not None
    assert sandbox.low is not None
    assert sandbox.high is not None
    assert sandbox.low < truth < sandbox.high
    assert advice.known == 12


def test_what_each_of_two_results_measured_is_predicted_no_more(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {name: COSTS[name] for name in ("filter", "plain")}
    write_planted(tmp_path / "more", ["app-100"], monkeypatch, more)
    advice = advised((results / "mine", tmp_path / "more"), options(results, workload="app-100"))
    assert {each.arm.name: Path(each.result).name for each in advice.measured} == {
        "filter": "mine",
        "plain": "more",
    }
    assert [each.arm.name for each in advice.predicted] == ["sandbox"]
    assert advice.take == ("plain",)


def test_a_later_result_answers_where_the_first_tells_nothing(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = {"filter": COSTS["filter"]}
    write_planted(tmp_path / "few", ["app-100"], monkeypatch, costs, blocks=2)
    advice = advised((tmp_path / "few", results / "mine"), options(results, workload="app-100"))
    assert [(each.tells, Path(each.result).name) for each in advice.measured] == [(True, "mine")]


def test_an_application_beyond_all_known_workloads_is_to_be_measured(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_advise((), options(results, f"{NEEDS}, page faults 1000000/s")) == ExitCode.CANNOT
    said = capsys.readouterr().out
    assert "must be measured: it has more page faults than any known workload" in said
    assert said.splitlines()[-1].startswith("measure these two: tare weigh --env fake")


def test_what_is_not_required_is_named_with_its_reason(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_advise((), options(results, f"{NEEDS}, own kernel")) == ExitCode.CANNOT
    said = capsys.readouterr().out
    assert "plain: it runs on the host's kernel (own kernel)" in said
    assert said.splitlines()[-1].startswith("no environment is left")


def test_the_json_has_the_same_answer(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_advise((), options(results, NEEDS, as_json=True))
    printed = json.loads(capsys.readouterr().out)
    assert printed["schema"] == 1
    assert printed["take"] == ["plain"]
    assert printed["rates"] == {str(resource): pytest.approx(rate) for resource, rate in STATED.items()}
    assert [each["arm"]["name"] for each in printed["predicted"]] == ["plain", "filter", "sandbox"]
    assert printed["predicted"][2]["basis"] == Basis.RESOURCES
    assert printed["predicted"][2]["parts"][0]["resource"] == "time in the kernel"


def test_the_same_workload_in_two_results_counts_once(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_planted(tmp_path / "again", KNOWN[:3], monkeypatch)
    both = AdviseOptions(known=(results, tmp_path), needs=(NEEDS,))
    assert advised((), both).known == 13


def test_a_result_of_another_host_says_nothing_of_this_one_unless_it_is_named(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advised_module, "host_facts", lambda: {"processor": "of a laptop"})
    advice = advised((), options(results, NEEDS))
    assert (advice.known, advice.predicted) == (0, ())
    assert (
        f"{results / 'known'}: it was measured on another host; name it to ask about that one"
        in advice.ignored
    )
    assert advised((results / "known",), options(results, NEEDS)).known == 13


@pytest.mark.parametrize(
    ("wanted", "alike"),
    [
        ("2c1p1i", ["2c2p1i", "2c1p1i [class=A]"]),
        ("2c1p1i on 2", ["2c4p1i on 2"]),
        ("1c2p1i", ["1c1p1i"]),
        ("2c1p1i+1xother", []),
    ],
)
def test_layouts_are_alike_with_as_many_nodes_instances_and_hosts(wanted: str, alike: list[str]) -> None:
    layouts = ("2c2p1i", "2c1p1i [class=A]", "2c4p1i on 2", "2c1p2i", "2c1p1i+1xother", "1c1p1i")
    every = KnownHere(
        workloads=[
            (
                Workload(name=layout, kind="fake", options={"seed": seed}),
                KnownWorkload(
                    name=layout, cell=Cell(workload="w", layout=layout), rates={}, overheads={"plain": 0.0}
                ),
                [],
            )
            for seed, layout in enumerate(layouts)
        ]
    )
    known = known_of(every, Application(name="app", layout=wanted, rates={}), None)
    assert [each.cell.layout for each in known] == alike


def test_without_known_workloads_the_way_to_them_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_advise((), options(tmp_path, NEEDS)) == ExitCode.CANNOT
    assert "tare run advise" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, "which application"),
        ({"workload": "other"}, "--workload other: the named results have app-100"),
        ({"workload": "app-100", "layout": "2c1p1i"}, "the named results have app-100"),
    ],
)
def test_no_application_is_refused_with_what_there_is(
    results: Path, chosen: dict[str, str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        run_advise((results / "mine",), options(results, **chosen))


def test_a_torn_damaged_or_unfinished_result_is_named_with_what_to_do(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("torn", "damaged", "unfinished"):
        write_planted(tmp_path / name, KNOWN[:2], monkeypatch, blocks=2)
    (tmp_path / "torn" / CAMPAIGN_FILE).write_text("{")
    (own,) = journal_files(ResultFolder(tmp_path / "damaged").journal)
    own.write_bytes(own.read_bytes().replace(b'"wall_s"', b'"wall_x"', 1))
    (own,) = journal_files(ResultFolder(tmp_path / "unfinished").journal)
    own.write_bytes(b"".join(own.read_bytes().splitlines(keepends=True)[:-5]))
    ignored = advised((), AdviseOptions(known=(results, tmp_path), needs=(NEEDS,))).ignored
    said = {
        name: [each for each in ignored if str(tmp_path / name) in each] for name in ("torn", "unfinished")
    }
    assert len(said["torn"]) == 1
    assert said["torn"][0].startswith(f"{tmp_path / 'torn' / CAMPAIGN_FILE}: is not a campaign")
    folder = tmp_path / "unfinished"
    assert said["unfinished"] == [f"{folder}: 4 planned trials without an outcome; tare run {folder} goes on"]
    folder = tmp_path / "damaged"
    (damaged,) = [each for each in ignored if each.startswith(f"{folder}: what is damaged in it (")]
    assert f"{own.name}, line " in damaged
    assert damaged.endswith(f"tare run {folder} measures it again")
