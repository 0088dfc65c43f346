# SPDX-License-Identifier: Apache-2.0
"""Whatever stands in the place of a stopwatch: an answer, or an error with words, in time; and nothing is left."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tare.errors import NodeError
from tare.measure import node_pipe
from tare.measure import stopwatch as module
from tare.measure.stopwatch import Command, Stopwatch, wait_all

READY = {"pid": 1, "processors": [0], "shm_byte": 4096, "monotonic_ns": 9}
DONE = {
    "start_ns": 1,
    "executed_ns": 1,
    "end_ns": 2,
    "error": None,
    "user_s": 0.0,
    "system_s": 0.0,
    "maximum_rss_byte": 1,
    "minor_faults": 0,
    "major_faults": 0,
    "voluntary_switches": 0,
    "involuntary_switches": 0,
    "exit_code": 0,
    "signal": None,
    "timed_out": False,
}
SAY_READY = f"echo 'READY {json.dumps(READY)}'; "


@pytest.fixture(autouse=True)
def short_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_pipe, "_END_LIMIT_S", 0.1)


@contextmanager
def speaking(script: str) -> Iterator[Stopwatch]:
    """A shell script in the place of the stopwatch; nothing of it may be left afterwards.

    What sleeps for ten minutes would be waited for beyond the time limit of a test.
    """
    with Stopwatch(["sh", "-c", script]) as stopwatch:
        session = stopwatch._pipe._process.pid
        yield stopwatch
    deadline = time.monotonic() + 5  # those killed beside the leader may need a moment to go
    while (left := session_members(session)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left == []


def session_members(session: int) -> list[str]:
    collected = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if entry.name.isdigit() and words[0] != "Z" and int(words[3]) == session:
            collected.append(entry.name)
    return collected


def refusal(script: str, ask: Callable[[Stopwatch], object]) -> NodeError:
    with pytest.raises(NodeError) as caught, speaking(script) as stopwatch:
        ask(stopwatch)
    return caught.value


def wait_ready(stopwatch: Stopwatch) -> None:
    stopwatch.wait_ready(1.0)


def wait_briefly(stopwatch: Stopwatch) -> None:
    stopwatch.wait_ready(0.2)


def probe_after_ready(stopwatch: Stopwatch) -> None:
    stopwatch.wait_ready(1.0)
    stopwatch.probe()


def probe_briefly(stopwatch: Stopwatch) -> None:
    stopwatch.wait_ready(0.2)
    stopwatch.probe()


def wait_done(stopwatch: Stopwatch) -> None:
    stopwatch.wait_ready(1.0)
    stopwatch.go()
    wait_all([stopwatch], 1.0)


class TestBrokenWays:
    def test_a_program_that_is_not_there_is_named(self) -> None:
        with pytest.raises(NodeError, match="way into the node is closed: no-such-program: No such file"):
            Stopwatch(["no-such-program"])

    def test_what_the_prefix_says_is_in_the_error(self) -> None:
        error = refusal("echo first >&2; echo container is gone >&2; exit 137", wait_ready)
        assert str(error) == "the way into the node broke (137): container is gone"
        assert error.excerpt == "first\ncontainer is gone"

    def test_a_silent_end_is_said(self) -> None:
        assert str(refusal("exit 0", wait_ready)) == "the way into the node broke (0): it said nothing"

    def test_an_end_that_closes_only_its_output_is_waited_for_shortly(self) -> None:
        error = refusal("echo stuck >&2; exec >&-; sleep 600", wait_ready)
        assert str(error) == "the way into the node broke (no exit code yet): stuck"

    def test_never_saying_ready_ends_within_the_limit_with_what_was_said_instead(self) -> None:
        error = refusal("echo waiting for the daemon >&2; sleep 600", wait_briefly)
        assert str(error) == "the stopwatch in the node did not say READY in time: waiting for the daemon"

    def test_half_a_line_is_no_answer(self) -> None:
        assert "did not say READY" in str(refusal("printf 'READY {'; sleep 600", wait_briefly))

    def test_a_flood_of_complaints_ends_too(self) -> None:
        error = refusal("exec >&-; exec yes >&2", wait_ready)
        assert str(error).endswith(": y")
        assert error.excerpt is not None
        assert len(error.excerpt) <= 2000

    def test_ending_before_the_command_ends_is_an_error(self) -> None:
        error = refusal(SAY_READY + "read word; echo killed by hand >&2; exit 9", wait_done)
        assert str(error) == "the way into the node broke (9): killed by hand"

    def test_speaking_to_one_that_ended_is_an_error_with_its_words(self) -> None:
        def speak_late(stopwatch: Stopwatch) -> None:
            stopwatch.wait_ready(1.0)
            stopwatch._pipe._process.wait(timeout=2)
            stopwatch.go()

        assert str(refusal(SAY_READY + "echo left >&2; exit 3", speak_late)).endswith("broke (3): left")


class TestNonsense:
    def test_something_else_than_ready_is_quoted(self) -> None:
        error = refusal("echo Welcome to this machine; sleep 600", wait_ready)
        assert "answered 'Welcome to this machine' where the stopwatch says READY" in str(error)

    def test_why_it_refuses_is_told_in_its_words(self) -> None:
        error = refusal("""echo 'ERROR {"message":"cannot enter /x"}'; sleep 600""", wait_ready)
        assert str(error) == "the stopwatch in the node says: cannot enter /x"

    @pytest.mark.parametrize(
        "said",
        [
            "ERROR",
            "ERROR {}",
            "READY",
            "READY {",
            "READY []",
            'READY {"pid": 1}',
            "READY \\0\\0",
            "READY 1e999",
            "READY " + "[" * 3000,
        ],
    )
    def test_ready_without_its_fields_is_refused(self, said: str) -> None:
        error = refusal(f"printf '{said}\\n'; sleep 600", wait_ready)
        assert any(words in str(error) for words in ("makes no sense", "answered '"))

    def test_one_that_does_not_read_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(node_pipe, "_SEND_LIMIT_S", 0.1)
        error = refusal(SAY_READY + "sleep 600", lambda stopwatch: stopwatch.become(["x" * 1_000_000]))
        assert str(error) == "the way into the node takes nothing more after 0.1 s"

    @pytest.mark.parametrize("said", ["PONG soon", "PONG -1", "PONG 1.5", "PONG ", "DONE {}"])
    def test_an_answer_that_is_no_clock_is_refused(self, said: str) -> None:
        error = refusal(SAY_READY + f"read word; echo '{said}'; sleep 600", probe_after_ready)
        assert any(words in str(error) for words in ("makes no sense", "where the stopwatch says PONG"))

    @pytest.mark.parametrize("missing", [*DONE, "everything"])
    def test_done_without_a_field_is_refused(self, missing: str) -> None:
        fields = {} if missing == "everything" else {name: DONE[name] for name in DONE if name != missing}
        error = refusal(SAY_READY + f"read word; echo 'DONE {json.dumps(fields)}'; sleep 600", wait_done)
        assert "makes no sense" in str(error)
        assert error.excerpt == json.dumps(fields)

    def test_a_whole_done_is_taken(self) -> None:
        with speaking(SAY_READY + f"read word; echo 'DONE {json.dumps(DONE)}'; sleep 600") as stopwatch:
            stopwatch.wait_ready(1.0)
            stopwatch.go()
            assert wait_all([stopwatch], 1.0) == [DONE]

    def test_a_flood_without_lines_is_cut_off(self) -> None:
        error = refusal("exec tr '\\0' x < /dev/zero", wait_ready)
        assert "floods" in str(error)
        assert error.excerpt == "x" * 400

    def test_a_flood_of_lines_is_cut_off(self) -> None:
        assert "answered 'y'" in str(refusal("exec yes", wait_ready))


class TestEnding:
    def test_one_that_ignores_its_end_is_killed_with_all_it_started(self) -> None:
        with speaking(f"trap '' TERM HUP INT; sleep 600 & sleep 600 & {SAY_READY} wait") as stopwatch:
            stopwatch.wait_ready(1.0)
            assert len(session_members(stopwatch._pipe._process.pid)) == 3

    def test_one_that_ends_by_itself_is_not_killed(self) -> None:
        with speaking(SAY_READY + "cat; exit 5") as stopwatch:
            stopwatch.wait_ready(1.0)
        assert stopwatch._pipe._process.returncode == 5

    def test_no_descriptor_is_left_open(self) -> None:
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - only their number is wanted
        for script in (SAY_READY, "exit 1", "sleep 600"):
            refusal(script, probe_briefly)
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - the same


class Ear:
    """Counts the lines of somebody else."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._stopwatch = stopwatch
        self.heard_of = 0

    def fileno(self) -> int:
        return self._stopwatch.fileno()

    def heard(self) -> None:
        self.heard_of += os.read(self.fileno(), 4096).count(b"\n")


