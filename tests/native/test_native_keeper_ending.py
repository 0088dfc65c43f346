# SPDX-License-Identifier: Apache-2.0
"""How a keeper ends: with its guest, which it says why of, or when told to. It always takes the guest along."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.native import frames
from tests.native.conversation import LIMIT_S, effort, eventually, process_lives
from tests.native.frames import Frame, How, Type
from tests.native.keeping import Keeping

PYTHON = Path(sys.executable).name
MINE = 0xEEEEEEEE
"""Stands for the number of the stream that asks for it, see fake_guest.py."""
SUM_AT = 12


@pytest.fixture
def keeping(programs: Path, tmp_path: Path) -> Iterator[Keeping]:
    made = Keeping(programs, tmp_path)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def guest(keeping: Keeping) -> Keeping:
    keeping.begin()
    keeping.ready()
    return keeping


def check_gone(keeping: Keeping, vmm: int, reason: str) -> None:
    assert keeping.end() == (1, f"keeper: the guest is gone: {reason}")
    assert not process_lives(vmm)
    assert not keeping.socket.exists()


def test_when_the_vmm_is_killed_everybody_hears_of_it(guest: Keeping) -> None:
    vmm = guest.vmm
    with guest.entered("wait") as client, guest.entered("wait") as other:
        guest.wait_for("EXECUTE", 2)
        os.kill(vmm, signal.SIGKILL)
        for waiting in (client, other):
            _, complaint = waiting.communicate(timeout=LIMIT_S)
            assert complaint.decode() == f"enter: the guest is gone: {PYTHON} ended by signal 9\n"
            assert waiting.returncode == 125
            assert guest.complained(), "the reason comes before anybody looks for it"
    check_gone(guest, vmm, f"{PYTHON} ended by signal 9")


def test_when_the_vmm_ends_by_itself_its_code_is_told(guest: Keeping) -> None:
    vmm = guest.vmm
    done = guest.run("die", "4")
    assert done.returncode == 125
    check_gone(guest, vmm, f"{PYTHON} ended with exit code 4")


def test_a_vmm_that_closes_its_channel_is_ended(guest: Keeping) -> None:
    vmm = guest.vmm
    assert guest.run("close").returncode == 125
    check_gone(guest, vmm, "the channel closed")


def encoded(kind: Type, stream: int, payload: bytes = b"") -> bytes:
    return frames.encode(Frame(kind, stream, payload))


def damaged(at: int) -> bytes:
    content = bytearray(encoded(Type.OUTPUT, 1, b"content"))
    content[at] ^= 0x10
    return bytes(content)


HOSTILE = {
    "rubbish": (b"rubbish, and more of it than a header", "what came is no frame"),
    "damaged length": (damaged(11), "a frame is longer than any may be"),
    "damaged sum": (damaged(SUM_AT), "a frame was damaged on its way"),
    "damaged payload": (damaged(18), "a frame was damaged on its way"),
    "unknown type": (damaged(2)[:2] + b"\x63" + damaged(2)[3:], "what came is no frame"),
    "unknown stream": (encoded(Type.OUTPUT, 77, b"x"), "the guest speaks of a command that does not run"),
    "stream 0": (encoded(Type.EXIT, 0, b""), "the guest speaks of a command that does not run"),
    "a host's frame": (encoded(Type.INPUT, MINE, b"x"), "the guest sent what only a host may send"),
    "a late hello": (encoded(Type.HELLO, MINE), "the guest sent what only a host may send"),
    "an exit of nonsense": (encoded(Type.EXIT, MINE, b"\1\0\0\0"), "a word is cut short"),
    "an exit of another kind": (
        encoded(Type.EXIT, MINE, frames.words([b"\7", b"\0\0\0\0", b""])),
        "an end of a command makes no sense",
    ),
    "two exits": (
        encoded(Type.EXIT, 1, frames.exit_payload(How.CODE, 0)) * 2,
        "the guest speaks of a command that does not run",
    ),
    "too much credit": (
        encoded(Type.CREDIT, MINE, frames.credit_payload(0, 1 << 30)),
        "a flow was given more credit than its window",
    ),
    "credit for an output": (
        encoded(Type.CREDIT, MINE, frames.credit_payload(1, 1)),
        "the guest gave credit for a flow of its own",
    ),
    "bytes after their end": (
        encoded(Type.OUTPUT, 1) + encoded(Type.OUTPUT, 1, b"x"),
        "bytes came after the end of their flow",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_guest_that_breaks_the_rules_is_ended(guest: Keeping, name: str) -> None:
    content, reason = HOSTILE[name]
    vmm = guest.vmm
    with guest.entered("raw", content.hex()) as client:
        client.wait(LIMIT_S)
    check_gone(guest, vmm, reason)


def test_a_guest_that_ignores_the_window_is_ended(guest: Keeping) -> None:
    """Nobody reads the output, so that no credit is given."""
    vmm = guest.vmm
    reader, writer = os.pipe()
    try:
        argv = guest.enter("greedy", str(1 << 20))
        done = subprocess.run(argv, stdout=writer, check=False, timeout=LIMIT_S)
        assert done.returncode == 125
    finally:
        os.close(reader)
        os.close(writer)
    check_gone(guest, vmm, "more bytes came than the window allows")


def test_a_guest_that_dies_within_a_frame_says_both(keeping: Keeping) -> None:
    keeping.begin("silence", vmm=["sh", "-c", "printf abc >&9; exit 3"])
    code, last = keeping.end()
    assert code == 1
    assert last == (
        "keeper: the guest is gone before it was ready: the channel closed within a frame; sh ended with exit code 3"
    )


@pytest.mark.parametrize(
    ("opening", "reason"),
    [
        (
            frames.encode(frames.hello(b"2")).hex(),
            "the guest's init speaks version '2' of the protocol, not 1; make ",
        ),
        (encoded(Type.HELLO, 0, b"").hex(), "the guest's hello makes no sense"),
        (frames.encode(frames.hello(pace=b"fast")).hex(), "the guest's hello makes no sense"),
        (
            encoded(Type.HELLO, 1, frames.hello().payload).hex(),
            "the guest speaks of a command that does not run",
        ),
        (encoded(Type.CREDIT, 0, frames.credit_payload(0, 1)).hex(), "the guest speaks of a command"),
        (b"SeaBIOS (version 1.16.2)".hex(), "what came is no frame"),
    ],
)
def test_a_guest_that_begins_wrong_is_ended(keeping: Keeping, opening: str, reason: str) -> None:
    keeping.begin(opening)
    code, last = keeping.end()
    assert code == 1
    assert last.startswith(f"keeper: the guest is gone before it was ready: {reason}")
    assert not process_lives(keeping.vmm)


def test_a_guest_that_restarted_is_ended(guest: Keeping) -> None:
    """Its commands are gone, and nobody would ever say so."""
    vmm = guest.vmm
    assert guest.run("code", "0").returncode == 0
    guest.run("raw", frames.encode(frames.hello()).hex())
    check_gone(guest, vmm, "the guest speaks of a command that does not run")


def test_a_guest_that_says_nothing_is_ended_after_the_limit(keeping: Keeping) -> None:
    keeping.begin("silence", "--ready-limit-s", "0.3")
    limit = "keeper: the guest is gone before it was ready: it did not say hello within 0.3 s"
    assert keeping.end() == (1, limit)
    assert not process_lives(keeping.vmm)


def test_a_vmm_that_is_not_there_is_named(keeping: Keeping) -> None:
    keeping.begin(vmm=["no-such-vmm"])
    _, complaint = keeping.running.communicate(timeout=LIMIT_S)
    assert complaint.decode().splitlines() == [
        "keeper: cannot execute 'no-such-vmm': No such file or directory",
        "keeper: the guest is gone before it was ready: no-such-vmm ended with exit code 127",
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_keeper_that_is_told_to_end_powers_off(guest: Keeping, number: signal.Signals) -> None:
    vmm = guest.vmm
    with guest.entered("wait") as client:
        guest.wait_for("EXECUTE")
        guest.running.send_signal(number)
        _, complaint = client.communicate(timeout=LIMIT_S)
        assert (client.returncode, complaint) == (125, b"enter: the guest was told to end\n")
    assert guest.end() == (0, "")
    assert len(guest.noted("POWER_OFF")) == 1
    assert not process_lives(vmm)
    assert not guest.socket.exists()


def test_a_guest_that_does_not_obey_is_ended_all_the_same(keeping: Keeping) -> None:
    keeping.begin(
        vmm=["sh", "-c", 'printf "$1" >&9; sleep 60 & sleep 60', "sh", printed(frames.encode(frames.hello()))]
    )
    keeping.ready()
    vmm = keeping.vmm
    keeping.running.send_signal(signal.SIGTERM)
    assert keeping.end() == (0, "")
    eventually(lambda: not group_lives(vmm), "all of its process group is gone")


def printed(content: bytes) -> str:
    """For printf(1)."""
    return "".join(f"\\{byte:03o}" for byte in content)


def group_lives(group: int) -> bool:
    stats = [
        path.read_text().rpartition(")")[2].split()
        for path in Path("/proc").glob("[0-9]*/stat")
        if path.exists()
    ]
    return any(int(fields[2]) == group and fields[0] != "Z" for fields in stats)


def test_a_killed_keeper_takes_its_guest_along(guest: Keeping) -> None:
    vmm = guest.vmm
    with guest.entered("wait") as client:
        guest.wait_for("EXECUTE")
        guest.running.kill()
        _, complaint = client.communicate(timeout=LIMIT_S)
        assert (client.returncode, complaint) == (125, b"enter: the guest's keeper ended\n")
    eventually(lambda: not process_lives(vmm), "the VMM died")


def test_a_keeper_with_few_descriptors_serves_whom_it_can(keeping: Keeping) -> None:
    """It neither ends nor spins, and goes on when there are some again."""
    keeping.begin(before=["sh", "-c", 'ulimit -n 40; exec "$@"', "sh"])
    keeping.ready()
    waiting = [keeping.ask(frames.execute_payload([b"wait"])) for _ in range(20)]
    try:
        keeping.wait_for("EXECUTE", 5)
        time.sleep(0.3)
        ticks_before, _ = effort(keeping.running.pid)
        time.sleep(0.5)
        ticks, _ = effort(keeping.running.pid)
        assert ticks - ticks_before <= 2
    finally:
        for connection in waiting:
            connection.close()
    eventually(lambda: keeping.run("code", "5").returncode == 5, "it serves again")


def test_a_socket_that_is_there_already_is_not_taken(keeping: Keeping) -> None:
    keeping.socket.write_text("somebody's")
    keeping.begin()
    assert keeping.end() == (1, f"keeper: cannot listen at '{keeping.socket}': Address already in use")
    assert keeping.socket.read_text() == "somebody's"


def test_a_socket_may_lie_deep(programs: Path, tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 100) / ("b" * 100)
    folder.mkdir(parents=True)
    keeping = Keeping(programs, folder)
    keeping.begin()
    try:
        keeping.ready()
        assert keeping.run("code", "9").returncode == 9
    finally:
        keeping.close()
    assert not keeping.socket.exists()


def test_a_guest_that_somebody_else_runs_is_connected_to(keeping: Keeping) -> None:
    """The keeper comes first and waits for it."""
    place = keeping.folder / "guest"
    keeping.start(["--socket", keeping.socket, "--connect", place])
    argv = [sys.executable, "-m", "tests.native.fake_guest", str(place), str(keeping.log), "hello"]
    with subprocess.Popen(argv) as somebody:
        keeping.ready()
        assert keeping.run("echo", stdin=b"over there").stdout == b"over there"
        assert keeping.run("die", "0").returncode == 125
        assert somebody.wait(LIMIT_S) == 0
    assert keeping.end() == (1, "keeper: the guest is gone: the channel closed")


def test_without_a_guest_to_connect_to_it_gives_up(keeping: Keeping) -> None:
    place = keeping.folder / "guest"
    keeping.start(["--socket", keeping.socket, "--connect", place, "--ready-limit-s", "0.1"])
    assert keeping.end() == (1, f"keeper: cannot connect to '{place}': No such file or directory")


def test_no_bytes_of_a_guest_crash_the_keeper(programs: Path, tmp_path: Path) -> None:
    """A few whole programs; keeper_clients_test.cpp plays a million frames within one."""
    chance = random.Random(4)  # noqa: S311 - the same faults each time
    valid = [
        encoded(kind, stream, bytes(length))
        for kind in Type
        for stream in (0, 1, 2)
        for length in (0, 4, 5, 9)
    ]
    for round_number in range(8):
        folder = tmp_path / str(round_number)
        folder.mkdir()
        content = bytearray(b"".join(chance.choices(valid, k=20)))
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        keeping = Keeping(programs, folder)
        keeping.begin()
        keeping.ready()
        vmm = keeping.vmm
        assert keeping.run("last", bytes(content).hex(), stdin=b"x").returncode == 125
        assert keeping.end()[0] == 1
        assert not process_lives(vmm)
