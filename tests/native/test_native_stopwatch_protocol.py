# SPDX-License-Identifier: Apache-2.0
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.native.conversation import Conversation, conversation, effort, eventually


def raw_ns() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def pong_ns(talk: Conversation) -> int:
    talk.send("PING")
    word, _, number = talk.line().partition(" ")
    assert word == "PONG"
    return int(number)


def test_ready_says_what_the_node_looks_like(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        seen = talk.expect("READY")
        assert seen["pid"] == talk.process.pid
    assert set(seen["processors"]) == os.sched_getaffinity(0)
    assert seen["online_processors"] == os.sysconf("SC_NPROCESSORS_ONLN")
    assert seen["hostname"] == os.uname().nodename
    assert seen["kernel_release"] == os.uname().release
    assert seen["uid"] == os.getuid()
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert seen["memory_total_byte"] == pytest.approx(pages, rel=0.01)


def test_ready_says_what_a_system_call_and_a_reading_of_the_clock_cost(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        seen = talk.expect("READY")
    assert 1 < seen["system_call_ns"] < 1e6
    assert 1 < seen["clock_read_ns"] < 1e6


def test_ready_says_how_the_kernel_gives_huge_pages_and_counts_time(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        seen = talk.expect("READY")
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    words = setting.read_text().split() if setting.exists() else []
    chosen = next((word.strip("[]") for word in words if word.startswith("[")), None)
    refused = "THP_enabled:\t0" in Path("/proc/self/status").read_text()
    assert seen["transparent_huge_pages"] == ("off" if refused else chosen)
    source = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    assert seen["clock_source"] == (source.read_text().strip() if source.exists() else None)


def test_ready_names_the_inherited_variables_without_their_values(programs: Path) -> None:
    with conversation(["env", "-i", "SECRET=abc", "A=", programs / "stopwatch", "--", "true"]) as talk:
        line = talk.line()
    assert json.loads(line.removeprefix("READY "))["variables"] == ["A", "SECRET"]
    assert "abc" not in line


def test_ready_says_the_size_of_shared_memory_only_where_it_is_a_mount(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        seen = talk.expect("READY")
    shm = os.statvfs("/dev/shm")
    mounted = Path("/dev/shm").stat().st_dev != Path("/dev").stat().st_dev
    assert seen["shm_byte"] == (shm.f_blocks * shm.f_frsize if mounted else None)


def test_ready_says_the_stopwatchs_own_processors_not_the_commands(programs: Path) -> None:
    chosen = min(os.sched_getaffinity(0))
    argv = [
        "taskset",
        "--cpu-list",
        str(chosen),
        programs / "stopwatch",
        "--processors",
        "8000",
        "--",
        "true",
    ]
    with conversation(argv) as talk:
        assert talk.expect("READY")["processors"] == [chosen]


def test_ping_is_answered_before_during_and_after_the_command(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "sleep", "0.3"]) as talk:
        talk.expect("READY")
        asked = raw_ns()
        before = pong_ns(talk)
        talk.send("GO")
        during = pong_ns(talk)
        done = talk.expect("DONE")
        after = pong_ns(talk)
        assert asked <= before <= done["start_ns"] <= during <= done["end_ns"] <= after <= raw_ns()


CLOCKS = {
    "monotonic_raw_ns": time.CLOCK_MONOTONIC_RAW,
    "monotonic_ns": time.CLOCK_MONOTONIC,
    "realtime_ns": time.CLOCK_REALTIME,
}


def test_all_three_clocks_are_told_before_during_and_after_the_command(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "sleep", "0.2"]) as talk:
        talk.expect("READY")
        last = {name: time.clock_gettime_ns(clock) for name, clock in CLOCKS.items()}
        for word in (None, "GO", "DONE"):
            if word == "GO":
                talk.send("GO")
            elif word == "DONE":
                talk.expect("DONE")
            talk.send("CLOCKS")
            document = talk.expect("CLOCKS")
            assert document.keys() == CLOCKS.keys()
            assert all(last[name] <= document[name] <= time.clock_gettime_ns(CLOCKS[name]) for name in CLOCKS)
            last = document


def test_steal_is_that_of_the_kernels_own_statistics(programs: Path) -> None:
    def stolen() -> int:
        return int(Path("/proc/stat").read_text(encoding="utf-8").split()[8])

    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        before = stolen()
        talk.send("STEAL")
        document = talk.expect("STEAL")
    assert before <= document["ticks"] <= stolen()
    assert document["ticks_per_s"] == os.sysconf("SC_CLK_TCK")


def test_the_stopwatch_times_within_the_hosts_own_stamps(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "sleep", "0.2"]) as talk:
        talk.expect("READY")
        sent_ns = raw_ns()
        done = talk.run()
        received_ns = raw_ns()
    assert sent_ns <= done["start_ns"] <= done["end_ns"] <= received_ns
    assert done["wall_s"] == (done["end_ns"] - done["start_ns"]) / 1e9
    assert done["wall_s"] >= 0.2


def test_go_with_a_time_starts_the_command_then_and_answers_until_then(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        moment_ns = raw_ns() + 200_000_000
        talk.send(f"GO {moment_ns}")
        assert pong_ns(talk) < moment_ns
        done = talk.expect("DONE")
    assert moment_ns <= done["start_ns"] <= done["executed_ns"] <= done["end_ns"]


def test_a_time_that_is_over_is_now(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        sent_ns = raw_ns()
        talk.send("GO -5", "PING")
        assert talk.line().startswith("PONG ")
        assert sent_ns <= talk.expect("DONE")["start_ns"]


@pytest.mark.parametrize("last", ["QUIT", "GO", None])
def test_who_ends_it_before_the_time_has_started_nothing(
    programs: Path, tmp_path: Path, last: str | None
) -> None:
    with conversation([programs / "stopwatch", "--", "touch", tmp_path / "begun"]) as talk:
        talk.expect("READY")
        talk.send(f"GO {raw_ns() + 300_000_000_000}", *([last] if last else []))
        if last is None:
            talk.stdin.close()
        assert talk.exit_code() == (2 if last == "GO" else 0)
    assert not (tmp_path / "begun").exists()


def test_a_program_begins_when_it_has_been_loaded_and_not_before(programs: Path, tmp_path: Path) -> None:
    """Whoever holds a lease on a file holds up its execution (fcntl(2))."""
    shutil.copy("/bin/true", tmp_path / "held")
    descriptor = os.open(tmp_path / "held", os.O_RDONLY | os.O_CLOEXEC)
    with conversation([programs / "stopwatch", "--", tmp_path / "held"]) as talk:
        talk.expect("READY")
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # instead of SIGIO, which would end the tests
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        talk.send("GO")
        eventually(lambda: fcntl.fcntl(descriptor, fcntl.F_GETLEASE) != fcntl.F_WRLCK, "somebody asks for it")
        held_ns = raw_ns()
        os.close(descriptor)
        done = talk.expect("DONE")
    assert done["start_ns"] < held_ns <= done["executed_ns"] <= done["end_ns"]


def test_what_cannot_be_executed_never_began(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "/no/such/program"]) as talk:
        talk.expect("READY")
        assert talk.run()["executed_ns"] is None


@pytest.mark.parametrize("last", ["QUIT", None])
def test_quit_and_the_end_of_the_input_end_it_well(programs: Path, last: str | None) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        assert talk.run()["exit_code"] == 0
        if last:
            talk.send(last)
        else:
            talk.stdin.close()
        assert talk.exit_code() == 0


@pytest.mark.parametrize("size", ["0", "-1", "", "3 3", "4194305", "99999999999999999999"])
def test_a_next_of_no_possible_size_is_refused(programs: Path, size: str) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        talk.send(f"NEXT {size}")
        assert "NEXT needs a size" in talk.expect("ERROR")["message"]


def test_a_next_while_the_command_runs_is_refused_and_ends_it(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "sleep", "300"]) as talk:
        talk.expect("READY")
        talk.send("GO", "NEXT 5")
        assert "a command that has ended" in talk.expect("ERROR")["message"]
        assert talk.exit_code() == 2


@pytest.mark.parametrize(
    "line",
    ["", "go", "GO ", "PING\r", "STOP", "GO GO", "GO 1.5", "GO 1 2", f"GO {1 << 63}", "\u00e9", "x" * 5000],
)
def test_an_unknown_line_is_an_error(programs: Path, line: str) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        talk.send(line)
        assert talk.expect("ERROR")["message"]
        assert talk.exit_code() == 2


def test_an_endless_line_is_an_error(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        talk.stdin.write(b"x" * 5000)
        assert "longer than 4096 byte" in talk.expect("ERROR")["message"]
        assert talk.exit_code() == 2


def test_a_second_go_is_an_error(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        talk.run()
        talk.send("GO")
        assert "GO was given before" in talk.expect("ERROR")["message"]
        assert talk.exit_code() == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--colour", "red", "--", "true"], "unknown option '--colour'"),
        (["--processors", "1-0", "--", "true"], "--processors: '1-0'"),
        ([], "no command"),
        (["--"], "no command"),
    ],
)
def test_a_wrong_command_line_is_said_on_standard_error(
    programs: Path, options: list[str], said: str
) -> None:
    done = subprocess.run(
        [programs / "stopwatch", *options], capture_output=True, text=True, check=False, timeout=20
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("stopwatch: ")
    assert said in done.stderr


@pytest.mark.parametrize("option", ["--directory", "--stdout", "--stderr"])
def test_a_place_that_does_not_exist_is_an_error_at_once(programs: Path, tmp_path: Path, option: str) -> None:
    place = f"{tmp_path}/none/such"
    with conversation([programs / "stopwatch", option, place, "--", "true"]) as talk:
        message = talk.expect("ERROR")["message"]
        assert place in message
        assert "No such file or directory" in message
        assert talk.exit_code() == 2


@pytest.mark.parametrize("options", [[], ["--limit-s", "60"]])
def test_it_costs_nothing_while_it_waits(programs: Path, options: list[str]) -> None:
    with conversation([programs / "stopwatch", *options, "--", "sleep", "60"]) as talk:
        talk.expect("READY")
        talk.send("GO")
        pong_ns(talk)
        # It answers before it sleeps again: let it.
        eventually(lambda: "sleeping" in Path(f"/proc/{talk.process.pid}/status").read_text(), "it sleeps")
        ticks, sleeps = effort(talk.process.pid)
        time.sleep(0.5)
        ticks_after, sleeps_after = effort(talk.process.pid)
    assert ticks_after - ticks <= 1
    assert sleeps_after - sleeps <= 1


WORDS = st.sampled_from(
    [
        b"PING",
        b"CLOCKS",
        b"STEAL",
        b"QUALITY",
        b"GO",
        b"GO 9",
        b"GO 9999999999999999",
        b"TURN 1",
        b"END",
        b"QUIT",
        b"READY",
        b"DONE {}",
        b"NEXT 9",
    ]
)


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(st.one_of(WORDS, st.binary(max_size=80)), max_size=8), last=st.binary(max_size=80))
def test_no_input_makes_it_hang_or_say_nonsense(programs: Path, lines: list[bytes], last: bytes) -> None:
    done = subprocess.run(
        [programs / "stopwatch", "--", "sleep", "300"],
        input=b"".join(line + b"\n" for line in lines) + last,
        capture_output=True,
        check=False,
        timeout=10,
    )
    assert done.returncode in {0, 2, 127}  # what NEXT announced is no program
    for line in done.stdout.decode().splitlines():
        word, _, rest = line.partition(" ")
        assert word in {"READY", "PONG", "CLOCKS", "STEAL", "QUALITY", "DONE", "ERROR"}
        assert json.loads(rest) is not None
    assert (b"\nERROR " in done.stdout) == (done.returncode == 2)


def test_the_quality_of_the_clocks_is_told_within_a_second(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        begun_ns = raw_ns()
        talk.send("QUALITY")
        document = talk.expect("QUALITY")
        assert raw_ns() - begun_ns < 1_000_000_000  # 0.26 s by its own limits, on a busy machine
    assert [clock["name"] for clock in document["clocks"]] == [
        "CLOCK_MONOTONIC_RAW",
        "CLOCK_MONOTONIC",
        "CLOCK_REALTIME",
    ]
    for clock in document["clocks"]:
        assert clock["readings"] > 0
        assert clock["least_step_ns"] >= 1
    assert bool(document["exchanges"]) == (len(os.sched_getaffinity(0)) > 1)


def test_asking_for_the_quality_of_the_clocks_leaves_the_command_as_it_is(programs: Path) -> None:
    with conversation([programs / "stopwatch", "--", "true"]) as talk:
        talk.expect("READY")
        talk.send("QUALITY")
        talk.expect("QUALITY")
        talk.send("GO")
        assert talk.expect("DONE")["exit_code"] == 0
