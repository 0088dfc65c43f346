# SPDX-License-Identifier: Apache-2.0
"""A shell completes tare's words; the shell's side is the library's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tare.commands.completion import SHELLS, VARIABLE, environments, images, presets, run_completion
from tare.errors import InputError


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_gets_a_script_that_asks_tare(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_completion(shell) == 0
    script = capsys.readouterr().out
    assert VARIABLE in script
    assert f"complete_{shell}" in script


def test_another_shell_is_refused_with_those_that_work() -> None:
    with pytest.raises(InputError, match="bash, zsh, fish"):
        run_completion("tcsh")


def test_names_complete_by_their_beginnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARE_STATE", str(tmp_path / "none"))
    assert {"docker"} <= set(environments("do"))
    assert "podman" not in environments("do")
    assert "quick" in presets("q")
    assert images("") == [] or os.geteuid() != 0


@pytest.mark.parametrize(
    ("line", "word"), [("tare we", "weigh"), ("tare weigh --env bub", "bubblewrap"), ("tare image r", "rm")]
)
def test_a_line_typed_so_far_is_completed(line: str, word: str) -> None:
    done = subprocess.run(
        [Path(sys.executable).parent / "tare"],
        env={
            **os.environ,
            VARIABLE: "complete_bash",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - 1),
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert word in done.stdout.split()
    assert done.stderr == ""