class TestWaitAll:
    def script(self, after_s: float, end_ns: int) -> str:
        words = json.dumps({**DONE, "end_ns": end_ns})
        return SAY_READY + f"read word; sleep {after_s}; echo 'DONE {words}'; cat"

    def test_answers_come_in_the_order_of_the_instances_not_of_their_ends(self) -> None:
        with speaking(self.script(0.3, 11)) as slow, speaking(self.script(0, 22)) as quick:
            for stopwatch in (slow, quick):
                stopwatch.wait_ready(1.0)
                stopwatch.go()
            assert [words["end_ns"] for words in wait_all([slow, quick], 2.0)] == [11, 22]

    def test_a_line_that_comes_in_pieces_is_put_together(self) -> None:
        words = json.dumps(DONE)
        pieces = f"printf 'DONE {words[:9]}'; sleep 0.2; printf '{words[9:]}\\n'"
        with speaking(SAY_READY + f"read word; {pieces}; cat") as stopwatch:
            stopwatch.wait_ready(1.0)
            stopwatch.go()
            assert wait_all([stopwatch], 2.0) == [DONE]

    def test_it_ticks_while_it_waits_and_sleeps_in_between(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "_TICK_S", 0.1)
        ticks: list[float] = []
        with speaking(self.script(0.55, 1)) as stopwatch:
            stopwatch.wait_ready(1.0)
            stopwatch.go()
            used_s = time.process_time()
            wait_all([stopwatch], 3.0, lambda: ticks.append(time.monotonic()))
            used_s = time.process_time() - used_s
        assert 4 <= len(ticks) <= 8
        assert used_s < 0.1

    def test_others_are_heard_while_it_waits_and_bring_no_tick(self) -> None:
        ticks: list[float] = []
        chatty = SAY_READY + "for i in 1 2 3 4 5; do sleep 0.05; echo more; done; cat"
        with speaking(self.script(0.6, 1)) as stopwatch, speaking(chatty) as other:
            for item in (stopwatch, other):
                item.wait_ready(1.0)
            beside = Ear(other)
            stopwatch.go()
            wait_all([stopwatch], 3.0, lambda: ticks.append(time.monotonic()), [beside])
        assert beside.heard_of == 5
        assert len(ticks) == 1, "at its end"

    def test_the_hosts_span_reaches_from_go_to_done(self) -> None:
        with speaking(self.script(0.3, 1)) as stopwatch:
            stopwatch.wait_ready(1.0)
            time.sleep(0.1)
            begun = time.monotonic()
            stopwatch.go()
            wait_all([stopwatch], 2.0)
            whole_s = time.monotonic() - begun
        assert 0.3 <= stopwatch.host_span_s <= whole_s

    def test_a_command_that_outlives_the_limit_is_an_error_within_it(self) -> None:
        def wait_too_long(stopwatch: Stopwatch) -> None:
            stopwatch.wait_ready(1.0)
            stopwatch.go()
            wait_all([stopwatch], 0.3)

        assert "no end of the command after" in str(refusal(self.script(600, 1), wait_too_long))

    def test_one_broken_instance_ends_the_wait_for_all(self) -> None:
        def wait_with_another(broken: Stopwatch) -> None:
            with speaking(self.script(600, 1)) as well:
                for stopwatch in (well, broken):
                    stopwatch.wait_ready(1.0)
                    stopwatch.go()
                wait_all([well, broken], 3.0)

        assert "broke (4)" in str(refusal(SAY_READY + "read word; exit 4", wait_with_another))


