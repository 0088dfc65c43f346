# SPDX-License-Identifier: Apache-2.0
"""Whatever others wrote, the terminal gets text; whatever becomes of the output, the user gets words."""

import ast
import io
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
from rich.table import Table
from rich.text import Text
from tests.conftest import REPOSITORY

from tare import cli
from tare.commands.audience import Progress
from tare.commands.console import PlainConsole
from tare.commands.terminal import Door, doors
from tare.drawing.table import figures_table

SOURCE = REPOSITORY / "src" / "tare"
EVIL = "\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp.exe\u200b\r[red]x[/red]:smile:"
SHOWN = r"\x1b]0;title\x07\x1b[2J\x9b31m\u202egnp.exe\u200b\x0d[red]x[/red]:smile:"
PAST_THE_DOOR = re.compile(r"sys\.__std|\.buffer\b|os\.write\([12],|\becho\(|import logging|/dev/std")
NO_TERMINAL = {"environments/fake_clock.py", "measure/guardian.py"}
"""Programs of their own, which have no terminal."""


def sources() -> Iterator[tuple[str, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield str(path.relative_to(SOURCE)), path.read_text()


def calls(text: str, word: str) -> Iterator[ast.Call]:
    """All in a source text that has this word; most texts need not be parsed to see that they lack it."""
    if word in text:
        yield from (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


def called(text: str, word: str) -> set[str]:
    return {ast.unparse(node.func) for node in calls(text, word)}


def test_there_is_no_other_way_to_the_terminal_than_the_door() -> None:
    past = {name for name, text in sources() if PAST_THE_DOOR.search(text)}
    assert past - NO_TERMINAL == set()
    assert {name for name, text in sources() if "Console" in called(text, "Console")} == set()
    on_purpose = {name for name, text in sources() if "commands.terminal import own" in text}
    assert on_purpose == {"commands/audience.py", "commands/console.py"}


def test_no_program_that_is_started_inherits_the_terminal() -> None:
    for name, text in sources():
        if name in NO_TERMINAL:
            continue
        for node in calls(text, "subprocess"):
            if ast.unparse(node.func) in {"subprocess.run", "subprocess.Popen"}:
                given = {keyword.arg for keyword in node.keywords}
                assert "capture_output" in given or {"stdout", "stderr"} <= given or None in given, name


def main(argv: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["tare", *argv])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize(
    "argv",
    [
        ["show", EVIL],
        ["run", EVIL],
        ["run", "--budget", EVIL, "smoke"],
        [EVIL],
        ["weigh", "--env", EVIL, "--", "true"],
        ["show", "--treatment", EVIL, "x"],
        ["image", "import", EVIL],
        ["image", "verify", EVIL],
        ["plan", EVIL],
        ["explain", EVIL],
    ],
)
@pytest.mark.usefixtures("state")
def test_what_a_user_was_given_to_type_is_shown_in_every_error(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv, monkeypatch) in {2, 3}
    said = capsys.readouterr().err
    assert r"\x1b" in said
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u200b]", said)


def test_on_a_terminal_colours_come_from_tare_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    behind = Terminal()
    monkeypatch.setattr(sys, "stdout", behind)
    with doors():
        console = PlainConsole()
        console.print(Text(EVIL, style="red"))
        table = Table()
        table.add_column("one")
        table.add_row(EVIL)
        console.print(table)
        print(EVIL)  # noqa: T201 - as a command does
    said = behind.getvalue()
    assert "\x1b[31m" in said
    bare = re.sub(r"\x1b\[[0-9;]*m", "", said)
    assert "\x1b" not in bare
    for line in (bare.splitlines()[0], bare.splitlines()[-1]):
        assert line.startswith(r"\x1b]0;title")
        assert line.endswith("[red]x[/red]:smile:")
    assert all("\u202e" not in line and "\r" not in line for line in bare.splitlines())


def test_a_line_that_renews_itself_shows_names_and_still_erases_itself() -> None:
    behind = Terminal()
    door = Door(behind, optional=True)
    progress = Progress(as_text(door))
    progress.says(EVIL)
    assert behind.getvalue() == f"\r\x1b[K{SHOWN}\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def as_text(door: Door) -> TextIO:
    return door  # type: ignore[return-value]


def tare(*argv: str, redirect: str, state: Path) -> subprocess.CompletedProcess[str]:
    """In a shell, which closes what it is told to."""
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirect}', "sh", sys.executable, "-m", "tare", *argv],
        env={**os.environ, "TARE_STATE": str(state), "PYTHONPATH": str(REPOSITORY / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("redirect", "code", "words"),
    [
        ("> /dev/full", 3, "tare: the output cannot be written: No space left on device"),
        (">&-", 3, "tare: the output cannot be written: it is closed"),
        ("2>&-", 0, ""),
        ("2> /dev/full", 0, ""),
        ("<&-", 0, ""),
    ],
)
def test_an_output_that_cannot_be_written_is_said_and_what_nobody_can_see_is_not(
    redirect: str, code: int, words: str, state: Path
) -> None:
    done = tare("image", "list", "--json", redirect=redirect, state=state)
    assert (done.returncode, done.stderr.splitlines()[:1]) == (
        code,
        [f"{words}; send it where there is room for it"] if words else [],
    )


def test_a_reader_that_has_gone_ends_a_command_without_words(state: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "tare", "image", "list", "--json"],
        env={**os.environ, "TARE_STATE": str(state), "PYTHONPATH": str(REPOSITORY / "src")},
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_what_nobody_foresaw_is_one_line_with_the_way_to_its_traceback(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state.mkdir()

    def broken(_: bool) -> int:
        raise LookupError(f"{EVIL}\nand more")

    monkeypatch.setattr("tare.commands.clean.run_clean", broken)
    assert main(["clean"], monkeypatch) == 3
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith(r"tare: a fault of Tare's own: LookupError: \x1b]0;")
    (kept,) = state.glob("tare-fault-*.txt")
    assert said.endswith(f"Please report it with its traceback, {kept}\n")
    assert "Traceback (most recent call last)" in kept.read_text()
    assert "\x1b" not in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_fault_is_told_even_where_nothing_can_be_kept(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: bool) -> int:
        raise RecursionError

    monkeypatch.setattr("tare.commands.clean.run_clean", broken)
    monkeypatch.setattr("tare.commands.outermost._folder", lambda: state / "missing")
    assert main(["clean"], monkeypatch) == 3
    assert "its traceback cannot be kept: No such file or directory" in capsys.readouterr().err


def test_a_fault_in_a_thread_is_told_alike(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state.mkdir()

    def broken(_: bool) -> int:
        thread = threading.Thread(target={}.__getitem__, args=(EVIL,))
        thread.start()
        thread.join()
        return 0

    monkeypatch.setattr("tare.commands.clean.run_clean", broken)
    assert main(["clean"], monkeypatch) == 0
    said = capsys.readouterr().err
    assert said.startswith("tare: a fault of Tare's own: KeyError: ")
    assert said.count("\n") == 1
    assert len(list(state.iterdir())) == 1


def test_an_interrupt_ends_with_its_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: bool) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("tare.commands.clean.run_clean", interrupted)
    assert main(["clean"], monkeypatch) == 130


def test_a_narrow_terminal_breaks_text_between_words_and_loses_no_figure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    console = PlainConsole()
    console.print(Text("several words " * 6))
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40
    figures = ("+25.06 %", "24.90 to 25.19 %", "12.34 ms", "10 of 10")
    console.print(figures_table(("environment", *"abcd"), [("slow-system-call-filter", *figures)]))
    printed = capsys.readouterr().out
    assert all(figure in printed for figure in figures)
    assert re.search(r"^ slow-system- .*\n call-filter ", printed, re.MULTILINE), (
        "a name is broken at its hyphens"
    )
