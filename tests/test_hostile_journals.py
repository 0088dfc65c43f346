# SPDX-License-Identifier: Apache-2.0
"""A journal can be read line by line and still say anything: whoever shows it ends with words, soon, and in text.

`python -m tests.hostile.show` does the same with thousands of journals of every kind of campaign.
"""

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.commands import Ended, ended, fault_of
from tests.hostile.contents import Line, hostile
from tests.hostile.results import install_programs, measured, plain, sliced
from tests.hostile.show import place, read

SEED, RANDOM_CASES = 1, 8
EVIL = "\x1b[2J\u202e[red]"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Path:
    assert programs
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TARE_STATE", "")
        install_programs(folder / "state")
        return measured(plain(), folder / "base")


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a fault would keep its traceback."""
    monkeypatch.setenv("TARE_STATE", str(tmp_path))


def shown(base: Path, folder: Path, lines: list[Line], *words: str) -> Ended:
    place(base, folder, lines)
    return ended([words[0] if words else "show", str(folder), *words[1:]])


def test_what_is_not_changed_is_shown(base: Path, tmp_path: Path) -> None:
    result = shown(base, tmp_path / "result", read(base))
    assert (result.code, result.errors) == (0, "")
    assert "time_s * primary" in result.said


def each_sample(**fields: Any) -> Callable[[list[Line]], None]:
    def change(lines: list[Line]) -> None:
        for line in lines:
            for sample in line["record"].get("samples", ()):
                placed = sample["coordinates"]
                sample |= {name: value for name, value in fields.items() if placed or name not in _PLACES}

    return change


_PLACES = {"x", "x_unit", "coordinates"}
"""Fields that stay with the samples of curves."""


def each_trial(place: str, **fields: Any) -> Callable[[list[Line]], None]:
    def change(lines: list[Line]) -> None:
        for line in lines:
            if trial := line["record"].get("trial"):
                (trial[place] if place else trial).update(fields)

    return change


def each_outcome(**fields: Any) -> Callable[[list[Line]], None]:
    def change(lines: list[Line]) -> None:
        for line in lines:
            if line["kind"] == "outcome":
                line["record"].update(fields)

    return change


def trials_twice(lines: list[Line]) -> None:
    for line in [line for line in lines if line["kind"] == "outcome"]:
        trial = {**line["record"]["trial"], "identity": f"{line['record']['trial']['identity']}x"}
        lines.append({**line, "record": {**line["record"], "trial": trial}})


def thousands_of_metrics(lines: list[Line]) -> None:
    for line in lines:
        if samples := line["record"].get("samples"):
            samples += [{**samples[0], "name": f"m{number}"} for number in range(300)]


def no_sessions(lines: list[Line]) -> None:
    lines[:] = [line for line in lines if line["kind"] != "session"]


LOAD = {"foreign": 1.0, "steal": 0.0, "throttled": 0.0, "others": []}
CHANGES = {
    "x of 1e308": each_sample(coordinates=[["size", 1e308, "B"]]),
    "an x of 1e308": each_sample(x=1e308, x_unit="B"),
    "coordinates that are none": each_sample(coordinates=[["size", "B"]]),
    "a thousand coordinates": each_sample(coordinates=[[f"d{number}", 1.0, None] for number in range(1000)]),
    "values of 1e308": each_sample(value=1e308),
    "values of 5e-324": each_sample(value=5e-324),
    "no instances": each_trial("layout", instances=0),
    "trials twice": trials_twice,
    "a unit of 100 kB": each_sample(unit="u" * 100_000),
    "a name of 100 kB": each_trial("environment", name="e" * 100_000),
    "thousands of metrics": thousands_of_metrics,
    "no sessions": no_sessions,
    "a load on no processors": each_outcome(load={"processors": 0, **LOAD}),
    "native by another technology": each_trial("environment", technology="fake", name="native"),
    "escapes in names": each_sample(name=EVIL, unit=EVIL, coordinates=[[EVIL, 1.0, EVIL]]),
    "escapes in reasons": each_outcome(status="failed", reason=EVIL, excerpt=EVIL),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_journal_of_such_content_is_shown_or_refused_in_words(
    change: Callable[[list[Line]], None], base: Path, tmp_path: Path
) -> None:
    lines = read(base)
    change(lines)
    result = shown(base, tmp_path / "result", lines, "show", "--all")
    assert fault_of(result) is None
    assert len(result.said) < 100_000


def test_a_report_is_drawn_of_what_no_axis_reaches(base: Path, tmp_path: Path) -> None:
    lines = read(base)
    each_sample(unit="B", coordinates=[["size", 1e40, "B"]])(lines)
    assert fault_of(shown(base, tmp_path / "result", lines, "report")) is None


def test_journals_changed_at_random_are_shown_or_refused_in_words(base: Path, tmp_path: Path) -> None:
    lines = read(base)
    for case in range(RANDOM_CASES):
        chance = random.Random(f"{SEED}-{case}")  # noqa: S311 - no secret
        result = shown(base, tmp_path / "result", hostile(lines, chance), "show", *case % 2 * ["--json"])
        assert fault_of(result) is None, f"case {case}: {result.errors[-2000:]}"


def test_the_check_itself_sees_a_fault(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> int:
        raise OverflowError

    monkeypatch.setattr("tare.commands.show.run_show", broken)
    place(base, tmp_path / "result", read(base))
    asked = ["show", str(tmp_path / "result")]
    assert (fault_of(ended(asked, here=True)) or "").startswith("OverflowError in ")
    monkeypatch.setattr("tare.commands.terminal.visible", str)
    monkeypatch.setattr("tare.commands.show.run_show", lambda *_: sys.stdout.write(EVIL) and 0)
    assert fault_of(ended(asked, here=True)) == r"show: printed '\x1b'"


def test_a_result_whose_journal_names_unknown_workloads_can_be_continued(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TARE_STATE", str(base.parent / "state"))
    result = measured(sliced(), base.parent / "sliced")
    lines = read(result)
    each_trial("workload", kind=EVIL)(lines)
    assert fault_of(shown(result, tmp_path / "result", lines, "run")) is None