class TestRealStopwatch:
    def command(self, folder: Path, *argv: str, limit_s: float = 10.0) -> list[str]:
        variables = {"ODD": "a=b c\nd", "PATH": "/usr/bin:/bin"}
        command = Command(argv=argv, directory=str(folder), variables=variables, limit_s=limit_s)
        return command.options(str(folder))

    def test_a_command_runs_with_its_variables_and_its_output_is_kept(
        self, programs: Path, tmp_path: Path
    ) -> None:
        options = self.command(tmp_path, "sh", "-c", 'printf "%s" "$ODD"; pwd >&2; exit 3')
        with Stopwatch([str(programs / "stopwatch"), *options]) as stopwatch:
            stopwatch.wait_ready(5.0)
            probes = stopwatch.probe()
            stopwatch.go()
            (said,) = wait_all([stopwatch], 5.0)
        assert len(probes) == 5
        assert all(probe.asked_ns < probe.answered_ns for probe in probes)
        assert (said["exit_code"], said["error"]) == (3, None)
        assert (tmp_path / "stdout").read_text() == "a=b c\nd"
        assert (tmp_path / "stderr").read_text() == f"{tmp_path}\n"

    def test_the_command_goes_when_its_stopwatch_is_closed(self, programs: Path, tmp_path: Path) -> None:
        options = self.command(tmp_path, "sh", "-c", "echo $$; exec sleep 600")
        with Stopwatch([str(programs / "stopwatch"), *options]) as stopwatch:
            stopwatch.wait_ready(5.0)
            stopwatch.go()
            deadline = time.monotonic() + 5
            while not (pid := (tmp_path / "stdout").read_text()) and time.monotonic() < deadline:
                time.sleep(0.01)
            os.kill(int(pid), 0)
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)

    def test_its_own_limit_ends_the_command_before_the_runners_does(
        self, programs: Path, tmp_path: Path
    ) -> None:
        options = self.command(tmp_path, "sleep", "60", limit_s=0.2)
        with Stopwatch([str(programs / "stopwatch"), *options]) as stopwatch:
            stopwatch.wait_ready(5.0)
            stopwatch.go()
            (said,) = wait_all([stopwatch], 5.0)
        assert said["timed_out"] is True
