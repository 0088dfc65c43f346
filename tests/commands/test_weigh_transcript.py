# SPDX-License-Identifier: Apache-2.0
"""What stands on a terminal after ``tare weigh``, beside hyperfine's on the same command, with fakes."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from tests.busy_example import QUIET, busy_load
from tests.conftest import REPOSITORY
from tests.fake_campaign import FAKES

from tare.commands import run as running
from tare.commands import weigh
from tare.commands.line import Shown
from tare.commands.run import run_and_show
from tare.commands.weigh import run_weigh
from tare.commands.weigh_files import WeighOptions
from tare.errors import ExitCode
from tare.measure import campaign
from tare.measure.campaign import Request
from tare.measure.others import OthersWatch
from tare.records import HostLoad

HYPERFINE = (REPOSITORY / "tests/outputs/hyperfine/1.15.0.txt").read_text(encoding="utf-8").splitlines()
"""As ``hyperfine -N ./app`` leaves it on a terminal, with its empty line."""

pytestmark = pytest.mark.usefixtures("fake_image")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What is left after each erasure."""
        return [line.rpartition("\r\x1b[K")[2] for line in self.getvalue().removesuffix("\n").split("\n")]


def transcript(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    blocks: int,
    load: HostLoad = QUIET,
    *,
    verbose: bool = False,
) -> list[str]:
    """Of a command in the current directory, with both streams on one terminal."""

    def run(request: Request, shown: Shown) -> ExitCode:
        return run_and_show(replace(request, providers=FAKES), shown)

    terminal = Terminal()
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(f"sys.{stream}", terminal)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(weigh, "run_and_show", run)
    monkeypatch.setattr(weigh, "image_of", lambda *_: "default")  # which holds no shell for the program
    monkeypatch.setattr(running, "root_said", lambda *_: None)  # which fakes alone are, unasked
    monkeypatch.setattr(campaign, "look_before_start", lambda: load)
    monkeypatch.setattr(OthersWatch, "load", lambda *_: load)
    (folder / "app").write_text("#!/bin/sh\n", encoding="utf-8")
    (folder / "app").chmod(0o755)
    options = WeighOptions(command=("./app",), environments=("fake",), blocks=blocks)
    assert run_weigh(options, Path("result"), "default", Shown(verbose=verbose)) is ExitCode.DONE
    return terminal.lines()


@pytest.mark.parametrize(("blocks", "load"), [(6, QUIET), (4, busy_load(1.0))], ids=["quiet", "busy"])
def test_it_is_no_longer_than_hyperfines_by_more_than_three_lines(
    blocks: int, load: HostLoad, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = transcript(monkeypatch, tmp_path, blocks, load)
    remarks = [line for line in lines if line.startswith(("warning: ", "this machine is busy: "))]
    assert len(remarks) == (blocks < 6) + load.busy, "the user hears what may spoil the answer"
    assert lines[0] == f"the command sees {tmp_path}, read-only (--bind DIR:rw, --no-bind)"
    assert lines[-1] == "report: result/report.html"
    assert len(lines) <= len(HYPERFINE) + 3, "\n".join(lines)


def test_who_asks_for_more_gets_the_plan_and_the_tables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = transcript(monkeypatch, tmp_path, 1, verbose=True)
    assert any(line.startswith("3 trials in 1 block, about ") for line in lines)
    assert len(lines) > 2 * len(HYPERFINE) + 3
