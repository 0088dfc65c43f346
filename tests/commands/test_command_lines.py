# SPDX-License-Identifier: Apache-2.0
"""Wrong command lines: exit 2 or 3, one message, never a traceback, never a run that compares nothing."""

import re
import shlex
from pathlib import Path

import pytest

from tare.cli import app
from tare.commands.outermost import ended
from tare.measure import campaign

WRONG_INPUT = """
tare nosuch
tare -v
tare --colour
tare weigh
tare weigh --
tare weigh --blocks 6
tare weigh --blok 3 -- true
tare weigh --blocks -3 -- true
tare weigh --blocks 0 -- true
tare weigh --blocks 1001 -- true
tare weigh --blocks 2.5 -- true
tare weigh --blocks many -- true
tare weigh true --blocks 6
tare weigh true --env=fake
tare weigh sleep 1 --quiet
tare weigh --env native -- true
tare weigh --env dokcer -- true
tare weigh --env '' -- true
tare weigh --env Docker -- true
tare weigh --env fake --bind /nosuch -- true
tare capacity --env fake --loss much -- true
tare capacity --env fake --loss 10 -- true
tare capacity --env fake --memory 32MiB --most 7 -- true
tare capacity --env fake --layout 2c1p1i --most 1 -- true
tare capacity --env fake --most 100000 -- true
tare weigh --env fake --bind / -- true
tare weigh --env fake --bind /tmp:rx -- true
tare weigh --env fake --budget soon -- true
tare weigh --env fake --budget 0s -- true
tare weigh --env fake --budget -5m -- true
tare weigh --env fake --time-limit 0s -- true
tare weigh --env fake --time-limit 2y -- true
tare weigh --env fake --memory 1KiB -- true
tare weigh --env fake --memory 900000GiB -- true
tare weigh --env fake --memory lots -- true
tare weigh --env fake --seed -1 -- true
tare weigh --env fake --seed x -- true
tare weigh --env fake --as nobody-here -- true
tare weigh --env fake --as 5 -- true
tare plan r15-hots
tare run fake --hosts ''
tare run fake --hosts 'a b,c'
tare run fake --hosts nosuch.toml
tare plan fake --hosts a,-oProxyCommand=x
tare weigh --env fake --layout 1x2 -- true
tare weigh --env fake --layout 0c1p1i -- true
tare weigh --env fake --layout 2c1p1i -- true
tare weigh --env fake --network vth -- true
tare weigh --env fake --threads 2 -- true
tare weigh --env fake --threads 0 --mpi -- true
tare weigh --env fake --launcher image -- true
tare weigh --env fake --launcher srun --mpi -- true
tare weigh --env fake --profile -- true
tare weigh --env fake --turns --whole -- true
tare weigh --env fake --input nosuch -- true
tare weigh --env fake --input / -- true
tare weigh --env fake --env-var X -- true
tare weigh --env fake --env-var =1 -- true
tare weigh --env fake --prepare '"open' -- true
tare weigh --env fake --check '' -- true
tare weigh --env fake --metric x -- true
tare weigh --env fake --metric 'x=(' --unit s -- true
tare weigh --env fake --metric 'x=1' --unit s -- true
tare weigh --env fake --metric 'x=(1)' -- true
tare weigh --env fake --unit s -- true
tare weigh --env fake --higher-is-better -- true
tare weigh --env fake --variable n -- true
tare weigh --env fake --variable n=1 -- true {n}
tare weigh --env fake --variable n=1,2 -- true
tare run nosuch
tare run fake --blocks 0
tare run fake --undecided maybe
tare run fake --fail-if slow
tare run fake --budget x
tare run fake extra
tare run .
tare plan nosuch
tare show
tare show nosuch
tare show .
tare report nosuch
tare compare nosuch
tare show /dev/null
tare export nosuch -o figures.svg
tare export nosuch -o figures --format png
tare explain nosuch
tare explain nosuch --blocks 0
tare calibrate --estimator none
tare image
tare image nosuch
tare image import nosuch
tare image import . --name ../x
""".strip().splitlines()
CANNOT = """
tare image verify nosuch
tare image sbom nosuch
""".strip().splitlines()


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty current directory and state; whatever would measure fails the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TARE_STATE", str(tmp_path / "state"))

    def runs(*_: object) -> None:
        raise AssertionError("a wrong command line began to measure")

    monkeypatch.setattr(campaign, "_measure", runs)


def exit_code(line: str) -> int:
    _, *words = shlex.split(line)
    return ended(lambda: app(args=words, prog_name="tare", standalone_mode=False))


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize(
    ("line", "code"), [*((line, 2) for line in WRONG_INPUT), *((line, 3) for line in CANNOT)]
)
def test_a_wrong_command_line_ends_with_one_message(
    line: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(line) == code
    printed = capsys.readouterr()
    said = printed.err.strip()
    if said:
        assert printed.out == ""
        assert len(said.splitlines()) == 1, said
        assert said.startswith("tare: ")
    else:
        assert printed.out.startswith("Usage: "), "a group without a command shows its help"
    assert not re.search(r"Traceback|a fault of Tare's own|Error\b", said)


def test_at_least_sixty_wrong_command_lines_are_tried() -> None:
    assert len({*WRONG_INPUT, *CANNOT}) >= 60
