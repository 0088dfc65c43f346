# SPDX-License-Identifier: Apache-2.0
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tare.errors import ImageError
from tare.image.build import build_image
from tare.image.tool import run_tool, together
from tests.image.stand_ins import quiet, sources, write_program


def test_steps_run_at_the_same_time_and_answer_in_their_order() -> None:
    both = threading.Barrier(2)  # breaks unless both steps wait at it

    def step(answer: str) -> str:
        both.wait(20)
        return answer

    assert together(lambda: step("first"), lambda: step("second")) == ["first", "second"]


def test_the_first_failure_ends_the_tool_of_the_other_step(tmp_path: Path) -> None:
    started = tmp_path / "started"

    def fails() -> None:
        while not started.exists():
            threading.Event().wait(0.01)
        raise ImageError("no network")

    def waits() -> None:
        run_tool(["sh", "-c", f"touch {started}; exec sleep 63.0625"], limit_s=30)

    with pytest.raises(ImageError, match="no network"):
        together(waits, fails)


def test_what_a_tool_started_ends_with_it(tmp_path: Path) -> None:
    """It has the pipe that the tool's lines are read from, and would be waited for."""
    with pytest.raises(ImageError, match="did not end within"):
        run_tool(["sh", "-c", f"sleep 65.0625; touch {tmp_path}/ended"], limit_s=0.1)
    started = threading.Event()

    def fails() -> None:
        started.wait(20)
        raise ImageError("no network")

    def waits() -> None:
        run_tool(["sh", "-c", "echo; sleep 660.0625; echo"], limit_s=660, on_line=lambda _: started.set())

    with pytest.raises(ImageError, match="no network"):
        together(waits, fails)


def test_a_tool_is_called_late_when_the_watchdog_is_slower_than_the_end_it_causes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def kill_and_linger(process: subprocess.Popen[str]) -> None:
        process.kill()
        process.wait(20)
        time.sleep(0.2)

    monkeypatch.setattr("tare.image.tool.kill_group", kill_and_linger)
    with pytest.raises(ImageError, match="did not end within"):
        run_tool(["sleep", "66.0625"], limit_s=0.1)


def test_a_step_that_goes_on_after_a_failure_starts_no_tool_that_lasts(tmp_path: Path) -> None:
    goes_on = threading.Event()

    def fails() -> None:
        goes_on.set()
        raise ImageError("no space")

    def begins_late() -> None:
        goes_on.wait(20)
        for _ in range(3):
            with pytest.raises(ImageError, match="sleep"):
                run_tool(["sleep", "64.0625"], limit_s=30)
        (tmp_path / "ended").touch()

    with pytest.raises(ImageError, match="no space"):
        together(fails, begins_late)
    assert (tmp_path / "ended").exists()


def test_a_tool_elsewhere_is_not_ended_by_steps_that_failed() -> None:
    with pytest.raises(ZeroDivisionError):
        together(lambda: 1 // 0)
    run_tool(["true"], limit_s=10)


MEETING = """#!/bin/sh
for target; do :; done
me=$(basename "$(dirname "$target")")
touch "$SEEN/$me"
for _ in $(seq 500); do
    [ "$(ls -A "$SEEN" | wc -l)" -ge 2 ] && exit 1
    sleep 0.02
done
exit 2
"""


@pytest.mark.root
def test_base_and_builder_are_made_at_the_same_time(tmp_path: Path, stand_ins: Path) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    write_program(stand_ins / "mmdebstrap", MEETING.replace("$SEEN", str(seen)))
    with pytest.raises(ImageError, match="mmdebstrap failed with exit code 1"):
        build_image(progress=quiet, source=sources(tmp_path))
    assert {path.name for path in seen.iterdir()} == {".new-base", ".new-builder"}


def test_a_compilers_error_is_shown_also_when_much_was_printed_after_it() -> None:
    script = "echo 'a.cpp:1:2: error: no such thing'; for line in $(seq 50); do echo more $line; done; exit 1"
    with pytest.raises(ImageError) as caught:
        run_tool(["sh", "-c", script], limit_s=30)
    assert "no such thing\n  more 36\n" in str(caught.value)
    assert str(caught.value).endswith("more 50")
