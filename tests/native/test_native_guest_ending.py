# SPDX-License-Identifier: Apache-2.0
"""How serving a channel ends: asked for, left alone, lied to; and what ``init`` refuses to be."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.native import frames
from tests.native.conversation import eventually, process_exists
from tests.native.frames import Frame, How, Type
from tests.native.serving import Host, serving
from tests.native.test_native_guest import check_hang_up, pids_told

TWO_SLEEPERS = "setsid sleep 300 & echo $!; echo $$; sleep 301"


@pytest.fixture
def host(programs: Path) -> Iterator[Host]:
    with serving(programs / "init") as result:
        yield result


def end_with_commands(host: Host, end: Callable[[Host], None]) -> tuple[int, str]:
    """Exit code and words of a server that ended while a command ran, which must be gone with all it started."""
    host.execute(1, "sh", "-c", TWO_SLEEPERS)
    pids = pids_told(host, 1, 2)
    end(host)
    result = host.ends()
    eventually(lambda: not any(map(process_exists, pids)), "the commands are gone")
    return result


def power_off(host: Host) -> None:
    host.send(Type.POWER_OFF)
    host.flush()


def test_power_off_ends_serving_well_and_powers_nothing_off(host: Host) -> None:
    assert end_with_commands(host, power_off) == (0, "")


def test_a_host_that_closes_the_channel_ends_it(host: Host) -> None:
    code, words = end_with_commands(host, Host.close_line)
    assert (code, words) == (1, "init: the host closed the channel\n")


def test_a_killed_server_takes_its_commands_along(host: Host) -> None:
    code, _ = end_with_commands(host, lambda entry: entry.process.kill())
    assert code == -signal.SIGKILL


def damaged() -> bytes:
    return bytes([*frames.encode(Frame(Type.HANG_UP, 1))[:-1], 0])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"not a frame at all", "what came is no frame"),
        (damaged(), "a frame was damaged on its way"),
        (b"\x5e\x7a\x03\x00\x01\x00\x00\x00\xff\xff\xff\x7f0000", "a frame is longer than any may be"),
        (frames.encode(Frame(Type.EXIT, 1)), "the host sent what only a guest sends"),
        (frames.encode(Frame(Type.EXECUTE, 2)), "a command is cut short"),
    ],
)
def test_what_is_no_honest_frame_ends_the_channel_and_the_commands(
    host: Host, content: bytes, words: str
) -> None:
    def lie(host: Host) -> None:
        host.send_raw(content)
        host.flush()

    code, complaint = end_with_commands(host, lie)
    assert (code, complaint) == (1, f"init: {words}\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve"], "serve takes --virtio NAME or --serial DEVICE, and perhaps --groups FOLDER"),
        (["serve", "--serial"], "serve takes --virtio NAME or --serial DEVICE, and perhaps --groups FOLDER"),
        (["serve", "--tcp", "1"], "there is no option '--tcp'"),
        (
            ["serve", "--serial", "/dev/null"],
            "'/dev/null' is no serial device: Inappropriate ioctl for device",
        ),
        (["guest"], "only the first process of a machine can be its guest's"),
    ],
)
def test_wrong_use_is_refused(programs: Path, arguments: list[str], words: str) -> None:
    done = subprocess.run([programs / "init", *arguments], capture_output=True, timeout=20, check=False)
    assert (done.returncode, done.stderr.decode()) == (2, f"init: {words}\n")


@pytest.mark.root
def test_a_guest_that_is_told_nothing_says_so_and_ends(programs: Path) -> None:
    """The first process of a PID namespace, where powering off ends the namespace alone (reboot(2))."""
    argv = ["unshare", "--mount", "--pid", "--fork", "--kill-child", str(programs / "init"), "guest"]
    done = subprocess.run(argv, capture_output=True, timeout=20, check=False)
    assert done.stderr.decode() == "tare: the guest ends: the initramfs lacks /boot.conf\n"
    assert done.returncode != 0


def unified_groups() -> Path | None:
    """Where this process may make groups of version 2 that can be killed; ``None``: nowhere."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        if " - cgroup2 " in line:
            root = Path(line.split()[4])
            if os.access(root, os.W_OK) and any(root.glob("*/cgroup.kill")):
                return root
    return None


def check_what_cannot_be_executed(host: Host) -> None:
    """In a group a child shares its server's memory until it has become its program: nothing of it may stay there."""
    assert host.run("no-such", variables=[b"PATH=/nowhere", b"A=left"]).exit == (
        How.FAILED,
        2,
        "cannot execute 'no-such': No such file or directory",
    )
    done = host.run("true", at="/no/such")
    assert done.exit == (How.FAILED, 0, "cannot enter the directory '/no/such': No such file or directory")
    assert host.run("env", variables=[b"PATH=/usr/bin:/bin"]).output == b"PATH=/usr/bin:/bin\n"


@pytest.mark.root
def test_control_groups_are_killed_whole_used_again_and_removed(programs: Path) -> None:
    parent = unified_groups()
    if parent is None:
        pytest.skip("no control groups of version 2 can be made here")
    with serving(programs / "init", ["--groups", str(parent)]) as host:
        check_hang_up(host)
        mine = f"tare-{host.process.pid}-*"
        check_what_cannot_be_executed(host)
        left = int(host.run("sh", "-c", "sleep 300 & echo $!").output)
        assert [host.run("true").exit for _ in range(5)] == [(How.CODE, 0, "")] * 5
        assert len(list(parent.glob(mine))) == 2
        os.kill(left, signal.SIGKILL)
        eventually(lambda: not process_exists(left), "what was left behind is gone")
        assert end_with_commands(host, power_off) == (0, "")
        assert not list(parent.glob(mine))


@pytest.mark.root
def test_a_group_that_cannot_be_made_leaves_the_command_to_its_supervisor(programs: Path) -> None:
    with serving(programs / "init", ["--groups", "/proc"]) as host:
        check_hang_up(host)
